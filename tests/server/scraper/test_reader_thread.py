import threading
import time

import pytest
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import ProcessSource
from pluriverse_server.scraper import reader_thread
from pluriverse_server.scraper.reader_thread import ReaderThread
from pluriverse_server.sources.program import ProgramReader
from pluriverse_server.sources.reading import Sample, SourceError
from support.waiting import eventually


class Slow(ProgramReader):
    """A reader that waits for a word with each read."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.reads = 0
        self.closed = threading.Event()
        self.error: Exception | None = None

    def look(self) -> Value:
        self.go.acquire()
        self.reads += 1
        if self.error is not None:
            raise self.error
        return self.reads

    def close(self) -> None:
        self.closed.set()


def thread_of(reader: Slow, budget_ms: float = 10_000.0) -> ReaderThread:
    table = ProcessSource.model_validate({"from": "process", "read": "exit", "budget_ms": budget_ms})
    return ReaderThread("slow", table, reader)


async def taken(thread: ReaderThread) -> Sample:
    samples: list[Sample] = []

    def look() -> bool:
        sample = thread.take()
        samples.extend([sample] if sample is not None else [])
        return bool(samples)

    await eventually(look)
    return samples[0]


async def test_sample_is_taken_once_and_reads_never_pile_up() -> None:
    reader = Slow()
    thread = thread_of(reader)
    assert thread.take() is None
    for _ in range(5):
        thread.ask()
    assert thread.take() is None
    reader.go.release()
    assert (await taken(thread)).value == 1
    assert thread.take() is None
    reader.go.release()
    assert reader.reads == 1
    thread.close()
    await eventually(reader.closed.is_set)


async def test_what_takes_longer_than_its_budget_is_late_until_it_is_there() -> None:
    reader = Slow()
    thread = thread_of(reader, budget_ms=1.0)
    assert not thread.is_late
    thread.ask()
    await eventually(lambda: thread.is_late)
    reader.go.release()
    await taken(thread)
    assert not thread.is_late
    thread.close()


async def test_slow_one_is_not_asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_thread, "QUICK_S", 0.0)
    reader = Slow()
    thread = thread_of(reader)
    thread.ask()
    time.sleep(0.2)  # noqa: ASYNC251 - the reader is to be slow
    reader.go.release()
    await taken(thread)
    thread.ask()
    assert (thread.answer, thread.is_quick) == (None, False)
    thread.close()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SourceError("no such file"), "source 'slow': no such file"),
        (ZeroDivisionError("of all things"), "source 'slow' could not be read: ZeroDivisionError: of all things"),
    ],
)
async def test_error_is_raised_where_the_sample_would_be_taken(error: Exception, said: str) -> None:
    reader = Slow()
    reader.error = error
    thread = thread_of(reader)
    thread.ask()
    reader.go.release()
    with pytest.raises(SourceError, match=said):
        await taken(thread)
    thread.close()
    await eventually(reader.closed.is_set)


async def test_one_that_hangs_is_an_error_and_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_thread, "HANG_S", 0.05)
    reader = Slow()
    thread = thread_of(reader)
    thread.ask()
    with pytest.raises(SourceError, match="source 'slow' hangs"):
        await taken(thread)
    thread.close()
    assert not reader.closed.is_set()
    reader.go.release()
    await eventually(reader.closed.is_set)
