"""The program: a real process on a real X server, with the test as its daemon."""

import signal
import time

import numpy as np
import pytest
from pluriverse_protocol.reports import Done, Frame, Ready, Reset, Reward
from support.gym_core import Player

pytestmark = [pytest.mark.slow, pytest.mark.display]

RIGHT, Z, C = 0xFF53, ord("z"), ord("c")

# Slower than any test, so that no frame comes by itself while it looks.
NO_FRAMES_FPS = 0.01


def test_the_clock_is_painted_soon_after_a_step_was_delivered(player: Player) -> None:
    episode = player.reset("gym-core.PongSync-v3", fps=NO_FRAMES_FPS)
    for _ in range(20):
        player.keyboard.tap(C)
        player.daemon.expect(Reward)
        # At this rate only the delivery can have painted it.
        assert player.wait_for_step(episode).clock <= time.time() * 1000


def test_late_frames_are_dropped_and_counted_and_never_made_up(player: Player) -> None:
    player.reset("gym-core.PongDeterministic-v3", fps=50.0)
    first = player.daemon.expect(Frame)
    player.process.send_signal(signal.SIGSTOP)
    time.sleep(0.5)
    player.process.send_signal(signal.SIGCONT)
    frames = [player.daemon.expect(Frame) for _ in range(40)]
    assert frames[-1].late_frames - first.late_frames >= 20
    assert on_the_grid(first, frames[-1], 50.0)


def on_the_grid(first: Frame, last: Frame, fps: float) -> bool:
    """Whether frames, drawn or dropped, went by as time did; each may be drawn within its period."""
    assert first.at is not None
    assert last.at is not None
    slots = last.frames + last.late_frames - first.frames - first.late_frames
    return abs(slots - (last.at - first.at) * fps) < 3


def test_an_outcome_ends_the_episode_and_nothing_is_reported_after_it(player: Player) -> None:
    episode = player.reset("gym-core.CartPoleSync-v0", fps=60.0)
    rewards = 0
    while True:
        player.keyboard.tap(C)
        report = player.daemon.expect(Reward, Done)
        if isinstance(report, Done):
            break
        rewards += 1
    assert 5 < rewards < 50
    assert (report.episode, report.reward) == (episode, 1.0)
    assert (report.terminated, report.truncated, report.reason) == (True, False, "game over")
    player.keyboard.tap(C, C)
    ended = player.metadata().clock
    player.wait_for_metadata(lambda seen: seen.clock > ended + 100)
    player.daemon.send(Reset(99, "gym-core.CartPoleSync-v0", 1, NO_FRAMES_FPS))
    assert player.daemon.next() == Ready(99, NO_FRAMES_FPS, picture=(0, 0, 600, 400))


def test_a_turn_based_game_moves_only_when_one_of_its_keys_is_pressed(player: Player) -> None:
    player.reset("gym-core.FrozenLake-v1")
    still = player.display.pixels(0, 0, 256, 256)
    for _ in range(5):
        player.daemon.expect(Frame)
    player.keyboard.tap(Z)
    for _ in range(5):
        player.daemon.expect(Frame)
    assert np.array_equal(player.display.pixels(0, 0, 256, 256), still)
    pressed = 0
    while np.array_equal(player.display.pixels(0, 0, 256, 256), still):
        # The ice is slippery: a step may leave one where one was, but not thirty.
        player.keyboard.tap(RIGHT)
        player.daemon.expect(Frame)
        player.daemon.expect(Frame)
        pressed += 1
        assert pressed < 30
