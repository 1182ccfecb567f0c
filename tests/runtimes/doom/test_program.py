"""The program: a real process on a real X server, with the test as its daemon; and a whole remote with it."""

import time
from collections.abc import Callable
from typing import cast

import psutil
import pytest
from doom.controls import CONTROL, KEYS
from pluriverse_protocol import metadata
from pluriverse_protocol.reports import Done, Frame, Observation, Reward, Stop
from support.gym_core import DEADLINE_S, Player
from support.report_server import ReportServer

pytestmark = [pytest.mark.slow, pytest.mark.display]

LEFTWARDS, RIGHTWARDS = KEYS["MOVE_LEFT"], KEYS["MOVE_RIGHT"]
ESCAPE, PROBE = 0xFF1B, 0xBEEF1
BLOCK = (626, 8, metadata.WIDTH, metadata.HEIGHT)

# Many times as fast as Doom, for tests that play to the end.
FAST_FPS = 350.0


def block(player: Player) -> metadata.Metadata | None:
    rows = player.display.pixels(*BLOCK)
    return metadata.decode(rows[0].tobytes(), rows[1].tobytes())


def ammunition(player: Player) -> float:
    """As it is told next."""
    _, _, ammunition, _ = cast("list[float]", player.daemon.expect(Observation).observation)
    return ammunition


def test_episode_runs_to_its_end_and_says_why(player: Player) -> None:
    episode = player.reset("doom.Basic-v0", fps=FAST_FPS)
    total = 0.0
    while not isinstance(report := player.daemon.expect(Reward, Done), Done):
        assert report.episode == episode
        total += report.reward
    assert (report.terminated, report.truncated, report.reason) == (False, True, "time limit of the scenario")
    assert total + report.reward == -300


def test_monster_is_shot_with_ordinary_keys(player: Player) -> None:
    player.reset("doom.Basic-v0", seed=2, fps=70.0)
    best, at, held = 0.0, time.monotonic(), frozenset[int]()
    while not isinstance(report := player.daemon.expect(Reward, Done), Done):
        best = max(best, report.reward)
        slow = int((time.monotonic() - at) * 8)
        walking = frozenset({LEFTWARDS if slow < 4 else RIGHTWARDS})
        wanted = frozenset({CONTROL}) | (walking if slow % 2 == 0 else frozenset[int]())
        player.keyboard.hold(wanted, held)
        held = wanted
    player.keyboard.hold(frozenset(), held)
    assert best > 90
    assert report.reason == "scenario over"


def test_tics_are_counted_and_painted_with_the_clock_that_they_carry(player: Player) -> None:
    episode = player.reset("doom.Basic-v0", fps=35.0)
    carried: set[int] = set()
    for count in range(1, 100):
        frame = player.daemon.expect(Frame)
        assert (frame.episode, frame.frames) == (episode, count)
        assert frame.at is not None
        carried.add(int(frame.at * 1000))
        painted = block(player)
        if painted is not None and painted.clock in carried:
            return
    raise AssertionError(f"none of {carried} was ever painted")


def test_variables_are_told_at_the_beginning_and_when_they_change(player: Player) -> None:
    player.reset("doom.DefendTheCenter-v0")
    assert player.daemon.expect(Observation).observation == [100, 0, 26, 0]
    player.keyboard.down(CONTROL)
    assert ammunition(player) == 25
    player.keyboard.up(CONTROL)


def test_next_episode_of_the_same_scenario_keeps_the_engine_and_of_another_replaces_it(player: Player) -> None:
    player.reset("doom.Basic-v0", 1)
    first = engines(player)
    player.reset("doom.Basic-v0", 2)
    assert engines(player) == first
    player.reset("doom.TakeCover-v0", 1)
    assert engines(player) != first


def engines(player: Player) -> list[psutil.Process]:
    children = psutil.Process(player.process.pid).children(recursive=True)
    found = [child for child in children if "vizdoom" in child.name()]
    assert found
    return found


def say_stop(daemon: ReportServer) -> None:
    daemon.send(Stop())


@pytest.mark.parametrize("end", [say_stop, ReportServer.hang_up])
def test_the_daemon_ends_it_with_status_0_and_its_engine_with_it(
    player: Player, end: Callable[[ReportServer], None]
) -> None:
    player.reset("doom.Basic-v0")
    running = engines(player)
    end(player.daemon)
    assert player.process.wait(DEADLINE_S) == 0
    _, alive = psutil.wait_procs(running, DEADLINE_S)
    assert not alive


def test_crash_of_the_engine_ends_it_with_a_reason(player: Player) -> None:
    player.reset("doom.Basic-v0")
    for engine in engines(player):
        engine.kill()
    assert player.process.wait(DEADLINE_S) == 1
    assert player.process.stderr is not None
    assert "crashed" in player.process.stderr.read()
