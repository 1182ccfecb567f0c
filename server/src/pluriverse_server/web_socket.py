"""A server's WebSocket that refuses clients' unmasked frames, which aiohttp takes."""

from __future__ import annotations

from typing import Any, Final

from aiohttp import WebSocketError, WSCloseCode, web

# Of a frame's head, RFC 6455, section 5.2.
_LEAST_HEAD: Final = 2
_MASKED: Final = 0x80
_MASK_BYTES: Final = 4
_SIZE_BYTES: Final = {126: 2, 127: 8}


class MaskedWebSocket(web.WebSocketResponse):
    """Closes with code 1002 where a frame has no mask, as section 5.1 wants it."""

    def _post_start(self, request: Any, protocol: str | None, writer: Any) -> None:
        early = request.protocol._message_tail
        super()._post_start(request, protocol, writer)
        reader = _Reader(self._parser, self._reader)
        # There is no public place for a reader of one's own.
        request.protocol._payload_parser = reader
        reader.check(early)


class _Reader:
    """aiohttp's reader, with each frame's head looked at before."""

    def __init__(self, reader: Any, queue: Any) -> None:
        self._reader = reader
        self._queue = queue
        self._head = bytearray()
        self._left = 0  # bytes of the frame that are still to come

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        return self._reader.feed_data(data) if self.check(data) else (True, b"")

    def feed_eof(self) -> None:
        self._reader.feed_eof()

    def check(self, data: bytes) -> bool:
        """Return whether all frames are masked; else whoever receives hears of it."""
        at = 0
        while at < len(data):
            if self._left:
                skipped = min(self._left, len(data) - at)
                self._left -= skipped
                at += skipped
                continue
            self._head.append(data[at])
            at += 1
            if len(self._head) < _LEAST_HEAD:
                continue
            size = self._head[1] & ~_MASKED
            body = _LEAST_HEAD + _SIZE_BYTES.get(size, 0)
            if not self._head[1] & _MASKED:
                self._queue.set_exception(WebSocketError(WSCloseCode.PROTOCOL_ERROR, "a client's frame has no mask"))
                return False
            if len(self._head) == body + _MASK_BYTES:
                self._left = int.from_bytes(self._head[_LEAST_HEAD:body], "big") if body > _LEAST_HEAD else size
                self._head.clear()
        return True
