"""The native decoder of RFB, and connections that decode on threads of their own. Built from client/native."""

from collections.abc import Sequence
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from .events import Event
from .picture import PictureSpec

LIMITS: Final[dict[str, int]]
"""The limits that it was built with, by their names in ``limits``."""

LIBRARIES: Final[str]
"""What decodes: ``libjpeg-turbo 2.1.5, zlib 1.3.1``."""

def make_picture(screen: NDArray[np.uint8], height: int, width: int, spec: PictureSpec, /) -> bytes:
    """The bytes of what ``spec`` asks of a screen, RGB of shape (height, width, 3), C-contiguous."""

@final
class NativeDecoder:
    """``decoder.Decoder`` in C; ``feed`` releases the GIL."""

    def __init__(
        self,
        width: int,
        height: int,
        *,
        regions: Sequence[tuple[int, int, int, int]] | None = None,
        spec: PictureSpec | None = None,
    ) -> None: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def framebuffer(self) -> NDArray[np.uint8]: ...
    @property
    def picture(self) -> NDArray[np.uint8]: ...
    @property
    def block(self) -> bytes | None: ...
    @property
    def updates(self) -> int: ...
    @property
    def pixels(self) -> int: ...
    @property
    def in_update(self) -> bool: ...
    @property
    def extended_buttons(self) -> bool: ...
    def feed(self, data: bytes | bytearray | memoryview, /) -> list[Event]: ...

@final
class NativeConnection:
    """A connection after its handshake, which a pool of threads reads and decodes without the GIL.

    Asks for updates itself: ``continuous`` ones where the server can. With ``regions`` only the rectangle around them
    is asked for. ``spec`` says what is made of it. A server that is silent for ``silence_s`` seconds
    although it owes something is given up, and one that takes as long over one update.
    ``leftover`` is what came with the end of the handshake.
    ``web_left``: RFB is in a WebSocket's messages, and so many bytes of one are still to come; -1: it is in none.
    ``waker`` is an eventfd that is written when there is a frame, or a failure.
    """

    def __init__(
        self,
        fd: int,
        width: int,
        height: int,
        *,
        continuous: bool = True,
        regions: Sequence[tuple[int, int, int, int]] | None = None,
        spec: PictureSpec | None = None,
        silence_s: float = 10.0,
        leftover: bytes = b"",
        waker: int = -1,
        web_left: int = -1,
    ) -> None:
        """Take over the socket ``fd``, which must be connected.

        Raises:
            OSError: threads or memory ran out. The socket is closed.
            ValueError, RfbProtocolError: an argument is out of range. The socket is still the caller's.
        """

    @property
    def width(self) -> int:
        """The desktop's, in pixels."""
    @property
    def height(self) -> int:
        """The desktop's, in pixels."""
    @property
    def extended_buttons(self) -> bool:
        """Whether the server takes pointer events with nine buttons."""
    @property
    def fresh(self) -> bool:
        """Whether ``frame`` would return a frame that it didn't before."""
    @property
    def error(self) -> Exception | None:
        """Why the connection is dead; an RfbProtocolError, a ConnectionError or a TimeoutError."""
    def frame(self) -> tuple[NDArray[np.uint8], bytes | None, int, int, float] | None:
        """The latest whole frame: array, block, updates, pixels, UNIX seconds. The same object until there is a newer.

        The array is read-only, and stays as it is for as long as it is kept.
        """
    def send(self, data: bytes, /) -> bool:
        """Send bytes, now or as soon as the server reads. False: the connection is closed or dead."""
    def close(self) -> None:
        """Send what is left, hang up, and wait until no thread knows the socket any more."""
