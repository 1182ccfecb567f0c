"""Pixels that are drawn to or read from an X server, in shared memory (MIT-SHM) where both can see it.

python-xlib lacks this extension, and its own requests for images take milliseconds of CPU a frame: what moves pixels
is packed here. Requests: https://www.x.org/releases/current/doc/xextproto/shm.html
"""

from __future__ import annotations

import ctypes
import os
import weakref
from ctypes import c_int, c_size_t, c_void_p
from struct import Struct
from typing import Final

from Xlib import X
from Xlib.display import Display
from Xlib.error import CatchError
from Xlib.protocol import rq

from .connection import DisplayLost, send

# Blue in the lowest byte, then green, red and an unused one: what Xvfb, Xtigervnc and Xephyr have.
BGRX_MASKS: Final = (0xFF0000, 0x00FF00, 0x0000FF)
DEPTH: Final = 24
PIXEL_BYTES: Final = 4

ALL_PLANES: Final = 0xFFFFFFFF

_ATTACH: Final = Struct("=BBHIIB3x")
_DETACH: Final = Struct("=BBHI")
_PUT: Final = Struct("=BBHIIHHHHHHhhBBBxII")
_GET: Final = Struct("=BBHIhhHHIB3xII")
_PUT_THROUGH_SOCKET: Final = Struct("=BBHIIHHhhBB2x")
_PUT_IMAGE: Final = 72

_IPC_PRIVATE: Final = 0
_IPC_CREAT: Final = 0o1000
_IPC_RMID: Final = 0
_OWNER_ONLY: Final = 0o600
_SHMAT_FAILED: Final = c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.shmget.argtypes, _libc.shmget.restype = [c_int, c_size_t, c_int], c_int
_libc.shmat.argtypes, _libc.shmat.restype = [c_int, c_void_p, c_int], c_void_p
_libc.shmdt.argtypes, _libc.shmdt.restype = [c_void_p], c_int
_libc.shmctl.argtypes, _libc.shmctl.restype = [c_int, c_int, c_void_p], c_int


class NotShared(Exception):
    """The server and this process can't share memory; the message gives the reason."""


def require_bgrx(connection: Display) -> None:
    """Make sure that the screen has pixels as this module reads and writes them."""
    screen = connection.screen()
    visuals = (visual for depth in screen.allowed_depths for visual in depth.visuals)
    visual = next(visual for visual in visuals if visual.visual_id == screen.root_visual)
    masks = (visual.red_mask, visual.green_mask, visual.blue_mask)
    if screen.root_depth != DEPTH or masks != BGRX_MASKS or connection.display.info.image_byte_order != X.LSBFirst:
        raise DisplayLost(
            f"the X server's pixels are {screen.root_depth} bits deep with masks {masks[0]:#x}, {masks[1]:#x}, "
            f"{masks[2]:#x}, needed are {DEPTH} bits in the order BGRX: Xvfb :7 -screen 0 1024x768x24"
        )


class Pixels:
    """Memory for ``size`` pixels, each blue, green, red and an unused byte. ``close`` gives it back."""

    def __init__(self, connection: Display, size: int, *, shared: bool = True) -> None:
        self._connection = connection
        self._segment = 0
        array = ctypes.c_ubyte * (size * PIXEL_BYTES)
        if shared:
            address = self._attach(ctypes.sizeof(array))
            pixels = array.from_address(address)
            # The pages leave this process with the last array that wraps them, or with the process itself.
            weakref.finalize(pixels, _libc.shmdt, address).atexit = False
        else:
            pixels = array()
        self.memory = memoryview(pixels).cast("B")

    @property
    def shared(self) -> bool:
        return self._segment != 0

    def close(self) -> None:
        self.memory = memoryview(b"")
        if self._segment:
            # The server keeps its own mapping until it gets to this, so what was put before is still drawn.
            self._send(_DETACH.pack(self._opcode, 2, 2, self._segment))
            self._connection.display.free_resource_id(self._segment)
            self._segment = 0

    def put(self, drawable: int, gc: int, x: int, y: int, width: int, top: int, bottom: int) -> list[bytes]:
        """Return requests for ``send`` that draw rows ``top`` to ``bottom``, excluded, of an image.

        As a whole that is at (x, y) and ``width`` wide. The server reads shared memory when it carries them out.
        """
        y += top
        height = bottom - top
        if self._segment:
            source = (width, bottom, 0, top, width, height)
            image = (DEPTH, X.ZPixmap, False, self._segment, 0)
            return [_PUT.pack(self._opcode, 3, 10, drawable, gc, *source, x, y, *image)]
        stride = width * PIXEL_BYTES
        most_rows = (self._connection.display.info.max_request_length * 4 - _PUT_THROUGH_SOCKET.size) // stride
        requests: list[bytes] = []
        for first in range(top, bottom, most_rows):
            data = self.memory[first * stride : min(first + most_rows, bottom) * stride]
            rows = len(data) // stride
            head = (_PUT_IMAGE, X.ZPixmap, (_PUT_THROUGH_SOCKET.size + len(data)) // 4)
            place = (width, rows, x, y + first - top, 0, DEPTH)
            requests.append(_PUT_THROUGH_SOCKET.pack(*head, drawable, gc, *place) + data)
        return requests

    def get(self, drawable: int, x: int, y: int, width: int, height: int) -> memoryview:
        """Return the pixels of a rectangle as they are now; valid until the next call."""
        rectangle = (x, y, width, height, ALL_PLANES)
        if self._segment:
            packed = _GET.pack(self._opcode, 4, 8, drawable, *rectangle, X.ZPixmap, self._segment, 0)
            request = _Get(self._connection.display, True, packed)
            send(self._connection)
            request.reply()
            return self.memory[: width * height * PIXEL_BYTES]
        window = self._connection.create_resource_object("window", drawable)
        return memoryview(window.get_image(x, y, width, height, X.ZPixmap, ALL_PLANES).data)

    def _send(self, request: bytes, on_error: CatchError | None = None) -> None:
        _Request(self._connection.display, on_error, request)

    def _attach(self, size: int) -> int:
        """Return the address of a new segment that the server has as well."""
        extension = self._connection.query_extension("MIT-SHM")
        if extension is None:
            raise NotShared("the X server lacks MIT-SHM")
        self._opcode: int = extension.major_opcode
        identifier: int = _libc.shmget(_IPC_PRIVATE, size, _IPC_CREAT | _OWNER_ONLY)
        if identifier < 0:
            raise NotShared(f"no shared memory: {os.strerror(ctypes.get_errno())}")
        try:
            address: int | None = _libc.shmat(identifier, None, 0)
            if address is None or address == _SHMAT_FAILED:
                raise NotShared(f"no shared memory: {os.strerror(ctypes.get_errno())}")
            segment: int = self._connection.display.allocate_resource_id()
            refused = CatchError()
            self._send(_ATTACH.pack(self._opcode, 1, 4, segment, identifier, False), refused)
            self._connection.sync()
            if refused.get_error():
                # It lives in another IPC namespace, or may not read our segments.
                _libc.shmdt(address)
                raise NotShared(f"the X server refuses our shared memory: {refused.get_error()}")
        finally:
            # Marked for removal now, the segment goes with the last process that has it, however that one ends.
            _libc.shmctl(identifier, _IPC_RMID, None)
        self._segment = segment
        return address


class _Packed:
    """Stands where python-xlib has the description of a request's fields, for one that is packed already."""

    def to_binary(self, binary: bytes) -> bytes:
        return binary


class _Request(rq.Request):
    _request = _Packed()


class _Get(rq.ReplyRequest):
    """Made once the server has written the image."""

    _request = _Packed()
    _reply = rq.Struct(
        rq.ReplyCode(),
        rq.Card8("depth"),
        rq.Card16("sequence_number"),
        rq.ReplyLength(),
        rq.Card32("visual"),
        rq.Card32("size"),
        rq.Pad(16),
    )
