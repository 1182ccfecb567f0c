import asyncio
import contextlib
import io
from typing import Any

import pytest
from pluriverse_server.console.status_line import ClearingStream, compose, show
from pluriverse_server.episode import Environment, Episode
from pluriverse_server.remote.status import Statistics
from support.waiting import eventually

CLEAR = "\r\x1b[K"


def status(**changed: Any) -> dict[str, Any]:
    return {**Statistics().episode_status(None, None, now=0.0), "agents": 0, "viewers": 0, **changed}


def test_before_anything_is_known_it_says_that_it_starts() -> None:
    assert compose({}) == "starting"


def test_before_the_first_environment_there_are_dashes() -> None:
    assert compose(status()) == "idle - | episode 0 | reward 0 | - fps | late 0 | lag - | agents 0 | viewers 0"


def test_running_environment_has_all_its_numbers() -> None:
    episode = Episode(7, Environment("toy.First-v0"), 1, 60.0, started_at=1.0, reward=-2.5, late_frames=3)
    described = Statistics().episode_status(episode, "running", now=2.0)
    line = compose({**described, "fps_measured": 59.94, "reward_lag_ms": 4.25, "agents": 1, "viewers": 2})
    assert line == (
        "running toy.First-v0 | episode 7 | reward -2.5 | 59.9 fps | late 3 | lag 4.2 ms | agents 1 | viewers 2"
    )


async def test_line_is_rewritten_in_place_cut_to_the_terminal_and_gone_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = io.StringIO()
    showing = asyncio.create_task(show(lambda: compose(status(env_id="x" * 100)), stream))
    await eventually(stream.getvalue)
    showing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await showing
    first, *_, last = stream.getvalue().split(CLEAR)[1:]
    assert first == "idle " + "x" * 14
    assert "\n" not in stream.getvalue()
    assert last == ""


def test_log_lines_stand_where_the_status_line_stood() -> None:
    stream = io.StringIO()
    log = ClearingStream(stream)
    log.write("something happened\n")
    log.flush()
    assert stream.getvalue() == f"{CLEAR}something happened\n"
