"""Runs as files: what comes back of them, and what isn't one."""

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from pluriverse.adapters import run_log as module
from pluriverse.adapters.core import Core
from pluriverse.adapters.run_log import RunHeader, RunLog, answer_of, read_run
from pluriverse.errors import ConfigurationError
from pluriverse.rewarder.result import Result
from pluriverse_protocol.events import Event, KeyEvent, PointerEvent

HEADER = RunHeader("toy.Toy-v0", "1.2", 4, 60.0, {"mode": 3}, size=(84, 84), grey=True)
DOWN, MOVE = KeyEvent(99, True), PointerEvent(3, 4, 1)


def result(value: int, reward: float = 0.0, text: str = "", *, over: bool = False) -> Result:
    texts = (text,) if text else ()
    return Result(np.full((2, 3, 3), value, np.uint8), texts, reward=reward, done=over, terminated=over)


def test_a_run_comes_back_with_every_answer(tmp_path: Path) -> None:
    path = tmp_path / "run"
    log = RunLog(path, HEADER)
    results = [result(0), result(1, 0.5), result(1, 2.0, "said", over=True)]
    log.begin(0, 7, (), results[0])
    log.begin(1, 8, [[DOWN], []], results[1])
    log.step(0, [DOWN, MOVE], results[1])
    log.step(1, [], results[0])
    log.step(0, [], results[2])
    log.close()
    log.close()
    header, (one, other) = read_run(path)
    assert header.env_id == HEADER.env_id
    assert (header.options, header.size, header.grey) == ({"mode": 3}, [84, 84], True)
    assert (one.seed, one.again, one.first) == (7, [], answer_of(results[0]))
    assert one.steps == [((DOWN, MOVE), answer_of(results[1])), ((), answer_of(results[2]))]
    assert (other.seed, other.again) == (8, [(DOWN,), ()])
    assert other.steps == [((), answer_of(results[0]))]
    assert one.steps[1][1].end == "terminated"


def test_a_run_that_broke_off_has_what_was_flushed(tmp_path: Path) -> None:
    path = tmp_path / "run"
    log = RunLog(path, HEADER)
    log.begin(0, 7, (), result(0))
    events: list[Event] = [DOWN]
    for _ in range(1500):
        log.step(0, events, result(1))
    kept = path.read_bytes()
    log.close()
    path.write_bytes(kept[:-3])
    _, (episode,) = read_run(path)
    assert 900 < len(episode.steps) <= 1500


def refused(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "run"
    path.write_bytes(data)
    with pytest.raises(ConfigurationError, match=f"run isn't a recorded run: .*{why}"):
        read_run(path)


LATER = b'{"env_id":"a","runtime_version":null,"frame_skip":1,"fps":60,"options":{},"run":2}'


@pytest.mark.parametrize("lines", [None, b"", b"[]\n", b'{"run": 2}\n', LATER])
def test_what_is_no_run_is_said(tmp_path: Path, lines: bytes | None) -> None:
    refused(tmp_path, b"no gzip" if lines is None else gzip.compress(lines), "")


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'[0,[],1%b,"00"]' % (b"0" * 400), "is too large"),
        (b'[0,[],NaN,"00"]', "NaN isn't a JSON number"),
        (b'[0,[["KeyEvent",1e300,true]],0,"00"]', "KeyEvent"),
        (b'[[],[],0,"00"]', "unhashable"),
        (b'[5,[],0,"00"]', ""),
    ],
    ids=["too deep", "too many digits", "no number", "an event", "an index", "nobody's"],
)
def test_a_run_that_was_made_to_break_its_reader_is_refused_in_words(tmp_path: Path, step: bytes, why: str) -> None:
    log = RunLog(tmp_path / "made", HEADER)
    log.begin(0, 7, (), result(0))
    log.close()
    refused(tmp_path, gzip.compress(gzip.decompress((tmp_path / "made").read_bytes()) + step + b"\n"), why)


def test_a_run_is_unpacked_up_to_its_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(bytes(100_000_000), 1)
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    tracemalloc.start()
    refused(tmp_path, bomb, "over 1000 bytes")
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
    monkeypatch.setattr(module, "MAX_STEPS", 2)
    log = RunLog(tmp_path / "made", HEADER)
    log.begin(0, 7, (), result(0))
    for _ in range(3):
        log.step(0, (), result(1))
    log.close()
    refused(tmp_path, (tmp_path / "made").read_bytes(), "over 2 steps")


def test_a_file_that_is_there_is_kept_and_real_time_has_no_runs(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("mine")
    with pytest.raises(ConfigurationError, match="the run can't be recorded"):
        RunLog(path, HEADER)
    assert path.read_text() == "mine"
    with pytest.raises(ConfigurationError, match='record needs clock="lockstep"'):
        Core("gym-core.Pong-v3", record=path)
