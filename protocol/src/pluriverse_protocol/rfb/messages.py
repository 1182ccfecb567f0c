"""A client's messages after ServerInit: a builder of each that is sent here, and a parser of all."""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Sequence
from typing import Final

from pluriverse_protocol.events import MAX_BUTTONMASK

from .errors import LimitExceeded, UnknownMessage
from .limits import MAX_ENCODINGS, MAX_FENCE_BYTES
from .numbers import ClientMessage
from .pixel_format import BGRX, PIXEL_FORMAT_BYTES
from .steps import Steps, skip

# The head of each message, which has a fixed length.
_SET_PIXEL_FORMAT: Final = struct.Struct(f">Bxxx{PIXEL_FORMAT_BYTES}s")
_SET_ENCODINGS: Final = struct.Struct(">BxH")
_UPDATES_OF_REGION: Final = struct.Struct(">BBHHHH")
_KEY_EVENT: Final = struct.Struct(">BBxxI")
_POINTER_EVENT: Final = struct.Struct(">BBHH")
_LONG_POINTER_EVENT: Final = struct.Struct(">BBHHB")
_CUT_TEXT: Final = struct.Struct(">Bxxxi")
_FENCE: Final = struct.Struct(">BxxxIB")
_XVP: Final = struct.Struct(">BxBB")
_SET_DESKTOP_SIZE: Final = struct.Struct(">BxHHBx")
_QEMU: Final = struct.Struct(">BB")

_SCREEN: Final = struct.Struct(">IHHHHI")  # its number, place, size and flags
_QEMU_KEY_BYTES: Final = 10

# Of ExtendedMouseButtons: a mask with this bit is followed by the buttons from the eighth on.
_LONG: Final = 0x80
_SHORT_BUTTONS: Final = 7


def set_pixel_format() -> bytes:
    """Ask for pixels in ``BGRX``, the one format that is used here. Must be the first message after ServerInit."""
    return _SET_PIXEL_FORMAT.pack(ClientMessage.SET_PIXEL_FORMAT, BGRX.to_bytes())


def set_encodings(encodings: Sequence[int]) -> bytes:
    """Name the encodings that may be used, the best first; ``preferences.preferred_encodings`` makes the list."""
    head = _SET_ENCODINGS.pack(ClientMessage.SET_ENCODINGS, len(encodings))
    return head + struct.pack(f">{len(encodings)}i", *encodings)


def framebuffer_update_request(x: int, y: int, width: int, height: int, *, incremental: bool) -> bytes:
    """Ask for a part of the screen, in pixels: all of it now, or ``incremental`` what changes, once it does."""
    return _UPDATES_OF_REGION.pack(ClientMessage.FRAMEBUFFER_UPDATE_REQUEST, incremental, x, y, width, height)


def key_event(keysym: int, down: bool) -> bytes:
    return _KEY_EVENT.pack(ClientMessage.KEY_EVENT, down, keysym)


def pointer_event(x: int, y: int, mask: int, *, extended: bool = False) -> bytes:
    """Move the pointer to (x, y), in pixels; bit n of ``mask`` is set if button n+1 is down.

    There are eight buttons, or nine where the server has said ``Encoding.EXTENDED_MOUSE_BUTTONS``.
    """
    if extended and mask >= _LONG:
        short = mask & ~(-1 << _SHORT_BUTTONS) | _LONG
        return _LONG_POINTER_EVENT.pack(ClientMessage.POINTER_EVENT, short, x, y, mask >> _SHORT_BUTTONS)
    return _POINTER_EVENT.pack(ClientMessage.POINTER_EVENT, mask, x, y)


def fence(flags: int, payload: bytes) -> bytes:
    """Set a fence (``FenceFlag.REQUEST`` among ``flags``), or answer one: its flags without REQUEST, its payload."""
    if len(payload) > MAX_FENCE_BYTES:
        raise ValueError(f"a fence of {len(payload)} bytes, over {MAX_FENCE_BYTES}")
    return _FENCE.pack(ClientMessage.FENCE, flags, len(payload)) + payload


def enable_continuous_updates(enable: bool, x: int, y: int, width: int, height: int) -> bytes:
    """Ask for updates of a part of the screen as they come, without requests; or for no more of that.

    Only for a server that has said by an ``EndOfContinuousUpdates`` that it knows them.
    """
    return _UPDATES_OF_REGION.pack(ClientMessage.ENABLE_CONTINUOUS_UPDATES, enable, x, y, width, height)


def set_desktop_size(width: int, height: int) -> bytes:
    screen = _SCREEN.pack(0, 0, 0, width, height, 0)
    return _SET_DESKTOP_SIZE.pack(ClientMessage.SET_DESKTOP_SIZE, width, height, 1) + screen


def read_message(wanted: Container[int], *, extended: bool = False) -> Steps[tuple[int, bytes]]:
    """Read one message of a client; return its type, and all of it if the type is ``wanted``, else nothing.

    ``extended``: the client got ``Encoding.EXTENDED_MOUSE_BUTTONS``.
    """
    first = yield 1
    kind = first[0]
    if kind not in _MESSAGES:
        raise UnknownMessage(f"the message type {kind}, which is unknown")
    layout, body_bytes = _MESSAGES[kind]
    head = first + (yield layout.size - 1)
    if extended and kind == ClientMessage.POINTER_EVENT and head[1] & _LONG:
        head += yield 1
    if kind not in wanted:
        yield from skip(body_bytes(head))
        return kind, b""
    return kind, head + (yield body_bytes(head))


def encodings_of(message: bytes) -> list[int]:
    return [number for (number,) in struct.iter_unpack(">i", message[_SET_ENCODINGS.size :])]


def key_of(message: bytes) -> tuple[int, bool]:
    _, down, keysym = _KEY_EVENT.unpack(message)
    return keysym, bool(down)


def pointer_of(message: bytes) -> tuple[int, int, int]:
    """Return the place in a PointerEvent message, and its mask of buttons."""
    _, mask, x, y = _POINTER_EVENT.unpack(message[: _POINTER_EVENT.size])
    for more in message[_POINTER_EVENT.size :]:
        mask = mask & ~_LONG | more << _SHORT_BUTTONS & MAX_BUTTONMASK
    return x, y, mask


def _no_body(head: bytes) -> int:
    del head
    return 0


def _encodings_bytes(head: bytes) -> int:
    _, count = _SET_ENCODINGS.unpack(head)
    if count > MAX_ENCODINGS:
        raise LimitExceeded(f"a list of {count} encodings, over {MAX_ENCODINGS}")
    return 4 * count


def _clipboard_bytes(head: bytes) -> int:
    # The extended clipboard negates the length (RFB extension 0xc0a1e5ce).
    return abs(_CUT_TEXT.unpack(head)[1])


def _fence_bytes(head: bytes) -> int:
    size = head[-1]
    if size > MAX_FENCE_BYTES:
        raise LimitExceeded(f"a fence of {size} bytes, over {MAX_FENCE_BYTES}")
    return size


def _screens_bytes(head: bytes) -> int:
    return _SCREEN.size * _SET_DESKTOP_SIZE.unpack(head)[-1]


def _qemu_bytes(head: bytes) -> int:
    if head[1] != 0:  # 0 is the extended key event; the others have lengths of their own
        raise UnknownMessage(f"QEMU message {head[1]}")
    return _QEMU_KEY_BYTES


# Those of RFC 6143, 7.5, and of the extensions that noVNC and TigerVNC speak: the head, and how much follows it.
_MESSAGES: Final[dict[int, tuple[struct.Struct, Callable[[bytes], int]]]] = {
    ClientMessage.SET_PIXEL_FORMAT: (_SET_PIXEL_FORMAT, _no_body),
    ClientMessage.SET_ENCODINGS: (_SET_ENCODINGS, _encodings_bytes),
    ClientMessage.FRAMEBUFFER_UPDATE_REQUEST: (_UPDATES_OF_REGION, _no_body),
    ClientMessage.KEY_EVENT: (_KEY_EVENT, _no_body),
    ClientMessage.POINTER_EVENT: (_POINTER_EVENT, _no_body),
    ClientMessage.CLIENT_CUT_TEXT: (_CUT_TEXT, _clipboard_bytes),
    ClientMessage.ENABLE_CONTINUOUS_UPDATES: (_UPDATES_OF_REGION, _no_body),
    ClientMessage.FENCE: (_FENCE, _fence_bytes),
    ClientMessage.XVP: (_XVP, _no_body),
    ClientMessage.SET_DESKTOP_SIZE: (_SET_DESKTOP_SIZE, _screens_bytes),
    ClientMessage.QEMU: (_QEMU, _qemu_bytes),
}
