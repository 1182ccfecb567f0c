"""Grabs regions of an X screen: through shared memory by mss, or through the socket where mss can't."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np
from mss import MSS
from mss.exception import ScreenShotError
from Xlib import X
from Xlib.error import ConnectionClosedError, DisplayError, XError
from Xlib.protocol import request
from Xlib.protocol.display import Display

from pluriverse_server.sources.reading import Pixels, SourceError

PIXEL_BYTES: Final = 4
ALL_PLANES: Final = 0xFFFFFFFF

# Both have pixels of 32 bits: blue, green, red, and nothing or a transparency.
DEPTHS: Final = (24, 32)

# What one more request costs, in pixels of a larger one: 0.02 to 0.05 ms. Up to so many pixels a region that belong to
# no source are grabbed along, and then all regions are of one moment.
PIXELS_A_REQUEST: Final = 65_536

# mss asserts that the server replied; python-xlib leaves some errors of the socket as they are.
_LOST: Final = (ScreenShotError, AssertionError, ConnectionClosedError, DisplayError, XError, OSError)


class ScreenLost(Exception):
    """The X server is gone, or there never was one; the message says which display."""


class _Screen(Protocol):
    """A connection to an X server that gives rectangles of its screen."""

    width: int
    height: int

    def get(self, x: int, y: int, width: int, height: int) -> Pixels: ...

    def close(self) -> None: ...


def require_on_screen(name: str, region: Sequence[int], width: int, height: int) -> None:
    """Make sure that a region is on a screen of that many pixels.

    Raises:
        SourceError: it isn't, or is empty.
    """
    x, y, wide, high = region
    if min(region) < 0 or not (wide and high) or x + wide > width or y + high > height:
        raise SourceError(
            f"{name}: region {list(region)} isn't on the screen of {width}x{height} pixels; "
            "expected [x, y, width, height] within it"
        )


class Grabber:
    """Grabs the same regions again and again, over a connection of its own; its cookie is that of ``XAUTHORITY``.

    Regions that lie close together are of one moment; those that are far apart, a fraction of a millisecond. Not for
    use by several threads.
    """

    def __init__(self, display: str, regions: Sequence[Sequence[int]], names: Sequence[str] = ()) -> None:
        """``regions`` are x, y, width and height; ``names`` of their sources, for errors.

        Raises:
            ScreenLost: no server answers at ``display``.
            SourceError: a region isn't on its screen.
        """
        self._name = display
        self._regions = [(x, y, width, height) for x, y, width, height in regions]
        self._closed = False
        self._screen = _connect(display)
        try:
            for index, region in enumerate(self._regions):
                require_on_screen(names[index] if names else f"region {index + 1}", region, *self.size)
        except SourceError:
            self.close()
            raise
        self._box = _box_of(self._regions)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the screen, in pixels."""
        return self._screen.width, self._screen.height

    @property
    def at_once(self) -> bool:
        """Whether all regions are grabbed with one request, and so are of one moment."""
        return self._box is not None

    def grab(self) -> list[Pixels]:
        """What is in the regions now, in their order; the arrays are the caller's to keep, and may be read-only.

        Raises:
            ScreenLost: the server is gone.
        """
        try:
            if self._box is None:
                return [self._screen.get(*region) for region in self._regions]
            box = self._screen.get(*self._box)
        except _LOST as error:
            raise ScreenLost(f"the X server at {self._name} is gone: {_first_line(error)}") from error
        left, top = self._box[:2]
        return [box[y - top : y - top + height, x - left : x - left + width] for x, y, width, height in self._regions]

    def close(self) -> None:
        """Close the connection. May be called repeatedly."""
        if not self._closed:
            self._closed = True
            self._screen.close()


class _Shared:
    """By mss, in shared memory where server and client have one machine in common: Xvfb and Xephyr."""

    def __init__(self, display: str) -> None:
        self._mss = MSS(backend="xshmgetimage", display=display)
        whole = self._mss.monitors[0]
        self.width, self.height = whole["width"], whole["height"]

    def get(self, x: int, y: int, width: int, height: int) -> Pixels:
        shot = self._mss.grab({"left": x, "top": y, "width": width, "height": height})
        return np.frombuffer(shot.raw, np.uint8).reshape(height, width, PIXEL_BYTES)

    def close(self) -> None:
        # It disconnects from a lost server, and then complains of it.
        with contextlib.suppress(ScreenShotError):
            self._mss.close()


class _Bare(Display):
    """A connection without extensions: what python-xlib learns of those, it keeps for all servers together."""

    def get_resource_class(self, class_name: str, default: Any = None) -> Any:
        """None: windows are their numbers."""
        return default


class _Socket:
    """By python-xlib. mss takes a screen that lists its depth twice, as Xtigervnc's does, for one without a visual."""

    def __init__(self, display: str) -> None:
        self._display = _Bare(display)
        screen = self._display.info.roots[self._display.get_default_screen()]
        self.width, self.height = screen.width_in_pixels, screen.height_in_pixels
        self._root = screen.root
        if screen.root_depth not in DEPTHS:
            self.close()
            raise OSError(f"its depth is {screen.root_depth} bits")

    def get(self, x: int, y: int, width: int, height: int) -> Pixels:
        reply = request.GetImage(
            display=self._display,
            format=X.ZPixmap,
            drawable=self._root,
            x=x,
            y=y,
            width=width,
            height=height,
            plane_mask=ALL_PLANES,
        )
        return np.frombuffer(reply.data, np.uint8).reshape(height, width, PIXEL_BYTES)

    def close(self) -> None:
        # Its own close() tells the server first, which may be gone.
        self._display.socket.close()


def _connect(display: str) -> _Screen:
    ways: tuple[Callable[[str], _Screen], ...] = (_Shared, _Socket)
    reasons: list[str] = []
    for way in ways:
        try:
            return way(display)
        except _LOST as error:
            reasons.append(_first_line(error))
    raise ScreenLost(
        f"no X server can be grabbed from at {display!r} ({'; '.join(reasons)}); it needs a depth of 24 bits, and "
        "XAUTHORITY where it asks for a cookie"
    )


def _box_of(regions: Sequence[tuple[int, int, int, int]]) -> tuple[int, int, int, int] | None:
    """The rectangle around all regions, if one request for it is cheaper than one for each."""
    if not regions:
        return None
    left, top = min(x for x, _, _, _ in regions), min(y for _, y, _, _ in regions)
    width = max(x + width for x, _, width, _ in regions) - left
    height = max(y + height for _, y, _, height in regions) - top
    area = sum(width * height for _, _, width, height in regions)
    return (left, top, width, height) if width * height <= area + PIXELS_A_REQUEST * (len(regions) - 1) else None


def _first_line(error: BaseException) -> str:
    return (str(error) or "it doesn't answer").splitlines()[0]
