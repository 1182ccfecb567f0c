"""What a person who only watches may say to a VNC server: everything but input.

A filter over the client's half of an RFB 3.7 or 3.8 stream (RFC 6143), fed with any chunks and free of I/O. Out of it
come only whole messages of the kinds that ask for pictures, so whatever the client meant, the server sees no input.
Keys, pointer, clipboard and a change of the screen's size are taken out. A message whose length can't be told ends the
stream, since what follows it could be anything.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

# Both versions make the client choose the security type by one byte. In 3.3 the server alone chooses, so that a client
# that claims it would have its first messages read as a handshake here, and as input there.
VERSIONS: Final = (b"RFB 003.008\n", b"RFB 003.007\n")

# Security types (RFC 6143, 7.1.2) and the length of what the client answers: nothing, or the encrypted challenge.
SECURITY_ANSWERS: Final = {1: 0, 2: 16}

# The client's first byte after that: leave the others connected. A viewer is never granted the screen for itself.
SHARED: Final = b"\x01"

# Asks for pointer events a byte longer than RFC 6143 has them. Never passed on, so that they keep their one length.
EXTENDED_MOUSE_BUTTONS: Final = -316

# Some forty encodings are registered, and a client names each at most once.
MAX_ENCODINGS: Final = 1024

# What the text of the Fence extension allows.
MAX_FENCE_BYTES: Final = 64


class _Refused(Exception):
    """The stream can't be followed from here."""


def _no_body(header: bytes) -> int:
    del header
    return 0


def _encodings(header: bytes) -> int:
    (count,) = struct.unpack_from("!H", header, 2)
    if count > MAX_ENCODINGS:
        raise _Refused(f"a list of {count} encodings, over {MAX_ENCODINGS}")
    return 4 * count


def _clipboard(header: bytes) -> int:
    # The extended clipboard negates the length (RFB extension 0xc0a1e5ce).
    (length,) = struct.unpack_from("!i", header, 4)
    return abs(length)


def _fence(header: bytes) -> int:
    if header[8] > MAX_FENCE_BYTES:
        raise _Refused(f"a fence of {header[8]} bytes, over {MAX_FENCE_BYTES}")
    return header[8]


def _screens(header: bytes) -> int:
    return 16 * header[6]


def _qemu(header: bytes) -> int:
    if header[1] != 0:  # 0 is the extended key event, 12 bytes; the others have lengths of their own
        raise _Refused(f"QEMU message {header[1]}")
    return 10


@dataclass(frozen=True, slots=True)
class _Kind:
    """A message: the length of its head in bytes, how much follows a given head, and whether a viewer may send it."""

    head: int
    body: Callable[[bytes], int]
    passes: bool


# By message type: RFC 6143, 7.5, and the extensions that noVNC and TigerVNC speak.
KINDS: Final = {
    0: _Kind(20, _no_body, passes=True),  # SetPixelFormat
    2: _Kind(4, _encodings, passes=True),  # SetEncodings
    3: _Kind(10, _no_body, passes=True),  # FramebufferUpdateRequest
    4: _Kind(8, _no_body, passes=False),  # KeyEvent
    5: _Kind(6, _no_body, passes=False),  # PointerEvent
    6: _Kind(8, _clipboard, passes=False),  # ClientCutText
    150: _Kind(10, _no_body, passes=True),  # EnableContinuousUpdates
    248: _Kind(9, _fence, passes=True),  # ClientFence
    250: _Kind(4, _no_body, passes=False),  # xvp: shut down, reboot
    251: _Kind(8, _screens, passes=False),  # SetDesktopSize
    255: _Kind(2, _qemu, passes=False),  # QEMU extended key event
}


class ViewOnlyFilter:
    """Takes the bytes of a client, gives those that may go on to the server.

    ``refusal`` says why nothing more comes through: None, or what the client said that can't be followed.
    """

    def __init__(self) -> None:
        self.refusal: str | None = None
        self._buffer = bytearray()
        self._skip = 0  # bytes still to come of a message that is taken out
        self._next = self._version

    def feed(self, chunk: bytes) -> bytes:
        """What may go on now; empty while a message is incomplete, and for ever after a ``refusal``.

        Keeps at most one message that may pass (4 KiB of encodings); of one that may not, nothing but its head.
        """
        if self.refusal is not None:
            return b""
        skipped = min(self._skip, len(chunk))
        self._skip -= skipped
        self._buffer += memoryview(chunk)[skipped:]
        passed = bytearray()
        try:
            while (part := self._next()) is not None:
                passed += part
        except _Refused as refused:
            self.refusal = str(refused)
            self._buffer.clear()
        return bytes(passed)

    def _take(self, length: int) -> bytes | None:
        if len(self._buffer) < length:
            return None
        taken = bytes(self._buffer[:length])
        del self._buffer[:length]
        return taken

    def _version(self) -> bytes | None:
        version = self._take(len(VERSIONS[0]))
        if version is None:
            return None
        if version not in VERSIONS:
            raise _Refused(f"the version {version!r}, a viewer speaks RFB 3.8")
        self._next = self._security_type
        return version

    def _security_type(self) -> bytes | None:
        chosen = self._take(1)
        if chosen is None:
            return None
        if chosen[0] not in SECURITY_ANSWERS:
            raise _Refused(f"the security type {chosen[0]}, a viewer uses VNC authentication or none")
        self._answer_length = SECURITY_ANSWERS[chosen[0]]
        self._next = self._security_answer
        return chosen

    def _security_answer(self) -> bytes | None:
        answer = self._take(self._answer_length)
        if answer is not None:
            self._next = self._client_init
        return answer

    def _client_init(self) -> bytes | None:
        if self._take(1) is None:
            return None
        self._next = self._message
        return SHARED

    def _message(self) -> bytes | None:
        if not self._buffer:
            return None
        kind = KINDS.get(self._buffer[0])
        if kind is None:
            raise _Refused(f"the message type {self._buffer[0]}, which is none of a viewer's")
        if len(self._buffer) < kind.head:
            return None
        length = kind.head + kind.body(bytes(self._buffer[: kind.head]))
        if not kind.passes:
            there = min(length, len(self._buffer))
            del self._buffer[:there]
            self._skip = length - there
            return b""
        message = self._take(length)
        return _without_extended_buttons(message) if message is not None and message[0] == 2 else message


def _without_extended_buttons(message: bytes) -> bytes:
    asked = struct.unpack(f"!{(len(message) - 4) // 4}i", message[4:])
    granted = [encoding for encoding in asked if encoding != EXTENDED_MOUSE_BUTTONS]
    return struct.pack(f"!BxH{len(granted)}i", 2, len(granted), *granted)
