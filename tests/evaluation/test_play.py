import contextlib
from collections.abc import Generator
from pathlib import Path

import pytest
from pluriverse.adapters.computer import Press, Wait
from pluriverse.errors import ResetNeeded
from pluriverse.recording.recorded_screen import RecordedScreen
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play
from pluriverse_protocol.recordings import Input, Said
from support.evaluated import task

pytestmark = pytest.mark.display

PAUSED, LIVE, PAUSED_LATE, LIVE_LATE = parse_modes("paused,live,paused+200,live+200")
UP = 0xFF52


@pytest.fixture
def paused(play: Play) -> Play:
    play.task = task(seconds=6)
    return play


@pytest.fixture(scope="module")
def live() -> Generator[Play]:
    with Play(task(), LIVE, "local:1") as play:
        yield play


def test_budget_ends_an_episode_in_the_middle_of_an_act(paused: Play, live: Play) -> None:
    paused.start(1, paused.mode)
    assert (paused.ended, paused.over) == ("running", False)
    assert 0 < paused.time_left_s <= paused.task.seconds
    paused.do(Wait(60))
    live.start(1, live.mode)
    # On a busy machine it may be over before the act.
    with contextlib.suppress(ResetNeeded):
        live.do(Wait(60))
    assert paused.played_s == pytest.approx(paused.task.seconds, abs=0.05)
    assert live.played_s <= live.task.seconds
    for play in (paused, live):
        assert (play.ended, play.over, play.time_left_s) == ("budget", True, 0)
        with pytest.raises(ResetNeeded, match="budget"):
            play.do(Press((UP,)))


def test_delay_of_a_paused_game_is_exact(paused: Play) -> None:
    paused.start(1, PAUSED_LATE)
    for _ in range(3):
        paused.seen()
        paused.do(Press((UP,)))
    assert paused.reactions_ms == pytest.approx([200] * 3)


def test_delay_of_a_running_game_is_exact_to_a_frame(live: Play) -> None:
    live.start(1, LIVE_LATE)
    for _ in range(3):
        live.seen()
        live.do(Press((UP,)))
    assert len(live.reactions_ms) == 3
    # No less, ever; more by what this machine was late.
    assert min(live.reactions_ms) >= 200
    assert min(live.reactions_ms) <= 200 + live.frame_ms


def test_acts_after_one_look_are_late_together(paused: Play) -> None:
    paused.start(1, PAUSED_LATE)
    paused.pixels()
    for _ in range(3):
        paused.do(Press((UP,)))
    assert len(paused.reactions_ms) == 1
    assert paused.ms == pytest.approx(200 + 3 * 60, abs=3 * paused.frame_ms)


def test_recording_has_what_was_shown_done_and_earned(paused: Play, tmp_path: Path) -> None:
    path = tmp_path / "paused.plrec"
    paused.start(7, PAUSED, path)
    paused.do(Press((UP,), seconds=0.5))
    paused.do(Wait(60))
    paused.finish()
    records = list(RecordedScreen(path).records())
    begins, *_, ends = [record.said for record in records if isinstance(record, Said)]
    assert (begins["event"], begins["seed"], ends["event"]) == ("begin", 7, "end")
    assert ends["reason"] == "budget"
    assert ends["reward"] == paused.total_reward < 0
    pressed = [record.at for record in records if isinstance(record, Input)]
    assert pressed[1] - pressed[0] == pytest.approx(0.5, abs=0.02)
