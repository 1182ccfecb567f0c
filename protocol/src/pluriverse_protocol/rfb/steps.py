"""Parsers that can wait anywhere: generators that yield how many bytes they need next, and are sent just those."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final, TypeVar

from .errors import RfbError

_T = TypeVar("_T")

Steps = Generator[int, bytes, _T]

# Yielded instead of a number of bytes: read nothing until ``StepReader.resume``.
PAUSE: Final = -1

# Unwanted bytes are discarded in pieces of at most this size.
SKIP_BYTES: Final = 64 * 1024


def skip(count: int) -> Steps[None]:
    """Read past ``count`` bytes without keeping them."""
    while count > 0:
        count -= len((yield min(count, SKIP_BYTES)))


class StepReader:
    """Feed a parser, however its bytes were cut. Each byte is copied once into the buffer and once out of it."""

    def __init__(self, steps: Steps[None]) -> None:
        self._steps = steps
        self._buffer = bytearray()
        self._read = 0
        self._failure: RfbError | None = None
        self._need = next(steps)

    @property
    def unread(self) -> bytes:
        """The bytes that were fed and not read yet."""
        return bytes(self._buffer[self._read :])

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        if self._failure is not None:
            raise type(self._failure)(*self._failure.args)
        self._buffer += data
        try:
            self._advance()
        except RfbError as error:
            # A copy, as the traceback of the one that is raised keeps the data alive.
            self._failure = type(error)(*error.args)
            self._buffer.clear()
            raise

    def resume(self) -> None:
        self._need = 0
        self.feed(b"")

    def _advance(self) -> None:
        size = len(self._buffer)
        with memoryview(self._buffer) as view:
            while 0 <= self._need <= size - self._read:
                start, self._read = self._read, self._read + self._need
                self._need = self._steps.send(bytes(view[start : self._read]))
        # Cutting off its front doesn't move the rest of a bytearray.
        del self._buffer[: self._read]
        self._read = 0
