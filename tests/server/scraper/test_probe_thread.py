from __future__ import annotations

import threading
import time

import pytest
from pluriverse_server.manifest.sources import ProcessSource
from pluriverse_server.scraper import probe_thread
from pluriverse_server.scraper.probe_thread import ProbeThread
from pluriverse_server.sources.reading import Sample, SourceError
from support.waiting import eventually


class Slow:
    """A probe that waits for a word with each read."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.reads = 0
        self.closed = threading.Event()
        self.error: Exception | None = None

    def read(self) -> Sample:
        self.go.acquire()
        self.reads += 1
        if self.error is not None:
            raise self.error
        return Sample(self.reads, time.time())

    def close(self) -> None:
        self.closed.set()


def thread_of(probe: Slow, budget_ms: float = 10_000.0) -> ProbeThread:
    table = ProcessSource.model_validate({"from": "process", "read": "exit", "budget_ms": budget_ms})
    return ProbeThread("slow", table, probe)


async def taken(thread: ProbeThread) -> Sample:
    samples: list[Sample] = []

    def look() -> bool:
        sample = thread.take()
        samples.extend([sample] if sample is not None else [])
        return bool(samples)

    await eventually(look)
    return samples[0]


async def test_sample_is_taken_once_and_reads_never_pile_up() -> None:
    probe = Slow()
    thread = thread_of(probe)
    assert thread.take() is None
    for _ in range(5):
        thread.ask()
    assert thread.take() is None
    probe.go.release()
    assert (await taken(thread)).value == 1
    assert thread.take() is None
    probe.go.release()
    assert probe.reads == 1
    thread.close()
    await eventually(probe.closed.is_set)


async def test_what_takes_longer_than_its_budget_is_late_until_it_is_there() -> None:
    probe = Slow()
    thread = thread_of(probe, budget_ms=1.0)
    assert not thread.is_late
    thread.ask()
    await eventually(lambda: thread.is_late)
    probe.go.release()
    await taken(thread)
    assert not thread.is_late
    thread.close()


async def test_slow_one_is_not_asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_thread, "QUICK_S", 0.0)
    probe = Slow()
    thread = thread_of(probe)
    thread.ask()
    time.sleep(0.2)  # noqa: ASYNC251 - the probe is to be slow
    probe.go.release()
    await taken(thread)
    thread.ask()
    assert (thread.answer, thread.is_quick) == (None, False)
    thread.close()


async def test_error_is_raised_where_the_sample_would_be_taken() -> None:
    probe = Slow()
    probe.error = SourceError("no such file")
    thread = thread_of(probe)
    thread.ask()
    probe.go.release()
    with pytest.raises(SourceError, match="no such file"):
        await taken(thread)
    thread.close()


async def test_error_that_nobody_thought_of_ends_neither_the_thread_nor_goes_unseen() -> None:
    probe = Slow()
    probe.error = ZeroDivisionError("of all things")
    thread = thread_of(probe)
    thread.ask()
    probe.go.release()
    with pytest.raises(SourceError, match="source 'slow' could not be read: ZeroDivisionError: of all things"):
        await taken(thread)
    thread.close()
    await eventually(probe.closed.is_set)


async def test_one_that_hangs_is_an_error_and_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_thread, "HANG_S", 0.05)
    probe = Slow()
    thread = thread_of(probe)
    thread.ask()
    with pytest.raises(SourceError, match="source 'slow' hangs"):
        await taken(thread)
    thread.close()
    assert not probe.closed.is_set()
    probe.go.release()
    await eventually(probe.closed.is_set)
