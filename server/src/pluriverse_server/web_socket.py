"""A server's WebSocket that refuses what aiohttp takes: clients' unmasked frames, and pings without an end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from aiohttp import WebSocketError, WSCloseCode, web
from pluriverse_protocol.control_frames import TOO_MANY, ControlFrames
from pluriverse_protocol.web_frames import LEAST_BYTES, MASKED, measure

# Of an opcode, RFC 6455, section 5.2.
_CONTROL: Final = 0x08


class StrictWebSocket(web.WebSocketResponse):
    """Closes with code 1002 where a frame has no mask, as section 5.1 wants it, and with 1008 at too many pings."""

    _fault = ""

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
        """Close; where that is because of what came, in words."""
        return await super().close(code=code, message=message or self._fault.encode(), drain=drain)

    def _post_start(self, request: Any, protocol: str | None, writer: Any) -> None:
        early = request.protocol._message_tail
        super()._post_start(request, protocol, writer)
        reader = _Reader(self._parser, self._refuse)
        # There is no public place for a reader of one's own.
        request.protocol._payload_parser = reader
        reader.check(early)

    def _refuse(self, code: WSCloseCode, why: str) -> None:
        assert self._reader is not None
        self._fault = why
        self._reader.set_exception(WebSocketError(code, why))


class _Reader:
    def __init__(self, reader: Any, refuse: Callable[[WSCloseCode, str], None]) -> None:
        self._reader = reader
        self._refuse = refuse
        self._control_frames = ControlFrames(time.monotonic)
        self._head = bytearray()
        self._left = 0  # bytes of the frame that are still to come

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        return self._reader.feed_data(data) if self.check(data) else (True, b"")

    def feed_eof(self) -> None:
        self._reader.feed_eof()

    def check(self, data: bytes) -> bool:
        """Return whether all frames are masked, and not too many of them pings."""
        at = 0
        while at < len(data):
            if self._left:
                skipped = min(self._left, len(data) - at)
                self._left -= skipped
                at += skipped
                continue
            self._head.append(data[at])
            at += 1
            if len(self._head) < LEAST_BYTES:
                continue
            if not self._head[1] & MASKED:
                self._refuse(WSCloseCode.PROTOCOL_ERROR, "a client's frame has no mask")
                return False
            end, size = measure(self._head)
            if len(self._head) == end:
                if (self._head[0] & _CONTROL or not size) and not self._control_frames.take():
                    self._refuse(WSCloseCode.POLICY_VIOLATION, TOO_MANY)
                    return False
                self._left = size
                self._head.clear()
        return True
