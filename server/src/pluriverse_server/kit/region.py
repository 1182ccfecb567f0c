"""A rectangle of a window, backed by memory that a program writes and the X server reads."""

from __future__ import annotations

import ctypes
import os
import weakref
from ctypes import byref, c_int, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Final

from .xlib import Connection, XError
from .xstructures import LSB_FIRST, Z_PIXMAP, XImage, XShmSegmentInfo

# Blue in the lowest byte, then green, red and an unused one: what regions hold, and what Xvfb and Xtigervnc have.
BGRX_MASKS: Final = (0xFF0000, 0x00FF00, 0x0000FF)
DEPTH: Final = 24
PIXEL_BYTES: Final = 4

IPC_PRIVATE: Final = 0
IPC_CREAT: Final = 0o1000
IPC_RMID: Final = 0
OWNER_ONLY: Final = 0o600

_libc = ctypes.CDLL(None, use_errno=True)
_libc.shmget.argtypes, _libc.shmget.restype = [c_int, c_size_t, c_int], c_int
_libc.shmat.argtypes, _libc.shmat.restype = [c_int, c_void_p, c_int], c_void_p
_libc.shmdt.argtypes, _libc.shmdt.restype = [c_void_p], c_int
_libc.shmctl.argtypes, _libc.shmctl.restype = [c_int, c_int, c_void_p], c_int

_SHMAT_FAILED: Final = c_void_p(-1).value


class Region:
    """A rectangle of a window, backed by memory that the program writes. Made by ``Window.image``.

    ``memory`` is ``height * width * 4`` bytes, rows from the top, each pixel blue, green, red and an unused byte; numpy
    wraps it with ``np.frombuffer(region.memory, np.uint8).reshape(region.height, region.width, 4)``. An
    array keeps the memory it wraps, even past ``close``; it's just no longer shown.
    """

    def __init__(self, connection: Connection, x: int, y: int, width: int, height: int, *, shared: bool) -> None:
        """``shared``: whether to share the memory with the X server.

        Raises:
            XError: the system or the server wouldn't share it.
        """
        self.x, self.y, self.width, self.height = x, y, width, height
        self._connection = connection
        self._closed = False
        self._size = width * height * PIXEL_BYTES
        array = ctypes.c_ubyte * self._size
        self._segment = self._attach() if shared else None
        if self._segment is None:
            pixels = array()
        else:
            address: int = self._segment.shmaddr
            pixels = array.from_address(address)
            # The pages leave this process with the last array that wraps them, or with the process itself.
            weakref.finalize(pixels, _libc.shmdt, address).atexit = False
        self.memory = memoryview(pixels).cast("B")
        # Points to the pixels and to the segment, owns neither.
        self._image = self._make_image(ctypes.addressof(pixels))

    @property
    def shared(self) -> bool:
        """Whether the X server reads this memory itself."""
        return self._segment is not None

    @property
    def closed(self) -> bool:
        """Whether its memory was given back."""
        return self._closed

    def close(self) -> None:
        """Give the memory back; the region can't be put any more. May be called repeatedly."""
        if self._closed:
            return
        self._closed = True
        self.memory = memoryview(b"")
        if self._segment is not None:
            # The server keeps its own mapping until it gets to this, so what was put before is still drawn.
            self._connection.xext.XShmDetach(self._connection.display, byref(self._segment))

    def band(self, top: int, bottom: int) -> Band:
        """Its rows from ``top`` to ``bottom``, which is excluded, for ``Window.put`` to show them alone.

        Raises:
            ValueError: the region hasn't these rows, or they are none.
        """
        if not 0 <= top < bottom <= self.height:
            raise ValueError(f"rows {top} to {bottom} are no band of a region of {self.height} rows")
        return Band(self, top, bottom)

    def send(self, drawable: int, gc: int) -> None:
        """Ask the server to draw the region as it is when it gets round to it; ``Window.put`` calls this.

        Raises:
            ValueError: the region was closed.
        """
        self.send_rows(drawable, gc, 0, self.height)

    def send_rows(self, drawable: int, gc: int, top: int, bottom: int) -> None:
        """The same for some of its rows, which it must have.

        Raises:
            ValueError: the region was closed.
        """
        if self._closed:
            raise ValueError("this region was closed: make a new one with Window.image")
        connection, image = self._connection, byref(self._image)
        place = (0, top, self.x, self.y + top, self.width, bottom - top)
        if self._segment is not None:
            connection.xext.XShmPutImage(connection.display, drawable, gc, image, *place, 0)
        else:
            connection.x11.XPutImage(connection.display, drawable, gc, image, *place)

    def _attach(self) -> XShmSegmentInfo:
        """A shared segment known to the server.

        Raises:
            XError: the system or the server wouldn't share memory.
        """
        identifier: int = _libc.shmget(IPC_PRIVATE, self._size, IPC_CREAT | OWNER_ONLY)
        if identifier < 0:
            raise XError(f"no shared memory: {_system_error()}")
        address: int | None = _libc.shmat(identifier, None, 0)
        if address in (None, _SHMAT_FAILED):
            reason = _system_error()
            _libc.shmctl(identifier, IPC_RMID, None)
            raise XError(f"no shared memory: {reason}")
        segment = XShmSegmentInfo(shmid=identifier, shmaddr=address, read_only=1)
        try:
            self._connection.xext.XShmAttach(self._connection.display, byref(segment))
            self._connection.check()
        except XError:
            _libc.shmdt(address)
            raise
        finally:
            # Marked for removal now, the segment goes with the last process that has it, however that one ends.
            _libc.shmctl(identifier, IPC_RMID, None)
        return segment

    def _make_image(self, address: int) -> XImage:
        red, green, blue = BGRX_MASKS
        image = XImage(
            width=self.width,
            height=self.height,
            format=Z_PIXMAP,
            data=address,
            byte_order=LSB_FIRST,
            bitmap_unit=32,
            bitmap_bit_order=LSB_FIRST,
            bitmap_pad=32,
            depth=DEPTH,
            bytes_per_line=self.width * PIXEL_BYTES,
            bits_per_pixel=PIXEL_BYTES * 8,
            red_mask=red,
            green_mask=green,
            blue_mask=blue,
            obdata=None if self._segment is None else ctypes.addressof(self._segment),
        )
        if not self._connection.x11.XInitImage(byref(image)):
            raise XError(f"Xlib takes no image of {self.width}x{self.height} pixels")
        return image


@dataclass(frozen=True, slots=True)
class Band:
    """Some rows of a region, over its whole width. Made by ``Region.band``."""

    region: Region
    top: int
    bottom: int

    def send(self, drawable: int, gc: int) -> None:
        """As ``Region.send``, for these rows.

        Raises:
            ValueError: the region was closed.
        """
        self.region.send_rows(drawable, gc, self.top, self.bottom)


def _system_error() -> str:
    return os.strerror(ctypes.get_errno())
