"""A zlib stream that goes on from rectangle to rectangle, and is never let grow beyond what its rectangle can hold."""

from __future__ import annotations

import zlib

from pluriverse_protocol.rfb.errors import BadData


class Inflater:
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """The server restarts this stream."""
        self._stream = zlib.decompressobj()

    def exactly(self, data: bytes, wanted: int) -> bytes:
        """Inflate ``data``; raise ``BadData`` if it is damaged, or doesn't give ``wanted`` bytes."""
        if self._stream.eof:
            raise BadData("zlib data goes on after the end of its stream")
        try:
            # Room for one byte more: with none left zlib would keep back the marker of the flush behind the last one.
            inflated = self._stream.decompress(data, wanted + 1)
        except zlib.error as error:
            raise BadData(f"zlib data is damaged: {error}") from None
        if len(inflated) < wanted:
            raise BadData(f"zlib data gave {len(inflated)} of {wanted} bytes")
        if len(inflated) > wanted:
            raise BadData(f"zlib data is longer than the {wanted} bytes that its rectangle can take")
        return inflated
