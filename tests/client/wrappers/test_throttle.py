from __future__ import annotations

import time

from pluriverse.spaces import PEEK_REWARD
from pluriverse.wrappers import Throttle
from support.scripted import Script, ScriptedEnv, seen


class Slow(ScriptedEnv):
    """News comes every millisecond."""

    def wait(self, timeout_s: float) -> bool:
        time.sleep(0.001)
        return super().wait(timeout_s)


def test_action_is_sent_at_once_and_then_only_looked() -> None:
    env = Slow(Script([(seen(1), 1.0, False, {}), (seen(2), 2.0, True, {}), (seen(3), 4.0, False, {})]))
    throttle = Throttle(env, fps=20)
    throttle.reset()
    (observation,), (reward,), (done,), info = throttle.step([["up"]])
    assert env.actions[0] == [["up"]]
    assert env.actions[1] == [[]]
    # What follows the end of an episode waits for the next step.
    assert all(actions == [[PEEK_REWARD]] for actions in env.actions[2:])
    assert observation["vision"].max() == 3
    assert (reward, done) == (3.0, True)
    assert info["stats.throttle.sleep"] > 0
    assert throttle.step([[]])[1] == [4.0]


def test_steps_keep_to_the_rate() -> None:
    throttle = Throttle(Slow(), fps=100)
    throttle.reset()
    began = time.monotonic()
    for _ in range(10):
        throttle.step([[]])
    assert time.monotonic() - began >= 0.099


def test_rate_is_the_environments_own_if_not_given() -> None:
    throttle = Throttle(Slow(fps=50.0))
    throttle.reset()
    began = time.monotonic()
    for _ in range(5):
        throttle.step([[]])
    assert time.monotonic() - began >= 0.099


def test_agent_that_is_late_does_not_wait() -> None:
    throttle = Throttle(Slow(), fps=10)
    throttle.reset()
    throttle.step([[]])
    time.sleep(0.3)
    throttle.step([[]])
    began = throttle.step([[]])[3]["stats.throttle.sleep"]
    assert began <= 0.11
