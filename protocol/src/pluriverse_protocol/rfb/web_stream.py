"""RFB in the binary messages of a WebSocket (RFC 6455): a stream of bytes, whatever the messages' ends.

stream = WebStream(masks=True)                  # a client's, whose messages are masked
send(stream.wrap(b"…"))
received += stream.feed(receive())
send(stream.take_answers())                     # to pings, and to a close
if stream.closed is not None: …
"""

from __future__ import annotations

import enum
import secrets
import struct
from collections import deque
from typing import Final

from pluriverse_protocol.control_frames import TOO_MANY, ControlFrames
from pluriverse_protocol.web_frames import FINAL, LEAST_BYTES, MASK_BYTES, MASKED, head, measure

from .errors import BadWebSocket, LimitExceeded

# Where a remote serves its screen, on the rewarder port.
PATH: Final = "/vnc"

# RFC 6455, section 5.5.
MAX_CONTROL_BYTES: Final = 125

# Of pings that come before any was answered only the last need an answer (section 5.5.3): so many have one.
MAX_PONGS: Final = 16

# Reserved bits of a message's first byte.
_RESERVED: Final = 0x70

# Section 7.4.1: all is well; a server goes away; the peer broke the protocol.
_NORMAL: Final = struct.pack(">H", 1000)
_GOING_AWAY: Final = 1001
PROTOCOL_ERROR: Final = 1002


class _Opcode(enum.IntEnum):
    CONTINUATION = 0
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


class WebStream:
    def __init__(self, *, masks: bool, control_frames: ControlFrames | None = None) -> None:
        """``masks``: this is the client's end, which masks what it sends; the server's takes masked messages only.

        ``control_frames``: how many pings and pongs are taken; None is as many as come.
        """
        self.closed: str | None = None
        """Why the peer has closed the stream; None while it hasn't."""
        self._masks = masks
        self._control_frames = control_frames
        self._head = bytearray()
        # Of the message that comes: what it is, how many of its bytes are still to come, and their mask.
        self._opcode = _Opcode.BINARY
        self._left = 0
        self._mask = b""
        self._control = bytearray()
        self._pongs = deque[bytes](maxlen=MAX_PONGS)
        self._close = b""

    @property
    def wanted(self) -> int:
        """How many bytes to receive at most, so that none beyond the next message's head or end are fed."""
        return self._left or self._head_bytes() - len(self._head)

    @property
    def left(self) -> int:
        """How many bytes of the message are still to come, when no part of the next one's head has."""
        return self._left

    def wrap(self, data: bytes | bytearray) -> bytes:
        return self._message(_Opcode.BINARY, data)

    def close(self, why: str, code: int = _GOING_AWAY) -> bytes:
        return self._message(_Opcode.CLOSE, struct.pack(">H", code) + why.encode()[: MAX_CONTROL_BYTES - 2])

    def take_answers(self) -> bytes:
        """Return what is to be sent because of what came: to the last pings, and to a close."""
        answers, self._close = b"".join(self._pongs) + self._close, b""
        self._pongs.clear()
        return answers

    def feed(self, data: bytes | bytearray | memoryview) -> bytes:
        """Take in what came, however it was cut; return the bytes of the stream. After a close there are none."""
        parts: list[bytes] = []
        at, size = 0, len(data)
        while at < size and self.closed is None:
            if self._left:
                part = data[at : at + self._left]
                at += len(part)
                self._left -= len(part)
                self._take(bytes(part), parts)
            else:
                count = min(self._head_bytes() - len(self._head), size - at)
                self._head += data[at : at + count]
                at += count
                if len(self._head) >= LEAST_BYTES and bool(self._head[1] & MASKED) is self._masks:
                    raise BadWebSocket("a WebSocket's message lacks its mask, or has one though servers mask nothing")
                if len(self._head) == self._head_bytes():
                    self._begin()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _head_bytes(self) -> int:
        """Return the length of the head, as far as its beginning determines it."""
        return LEAST_BYTES if len(self._head) < LEAST_BYTES else measure(self._head)[0]

    def _begin(self) -> None:
        whole, self._head = self._head, bytearray()
        try:
            self._opcode = _Opcode(whole[0] & 0x0F)
        except ValueError:
            raise BadWebSocket(f"a WebSocket's message of kind {whole[0] & 0x0F} came, expected binary ones") from None
        if whole[0] & _RESERVED:
            raise BadWebSocket("a WebSocket message has reserved bits set")
        _, size = measure(whole)
        if self._opcode > _Opcode.BINARY and (size > MAX_CONTROL_BYTES or not whole[0] & FINAL):
            raise BadWebSocket(
                f"a WebSocket's control message of {size} bytes, at most {MAX_CONTROL_BYTES} in one piece"
            )
        # What has none of the stream's bytes counts towards no other limit.
        is_control = self._opcode > _Opcode.BINARY or not size
        if is_control and self._control_frames is not None and not self._control_frames.take():
            raise LimitExceeded(TOO_MANY)
        self._mask = bytes(whole[-MASK_BYTES:]) if whole[1] & MASKED else b""
        self._left = size
        if not size:
            self._take(b"", [])

    def _take(self, part: bytes, parts: list[bytes]) -> None:
        if self._mask:
            turned = len(part) % MASK_BYTES
            part = _masked(part, self._mask)
            self._mask = self._mask[turned:] + self._mask[:turned]
        if self._opcode <= _Opcode.BINARY:
            parts.append(part)
            return
        self._control += part
        if self._left:
            return
        said, self._control = bytes(self._control), bytearray()
        if self._opcode is _Opcode.PING:
            self._pongs.append(self._message(_Opcode.PONG, said))
        elif self._opcode is _Opcode.CLOSE:
            self.closed = said[2:].decode(errors="replace")
            self._close = self._message(_Opcode.CLOSE, said[:2] or _NORMAL)

    def _message(self, opcode: _Opcode, data: bytes | bytearray) -> bytes:
        begun = head(FINAL | opcode, len(data), masked=self._masks)
        if not self._masks:
            return begun + data
        mask = secrets.token_bytes(MASK_BYTES)
        return begun + mask + _masked(data, mask)


def _masked(data: bytes | bytearray, mask: bytes) -> bytes:
    """Return ``data`` masked, or unmasked: as one number, which is fast enough for keys and the pointer."""
    size = len(data)
    repeated = mask * (size // MASK_BYTES + 1)
    return (int.from_bytes(data, "big") ^ int.from_bytes(repeated[:size], "big")).to_bytes(size, "big")
