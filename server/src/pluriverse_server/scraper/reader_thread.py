"""Reads one source in a thread of its own, so that a slow or hanging one delays nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Final

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import Source
from pluriverse_server.sources.program import ProgramReader
from pluriverse_server.sources.reading import Pixels, Sample, ScreenReader, SourceError, SourceHangs

# A read that takes this long won't return: the source is stuck.
HANG_S: Final = 5.0

# A quarter of a frame at 60 fps. Slower samples come with a later cycle.
QUICK_S: Final = 0.004

# Called in the thread with each sample, or the reason for a missing one.
Answer = Callable[[Sample | SourceError], None]


class ReaderThread:
    """Reads on request, one read at a time. Nothing ever waits for the thread."""

    def __init__(self, name: str, table: Source, reader: ProgramReader) -> None:
        self.answer: asyncio.Future[Sample] | None = None
        self.is_quick = True
        self._name = name
        self._budget_s = table.budget_ms / 1000
        self._reader = reader
        self._asked: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        self._asked_at = 0.0
        self._rests_until = 0.0
        threading.Thread(target=self._work, name=f"source {name}", daemon=True).start()

    def ask(self) -> None:
        """Begin a read, unless one is under way; a slow source rests for as long as its last read took."""
        if self.answer is None and time.monotonic() >= self._rests_until:
            loop = asyncio.get_running_loop()
            self._asked_at = loop.time()
            answer = self.answer = loop.create_future()

            def settle(said: Sample | SourceError) -> None:
                # The loop may have been closed meanwhile.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(_settle, answer, said)

            self._asked.put(settle)

    def read_now(self) -> Sample:
        """Read here and now, unless the thread reads; raise SourceError if the source can't be read."""
        return self._read()

    def await_now(self) -> Sample:
        """Read in the thread, and wait for it; raise SourceError if the source can't be read, or hangs."""
        answers: queue.SimpleQueue[Sample | SourceError] = queue.SimpleQueue()
        self._asked.put(answers.put)
        try:
            said = answers.get(timeout=HANG_S)
        except queue.Empty:
            raise self._hangs() from None
        if isinstance(said, SourceError):
            raise said
        return said

    def take(self) -> Sample | None:
        """Return the sample, or None before the first; raise SourceError if the source can't be read, or hangs."""
        if self.answer is None:
            return None
        if not self.answer.done():
            if asyncio.get_running_loop().time() - self._asked_at > HANG_S:
                raise self._hangs()
            return None
        answer, self.answer = self.answer, None
        return answer.result()

    @property
    def is_late(self) -> bool:
        return self.answer is not None and asyncio.get_running_loop().time() - self._asked_at > self._budget_s

    def close(self) -> None:
        if self.answer is not None:
            self.answer.cancel()
            self.answer = None
        self._asked.put(None)

    def _work(self) -> None:
        while (answer := self._asked.get()) is not None:
            started = time.monotonic()
            try:
                said: Sample | SourceError = self._read()
            except SourceError as error:
                said = error
            took_s = time.monotonic() - started
            self.is_quick = took_s <= QUICK_S
            self._rests_until = 0.0 if self.is_quick else started + 2 * took_s
            answer(said)
        self._reader.close()

    def _read(self) -> Sample:
        try:
            return self._reader.read()
        except SourceError as error:
            raise SourceError(f"source {self._name!r}: {error}") from error
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise SourceError(f"source {self._name!r} could not be read: {what}") from error

    def _hangs(self) -> SourceHangs:
        return SourceHangs(f"source {self._name!r} hangs: it could not be read within {HANG_S:g} s")


class PictureReader(ProgramReader):
    """Reads the last picture that it was shown, with a reader that may take its time, or never end."""

    def __init__(self, reader: ScreenReader) -> None:
        self._reader = reader
        self._shown: tuple[Pixels, float] | None = None

    def show(self, pixels: Pixels, at: float) -> None:
        """Show pixels, which no longer change, of UNIX time ``at``."""
        self._shown = pixels, at

    def look(self) -> Value:
        return self.read().value

    def read(self) -> Sample:
        assert self._shown is not None
        pixels, at = self._shown
        started = time.monotonic()
        value, confidence = self._reader.read(pixels)
        return Sample(value, at, confidence, lag_s=time.monotonic() - started)


def _settle(answer: asyncio.Future[Sample], said: Sample | SourceError) -> None:
    if answer.cancelled():
        return
    if isinstance(said, Sample):
        answer.set_result(said)
    else:
        answer.set_exception(said)
