"""A probe in a thread of its own, so that one which takes its time, or hangs, holds up nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from typing import Final

from pluriverse_server.manifest.sources import Source
from pluriverse_server.sources.reading import Probe, Sample, SourceError

# A probe that is so slow doesn't come back: what it reads is stuck.
HANG_S: Final = 5.0

# A quarter of a frame at 60 fps. What takes longer may as well come with a later cycle.
QUICK_S: Final = 0.004


class ProbeThread:
    """Reads when asked, one read at a time. The thread is never waited for."""

    def __init__(self, name: str, table: Source, probe: Probe) -> None:
        self.answer: asyncio.Future[Sample] | None = None
        self.is_quick = True
        self._name = name
        self._budget_s = table.budget_ms / 1000
        self._probe = probe
        self._asked: queue.SimpleQueue[asyncio.Future[Sample] | None] = queue.SimpleQueue()
        self._asked_at = 0.0
        self._rests_until = 0.0
        threading.Thread(target=self._work, name=f"source {name}", daemon=True).start()

    def ask(self) -> None:
        """Begin a read, unless one is under way; what is slow is left alone for as long as its last read took."""
        now = time.monotonic()
        if self.answer is None and now >= self._rests_until:
            self._asked_at = now
            self.answer = asyncio.get_running_loop().create_future()
            self._asked.put(self.answer)

    def take(self) -> Sample | None:
        """What has been read since it was asked; None if it isn't there yet.

        Raises:
            SourceError: it can't be read, or hangs.
        """
        if self.answer is None:
            return None
        if not self.answer.done():
            if time.monotonic() - self._asked_at > HANG_S:
                raise SourceError(
                    f"source {self._name!r} hangs: it could not be read within {HANG_S:g} s; is what it reads stuck?"
                )
            return None
        answer, self.answer = self.answer, None
        return answer.result()

    @property
    def is_late(self) -> bool:
        """Whether it takes longer than it may."""
        return self.answer is not None and time.monotonic() - self._asked_at > self._budget_s

    def close(self) -> None:
        """Let go of what it reads, as soon as it comes back."""
        if self.answer is not None:
            self.answer.cancel()
            self.answer = None
        self._asked.put(None)

    def _work(self) -> None:
        while (answer := self._asked.get()) is not None:
            started = time.monotonic()
            try:
                said: Sample | SourceError = self._probe.read()
            except SourceError as error:
                said = error
            except Exception as error:  # noqa: BLE001 - what a program makes of its files and answers has no bounds
                said = SourceError(f"source {self._name!r} could not be read: {type(error).__name__}: {error}")
            took_s = time.monotonic() - started
            self.is_quick = took_s <= QUICK_S
            self._rests_until = 0.0 if self.is_quick else started + 2 * took_s
            # The loop may have ended while this read.
            with contextlib.suppress(RuntimeError):
                answer.get_loop().call_soon_threadsafe(_settle, answer, said)
        self._probe.close()


def _settle(answer: asyncio.Future[Sample], said: Sample | SourceError) -> None:
    if answer.cancelled():
        return
    if isinstance(said, Sample):
        answer.set_result(said)
    else:
        answer.set_exception(said)
