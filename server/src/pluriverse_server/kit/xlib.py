"""The few calls of libX11, libXext and libXi that the kit makes, typed for ctypes, and the connection they share."""

from __future__ import annotations

import ctypes
import os
from collections import deque
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_long, c_uint, c_ulong, c_void_p
from typing import Any, Final

from .xstructures import (
    XColor,
    XErrorEvent,
    XEvent,
    XGenericEventCookie,
    XIEventMask,
    XImage,
    XSetWindowAttributes,
    XShmSegmentInfo,
    XVisual,
)

# Errors are told at the next check; a program that makes more than these between two checks has shown enough.
KEPT_ERRORS: Final = 16


class NoDisplay(Exception):
    """There is no X server to draw on, or it can't do what a remote's display can; the message says which."""


class XError(Exception):
    """The X server refused a request."""


_ErrorHandler = CFUNCTYPE(c_int, c_void_p, POINTER(XErrorEvent))

# name: (result, arguments); a Display* and everything that Xlib keeps to itself are void pointers.
_X11: Final[dict[str, tuple[Any, list[Any]]]] = {
    "XOpenDisplay": (c_void_p, [c_char_p]),
    "XCloseDisplay": (c_int, [c_void_p]),
    "XConnectionNumber": (c_int, [c_void_p]),
    "XDefaultRootWindow": (c_ulong, [c_void_p]),
    "XDefaultScreen": (c_int, [c_void_p]),
    "XDefaultVisual": (POINTER(XVisual), [c_void_p, c_int]),
    "XDefaultDepth": (c_int, [c_void_p, c_int]),
    "XDefaultGC": (c_void_p, [c_void_p, c_int]),
    "XImageByteOrder": (c_int, [c_void_p]),
    "XCreateSimpleWindow": (
        c_ulong,
        [c_void_p, c_ulong, c_int, c_int, c_uint, c_uint, c_uint, c_ulong, c_ulong],
    ),
    "XChangeWindowAttributes": (c_int, [c_void_p, c_ulong, c_ulong, POINTER(XSetWindowAttributes)]),
    "XStoreName": (c_int, [c_void_p, c_ulong, c_char_p]),
    "XMapRaised": (c_int, [c_void_p, c_ulong]),
    "XRaiseWindow": (c_int, [c_void_p, c_ulong]),
    "XDestroyWindow": (c_int, [c_void_p, c_ulong]),
    "XClearWindow": (c_int, [c_void_p, c_ulong]),
    "XCreateBitmapFromData": (c_ulong, [c_void_p, c_ulong, c_char_p, c_uint, c_uint]),
    "XFreePixmap": (c_int, [c_void_p, c_ulong]),
    "XCreatePixmapCursor": (
        c_ulong,
        [c_void_p, c_ulong, c_ulong, POINTER(XColor), POINTER(XColor), c_uint, c_uint],
    ),
    "XDefineCursor": (c_int, [c_void_p, c_ulong, c_ulong]),
    "XFreeCursor": (c_int, [c_void_p, c_ulong]),
    "XInitImage": (c_int, [POINTER(XImage)]),
    "XPutImage": (
        c_int,
        [c_void_p, c_ulong, c_void_p, POINTER(XImage), c_int, c_int, c_int, c_int, c_uint, c_uint],
    ),
    "XFlush": (c_int, [c_void_p]),
    "XSync": (c_int, [c_void_p, c_int]),
    "XPending": (c_int, [c_void_p]),
    "XEventsQueued": (c_int, [c_void_p, c_int]),
    "XNextEvent": (c_int, [c_void_p, POINTER(XEvent)]),
    "XGetEventData": (c_int, [c_void_p, POINTER(XGenericEventCookie)]),
    "XFreeEventData": (None, [c_void_p, POINTER(XGenericEventCookie)]),
    "XQueryExtension": (c_int, [c_void_p, c_char_p, POINTER(c_int), POINTER(c_int), POINTER(c_int)]),
    "XQueryKeymap": (c_int, [c_void_p, ctypes.c_char * 32]),
    "XkbKeycodeToKeysym": (c_ulong, [c_void_p, ctypes.c_ubyte, c_int, c_int]),
    "XRefreshKeyboardMapping": (c_int, [POINTER(XEvent)]),
    "XGrabKey": (c_int, [c_void_p, c_int, c_uint, c_ulong, c_int, c_int, c_int]),
    "XUngrabKey": (c_int, [c_void_p, c_int, c_uint, c_ulong]),
    "XUngrabKeyboard": (c_int, [c_void_p, c_ulong]),
    "XGrabButton": (
        c_int,
        [c_void_p, c_uint, c_uint, c_ulong, c_int, c_uint, c_int, c_int, c_ulong, c_ulong],
    ),
    "XAllowEvents": (c_int, [c_void_p, c_int, c_ulong]),
    "XGetInputFocus": (c_int, [c_void_p, POINTER(c_ulong), POINTER(c_int)]),
    "XSendEvent": (c_int, [c_void_p, c_ulong, c_int, c_long, POINTER(XEvent)]),
    "XGetPointerMapping": (c_int, [c_void_p, c_char_p, c_int]),
    "XSetPointerMapping": (c_int, [c_void_p, c_char_p, c_int]),
    "XSetErrorHandler": (c_void_p, [_ErrorHandler]),
}
_XEXT: Final[dict[str, tuple[Any, list[Any]]]] = {
    "XShmQueryExtension": (c_int, [c_void_p]),
    "XShmAttach": (c_int, [c_void_p, POINTER(XShmSegmentInfo)]),
    "XShmDetach": (c_int, [c_void_p, POINTER(XShmSegmentInfo)]),
    "XShmPutImage": (
        c_int,
        [c_void_p, c_ulong, c_void_p, POINTER(XImage), c_int, c_int, c_int, c_int, c_uint, c_uint, c_int],
    ),
    "XShapeCombineRectangles": (
        None,
        [c_void_p, c_ulong, c_int, c_int, c_int, c_void_p, c_int, c_int, c_int],
    ),
}
_XI: Final[dict[str, tuple[Any, list[Any]]]] = {
    "XIQueryVersion": (c_int, [c_void_p, POINTER(c_int), POINTER(c_int)]),
    "XISelectEvents": (c_int, [c_void_p, c_ulong, POINTER(XIEventMask), c_int]),
}


def _load(soname: str, package: str, calls: dict[str, tuple[Any, list[Any]]]) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(soname)
    except OSError as error:
        raise NoDisplay(
            f"{soname} could not be loaded ({error}); install it with: apt-get install {package}"
        ) from error
    for name, (result, arguments) in calls.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


# The server's refusals, by Display*. Xlib has one error handler a process, and without one it ends the process at the
# first error, a refused shared segment included.
_errors: Final[dict[int, deque[str]]] = {}


class Connection:
    """A connection to the X server; owns the ``Display*``. Not for use by several threads."""

    def __init__(self) -> None:
        """Connect to the server that ``DISPLAY`` names.

        Raises:
            NoDisplay: a library is missing, or no server answers.
        """
        self.x11 = _load("libX11.so.6", "libx11-6", _X11)
        self.xext = _load("libXext.so.6", "libxext6", _XEXT)
        self.xi = _load("libXi.so.6", "libxi6", _XI)
        self.display: int | None = self.x11.XOpenDisplay(None)
        if self.display is None:
            name = os.environ.get("DISPLAY", "")
            raise NoDisplay(
                f"no X server answers at DISPLAY={name!r}; start one (Xvfb :7 -screen 0 1024x768x24 &), set DISPLAY=:7 "
                f"and, where it asks for a cookie, XAUTHORITY"
            )
        self.root: int = self.x11.XDefaultRootWindow(self.display)
        self._errors = _errors[self.display] = deque[str](maxlen=KEPT_ERRORS)
        self.x11.XSetErrorHandler(_error_handler)

    def fileno(self) -> int:
        """The connection's file descriptor."""
        return self.x11.XConnectionNumber(self.display)

    def check(self) -> None:
        """Wait until the server has carried out every request.

        Raises:
            XError: it refused one since the last check.
        """
        self.x11.XSync(self.display, 0)
        if self._errors:
            message = "; ".join(self._errors)
            self._errors.clear()
            raise XError(message)

    def close(self) -> None:
        """Close the connection; the server frees what was made on it. May be called repeatedly."""
        if self.display is not None:
            self.x11.XCloseDisplay(self.display)
            del _errors[self.display]
            self.display = None


def _note_error(display: int, event: Any) -> int:
    error = event.contents
    if display in _errors:
        _errors[display].append(f"X error {error.error_code} at request {error.request_code}.{error.minor_code}")
    return 0


_error_handler: Final = _ErrorHandler(_note_error)
