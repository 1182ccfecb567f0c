"""Episodes in lockstep: the program in a real process on a real X server, stepped over a step channel."""

import random
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from numpy.typing import NDArray
from pluriverse_protocol.events import Event, KeyEvent
from pluriverse_protocol.messages import StepReply
from pluriverse_protocol.reports import Frame, Ready, Reset, Watched
from support.gym_core import DEADLINE_S, Player
from support.step_channels import StepChannelAgent, StepChannelListener
from support.xvfb import Xvfb

pytestmark = pytest.mark.browser

RUNTIME = Path(__file__).parents[3] / "runtimes" / "gym-core"
LEFT, UP, RIGHT, DOWN, Z, C = 0xFF51, 0xFF52, 0xFF53, 0xFF54, ord("z"), ord("c")


def tap(*keysyms: int) -> list[Event]:
    return [KeyEvent(keysym, down) for keysym in keysyms for down in (True, False)]


class Stepper(Player):
    """The program with a step channel, and the agent on it."""

    def __init__(self, display: Xvfb, folder: Path, listener: StepChannelListener) -> None:
        super().__init__(display, RUNTIME, folder, PLURIVERSE_STEP_CHANNEL=str(listener.path))
        self.agent: StepChannelAgent = listener.open_step_channel()
        self.ready: Ready | None = None
        self._n = 0

    def begin(self, env: str, seed: int = 1) -> NDArray[np.uint8]:
        self.number += 1
        self.daemon.send(Reset(self.number, f"gym-core.{env}", seed, 60.0, clock="lockstep"))
        self.ready = self.daemon.expect(Ready)
        heard = self.agent.hear_first()
        assert heard.headers.episode_id == self.number == self.ready.episode
        return heard.pixels

    def step(self, *events: Event, frames: int = 1) -> tuple[StepReply, NDArray[np.uint8]]:
        self._n += 1
        self.agent.step(self._n, frames, events, self.number)
        return self.agent.hear_step(self._n)


@pytest.fixture
def stepper(display: Xvfb, tmp_path: Path) -> Iterator[Stepper]:
    with StepChannelListener(tmp_path) as listener:
        made = Stepper(display, tmp_path, listener)
        yield made
        made.close()


def played(stepper: Stepper, env: str, seed: int, steps: int) -> list[tuple[object, bytes]]:
    """All that is seen of an episode in which the same keys are pressed each time."""
    chosen = random.Random(5)
    seen: list[tuple[object, bytes]] = [(None, stepper.begin(env, seed).tobytes())]
    for _ in range(steps):
        key, down = chosen.choice((LEFT, UP, RIGHT, DOWN, Z)), chosen.random() < 0.6
        answer, pixels = stepper.step(KeyEvent(key, down), frames=chosen.randint(1, 4))
        seen.append(((answer.reward, answer.done, answer.text, answer.observation, answer.info), pixels.tobytes()))
        if answer.done:
            break
    return seen


@pytest.mark.parametrize("env", ["PongDeterministic-v3", "CartPoleSync-v0", "LunarLander-v3", "FrozenLake-v1"])
def test_same_seed_and_keys_give_the_same_episode_to_the_pixel(stepper: Stepper, env: str) -> None:
    first = played(stepper, env, 3, 60)
    played(stepper, "SpaceInvaders-v0", 1, 5)
    assert played(stepper, env, 3, 60) == first
    assert len({pixels for _, pixels in first}) > 3


def test_time_stands_still_and_costs_nothing_while_the_agent_thinks(stepper: Stepper) -> None:
    stepper.begin("PongDeterministic-v3")
    _, picture = stepper.step(frames=30)
    wait_until_shown(stepper, picture)
    assert stepper.daemon.expect(Frame).frames == 30
    process = psutil.Process(stepper.process.pid)
    before = process.cpu_times()
    time.sleep(1)
    after = process.cpu_times()
    # One hundredth of a second may be of what it had begun.
    assert after.user + after.system - before.user - before.system < 0.015
    assert is_shown(stepper, picture)
    with pytest.raises(TimeoutError):
        stepper.daemon.next(0.01)
    answer, _ = stepper.step()
    assert not answer.done


def is_shown(stepper: Stepper, picture: NDArray[np.uint8]) -> bool:
    return np.array_equal(stepper.display.pixels(0, 0, picture.shape[1], picture.shape[0]), picture)


def wait_until_shown(stepper: Stepper, picture: NDArray[np.uint8]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_shown(stepper, picture):
        assert time.monotonic() < deadline


def test_a_turn_based_game_takes_a_step_for_each_of_its_keys_and_none_for_a_frame(stepper: Stepper) -> None:
    first = stepper.begin("MiniGrid-Empty-5x5-v0")
    still, pixels = stepper.step(frames=100)
    assert (still.text, still.reward) == ("get to the green goal square", 0.0)
    assert np.array_equal(pixels, first)
    # Two forward, turn right, two forward: the goal.
    answer, pixels = stepper.step(*tap(UP, UP, RIGHT, UP, UP, UP))
    assert (answer.done, answer.terminated, answer.info["reason"]) == (True, True, "game over")
    assert 0.9 < answer.reward < 1
    assert not np.array_equal(pixels, first)


def test_nothing_is_drawn_that_nobody_watches(stepper: Stepper) -> None:
    first = stepper.begin("PongDeterministic-v3")
    assert is_shown(stepper, first)
    stepper.daemon.send(Watched(False))
    # The request is read before the next step but one.
    stepper.step()
    before = stepper.display.pixels(0, 0, 160, 210)
    last = [stepper.step(*tap(RIGHT))[1] for _ in range(20)][-1]
    assert np.array_equal(stepper.display.pixels(0, 0, 160, 210), before)
    assert not np.array_equal(last, first)
    stepper.daemon.send(Watched(True))
    wait_until_shown(stepper, last)
