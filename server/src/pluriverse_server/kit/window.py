"""A window over the whole screen of a remote, and regions of it that a program draws by writing memory."""

from __future__ import annotations

from ctypes import byref
from types import TracebackType

from .region import BGRX_MASKS, DEPTH, Band, Region
from .xlib import Connection, NoDisplay, XError
from .xstructures import (
    CW_OVERRIDE_REDIRECT,
    LSB_FIRST,
    SHAPE_INPUT,
    SHAPE_SET,
    UNSORTED,
    XColor,
    XSetWindowAttributes,
)


class Window:
    """A black window that no window manager touches, with no mouse pointer painted over it.

    It owns its connection to the X server, its regions and its cursor; ``close`` frees them in that order reversed.
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
        self.performance_note = ""
        try:
            self._check_pixels()
            self._window = self._create(x, y, title)
            if click_through:
                self._take_no_input()
            self._cursor = self._hide_cursor()
            x11, display = self.connection.x11, self.connection.display
            self._gc: int = x11.XDefaultGC(display, x11.XDefaultScreen(display))
            x11.XMapRaised(display, self._window)
            self.connection.check()
            self.shared_memory = bool(self.connection.xext.XShmQueryExtension(display))
            if not self.shared_memory:
                self.performance_note = "drawn through the socket: the X server lacks MIT-SHM"
        except BaseException:
            self.connection.close()
            raise
        self._regions: list[Region] = []

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def image(self, x: int, y: int, width: int, height: int) -> Region:
        """A region at (x, y), black until it is drawn; close it, or leave that to the window.

        Raises:
            ValueError: it isn't within the window.
        """
        if not (
            x >= 0 and y >= 0 and width > 0 and height > 0 and x + width <= self.width and y + height <= self.height
        ):
            raise ValueError(f"{width}x{height} at ({x}, {y}) isn't within the window's {self.width}x{self.height}")
        try:
            region = Region(self.connection, x, y, width, height, shared=self.shared_memory)
        except XError as error:
            # The server lives in another IPC namespace, or may not read our segments: all regions go by the socket.
            self.shared_memory = False
            self.performance_note = f"drawn through the socket, which costs more time: {error}"
            region = Region(self.connection, x, y, width, height, shared=False)
        self._regions = [*(kept for kept in self._regions if not kept.closed), region]
        return region

    def put(self, *parts: Region | Band) -> None:
        """Show the regions, or bands of them, in this order, and return without waiting for the server.

        The server reads shared memory when it carries this out, a fraction of a millisecond later: what is written into
        a region meanwhile may show already.

        Raises:
            ValueError: a region was closed.
        """
        for part in parts:
            part.send(self._window, self._gc)
        self.connection.x11.XFlush(self.connection.display)

    def to_top(self) -> None:
        """Put it above every other window, with the next ``put``. Costs next to nothing where it is there already."""
        self.connection.x11.XRaiseWindow(self.connection.display, self._window)

    def clear(self) -> None:
        """Paint the whole window black."""
        self.connection.x11.XClearWindow(self.connection.display, self._window)

    def sync(self) -> None:
        """Wait until all that was put is on the screen.

        Raises:
            XError: the server refused something since the last time.
        """
        self.connection.check()

    def close(self) -> None:
        """Close the regions, the cursor, the window and the connection. May be called repeatedly."""
        if self.connection.display is None:
            return
        for region in self._regions:
            region.close()
        self.connection.x11.XFreeCursor(self.connection.display, self._cursor)
        self.connection.x11.XDestroyWindow(self.connection.display, self._window)
        self.connection.close()

    def _check_pixels(self) -> None:
        x11, display = self.connection.x11, self.connection.display
        screen = x11.XDefaultScreen(display)
        visual, depth = x11.XDefaultVisual(display, screen).contents, x11.XDefaultDepth(display, screen)
        masks = (visual.red_mask, visual.green_mask, visual.blue_mask)
        if depth != DEPTH or masks != BGRX_MASKS or x11.XImageByteOrder(display) != LSB_FIRST:
            raise NoDisplay(
                f"the X server's pixels are {depth} bits deep with masks {masks[0]:#x}, {masks[1]:#x}, {masks[2]:#x}, "
                f"needed are {DEPTH} bits in the order BGRX: Xvfb :7 -screen 0 {self.width}x{self.height}x24"
            )

    def _create(self, x: int, y: int, title: str) -> int:
        x11, display = self.connection.x11, self.connection.display
        window: int = x11.XCreateSimpleWindow(display, self.connection.root, x, y, self.width, self.height, 0, 0, 0)
        attributes = XSetWindowAttributes(override_redirect=1)
        x11.XChangeWindowAttributes(display, window, CW_OVERRIDE_REDIRECT, byref(attributes))
        x11.XStoreName(display, window, title.encode())
        return window

    def _take_no_input(self) -> None:
        # Of the window's shape for input nothing is left: a list of no rectangles.
        self.connection.xext.XShapeCombineRectangles(
            self.connection.display, self._window, SHAPE_INPUT, 0, 0, None, 0, SHAPE_SET, UNSORTED
        )

    def _hide_cursor(self) -> int:
        """An empty cursor. TigerVNC paints the pointer into the picture of a client that draws none of its own."""
        x11, display = self.connection.x11, self.connection.display
        empty: int = x11.XCreateBitmapFromData(display, self._window, b"\0", 1, 1)
        colour = XColor()
        cursor: int = x11.XCreatePixmapCursor(display, empty, empty, byref(colour), byref(colour), 0, 0)
        x11.XFreePixmap(display, empty)
        x11.XDefineCursor(display, self._window, cursor)
        return cursor
