"""A window over the whole screen of a remote, and regions of it that a program draws by writing memory."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from Xlib import X
from Xlib.ext import shape

from pluriverse_server.x11.connection import send
from pluriverse_server.x11.pixels import NotShared, Pixels, require_bgrx

from .connection import Connection, NoDisplay


class Region:
    """A rectangle of a window, backed by memory that the program writes. Made by ``Window.image``.

    ``memory`` is ``height * width * 4`` bytes, rows from the top, each pixel blue, green, red and an unused byte; numpy
    wraps it with ``np.frombuffer(region.memory, np.uint8).reshape(region.height, region.width, 4)``. An
    array keeps the memory it wraps, even past ``close``; it's just no longer shown.
    """

    def __init__(self, pixels: Pixels, x: int, y: int, width: int, height: int) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        self.shared = pixels.shared  # whether the X server reads this memory itself
        self.closed = False
        self._pixels = pixels

    @property
    def memory(self) -> memoryview:
        """The pixels; empty once the region was closed."""
        return self._pixels.memory

    def close(self) -> None:
        """Give the memory back; the region can't be put any more. May be called repeatedly."""
        self.closed = True
        self._pixels.close()

    def band(self, top: int, bottom: int) -> Band:
        """Return its rows from ``top`` to ``bottom``, which is excluded, for ``Window.put`` to show them alone.

        Raises:
            ValueError: the region hasn't these rows, or they are none.
        """
        if not 0 <= top < bottom <= self.height:
            raise ValueError(f"rows {top} to {bottom} are no band of a region of {self.height} rows")
        return Band(self, (top, bottom))

    def requests(self, window: int, gc: int, top: int, bottom: int) -> list[bytes]:
        """Return requests that draw some rows as they are when the server gets round to it; for ``Window.put``.

        Raises:
            ValueError: the region was closed.
        """
        if self.closed:
            raise ValueError("this region was closed: make a new one with Window.image")
        return self._pixels.put(window, gc, self.x, self.y, self.width, top, bottom)


@dataclass(frozen=True, slots=True)
class Band:
    """Some rows of a region, over its whole width. Made by ``Region.band``."""

    region: Region
    rows: tuple[int, int]  # the first, and the one after the last


class Window:
    """A black window that no window manager touches, with no mouse pointer painted over it.

    It owns its connection to the X server, with all that was made on it.
    """

    def __init__(
        self,
        width: int,
        height: int,
        x: int = 0,
        y: int = 0,
        title: str = "pluriverse",
        *,
        click_through: bool = False,
    ) -> None:
        """Open and map the window on the server that ``DISPLAY`` names.

        ``click_through``: whether the pointer passes it by, as if only what lies beneath were there.

        Raises:
            NoDisplay: there is no server, or it isn't 24 bits deep with pixels in the order BGRX.
        """
        self.width, self.height = width, height
        self.connection = Connection()
        self.shared_memory = True
        self.performance_note = ""
        self._regions: list[Region] = []
        try:
            with self.connection.used:
                require_bgrx(self.connection.display)
                self._window = self._create(x, y, title, click_through=click_through)
                self._gc = self._window.create_gc()
                self.connection.check()
                self._pixels(1).close()  # to know whether memory can be shared
        except BaseException:
            self.connection.close()
            raise

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def image(self, x: int, y: int, width: int, height: int) -> Region:
        """Return a region at (x, y), black until it is drawn; close it, or leave that to the window.

        Raises:
            NoDisplay: the X server is gone.
            ValueError: it isn't within the window.
        """
        if not (
            x >= 0 and y >= 0 and width > 0 and height > 0 and x + width <= self.width and y + height <= self.height
        ):
            raise ValueError(f"{width}x{height} at ({x}, {y}) isn't within the window's {self.width}x{self.height}")
        with self.connection.used:
            region = Region(self._pixels(width * height), x, y, width, height)
        self._regions = [*(kept for kept in self._regions if not kept.closed), region]
        return region

    def put(self, *parts: Region | Band) -> None:
        """Show the regions, or bands of them, in this order, and return without waiting for the server.

        The server reads shared memory when it carries this out, a fraction of a millisecond later: what is written into
        a region meanwhile may show already.

        Raises:
            NoDisplay: the X server is gone.
            ValueError: a region was closed.
        """
        with self.connection.used:
            requests: list[bytes] = []
            for part in parts:
                region, rows = (part.region, part.rows) if isinstance(part, Band) else (part, (0, part.height))
                requests += region.requests(self._window.id, self._gc.id, *rows)
            send(self.connection.display, *requests)

    def to_top(self) -> None:
        """Put it above every other window, with the next ``put``. Costs next to nothing where it is there already."""
        self._window.raise_window()

    def to_bottom(self) -> None:
        """Put it below every other window, at once.

        Raises:
            NoDisplay: the X server is gone.
        """
        with self.connection.used:
            self._window.configure(stack_mode=X.Below)
            send(self.connection.display)

    def hide_pointer(self) -> None:
        """Hide the pointer above windows that have none of their own, too.

        Raises:
            NoDisplay: the X server is gone.
        """
        with self.connection.used:
            self.connection.root.change_attributes(cursor=self._empty_cursor)
            send(self.connection.display)

    def clear(self) -> None:
        """Paint the whole window black."""
        self._window.clear_area()

    def sync(self) -> None:
        """Wait until all that was put is on the screen.

        Raises:
            NoDisplay: the X server is gone.
            XError: the server refused something since the last time.
        """
        with self.connection.used:
            self.connection.check()

    def close(self) -> None:
        """Close the regions, the window and the connection. May be called repeatedly."""
        if self.connection.closed:
            return
        with contextlib.suppress(NoDisplay), self.connection.used:
            for region in self._regions:
                region.close()
            self._window.destroy()
            # A server that finds the connection closed throws away what it hasn't read of it.
            self.connection.display.sync()
        self.connection.close()

    def _pixels(self, size: int) -> Pixels:
        if self.shared_memory:
            try:
                return Pixels(self.connection.display, size)
            except NotShared as error:
                # The server lives in another IPC namespace, say: all regions go through the socket.
                self.shared_memory = False
                self.performance_note = f"drawn through the socket, which costs more time: {error}"
        return Pixels(self.connection.display, size, shared=False)

    def _create(self, x: int, y: int, title: str, *, click_through: bool) -> Any:
        root: Any = self.connection.root
        window = root.create_window(
            x, y, self.width, self.height, 0, X.CopyFromParent, background_pixel=0, override_redirect=True
        )
        window.set_wm_name(title)
        if click_through:
            # Of the window's shape for input nothing is left: a list of no rectangles.
            window.shape_rectangles(shape.SO.Set, shape.SK.Input, X.Unsorted, 0, 0, [])
        # TigerVNC paints the pointer into the picture of a client that draws none of its own.
        empty = window.create_pixmap(1, 1, 1)
        gc = empty.create_gc(foreground=0)
        empty.fill_rectangle(gc, 0, 0, 1, 1)
        self._empty_cursor = empty.create_cursor(empty, (0, 0, 0), (0, 0, 0), 0, 0)
        window.change_attributes(cursor=self._empty_cursor)
        window.map()
        window.raise_window()
        return window
