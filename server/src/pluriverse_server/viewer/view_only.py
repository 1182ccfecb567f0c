"""The filter that keeps a viewer's input from the VNC server.

It reads the client's half of an RFB 3.7 or 3.8 stream and passes on whole messages of the kinds that ask for pictures.
Keys, pointer, clipboard and a change of the screen's size are left out. A message of unknown length ends the stream,
since what follows it could be anything.
"""

from __future__ import annotations

from typing import Final

from pluriverse_protocol.rfb.errors import BadHandshake, RfbError
from pluriverse_protocol.rfb.handshake import VERSION, VERSION_BYTES
from pluriverse_protocol.rfb.messages import encodings_of, read_message, set_encodings
from pluriverse_protocol.rfb.numbers import ClientMessage, Encoding
from pluriverse_protocol.rfb.security import CHALLENGE_BYTES, SecurityType
from pluriverse_protocol.rfb.steps import StepReader, Steps

# Both versions make the client choose the security type by one byte. In 3.3 the server alone chooses, so that a client
# that claims it would have its first messages read as a handshake here, and as input there.
VERSIONS: Final = (VERSION % (3, 8), VERSION % (3, 7))

# How many bytes the client answers to the server's challenge.
ANSWER_BYTES: Final[dict[int, int]] = {SecurityType.NONE: 0, SecurityType.VNC: CHALLENGE_BYTES}

# ClientInit: leave the others connected. A viewer is never granted the screen for itself.
SHARED: Final = b"\x01"

PASSING: Final = frozenset(
    {
        ClientMessage.SET_PIXEL_FORMAT,
        ClientMessage.SET_ENCODINGS,
        ClientMessage.FRAMEBUFFER_UPDATE_REQUEST,
        ClientMessage.ENABLE_CONTINUOUS_UPDATES,
        ClientMessage.FENCE,
    }
)


class ViewOnlyFilter:
    """Turns the bytes of one client into those that may go on to the server.

    ``refusal`` is None, or says what the client sent that can't be followed; nothing passes any more then.
    """

    def __init__(self) -> None:
        self.refusal: str | None = None
        self._passed = bytearray()
        self._reader = StepReader(self._run())

    def feed(self, chunk: bytes) -> bytes:
        """Return what may go on now; empty while a message is incomplete, and always after a ``refusal``.

        Keeps at most one message that may pass (4 KiB of encodings), and none that may not.
        """
        if self.refusal is not None:
            return b""
        try:
            self._reader.feed(chunk)
        except RfbError as error:
            self.refusal = str(error)
        passed = bytes(self._passed)
        self._passed.clear()
        return passed

    def _run(self) -> Steps[None]:
        yield from self._read_handshake()
        while True:
            kind, message = yield from read_message(PASSING)
            if kind == ClientMessage.SET_ENCODINGS:
                # It makes pointer events longer than ``read_message`` has them.
                kept = [each for each in encodings_of(message) if each != Encoding.EXTENDED_MOUSE_BUTTONS]
                message = set_encodings(kept)
            self._passed += message

    def _read_handshake(self) -> Steps[None]:
        version = yield VERSION_BYTES
        if version not in VERSIONS:
            raise BadHandshake(f"the version {version!r}, a viewer speaks RFB 3.8")
        self._passed += version
        chosen = yield 1
        if chosen[0] not in ANSWER_BYTES:
            raise BadHandshake(f"the security type {chosen[0]}, a viewer uses VNC authentication or none")
        self._passed += chosen
        self._passed += yield ANSWER_BYTES[chosen[0]]
        yield 1
        self._passed += SHARED
