import pytest
from pluriverse.spaces import PEEK_REWARD
from pluriverse.wrappers import BlockingReset, Throttle, pacing
from support.scripted import Script, ScriptedEnv, seen


def test_reset_returns_the_first_pictures() -> None:
    slow = Script([(None, 0.0, False, {}), (seen(1, "go"), 5.0, False, {}), (seen(3), 0.5, False, {})])
    env = ScriptedEnv(slow, Script([(seen(2), 0.0, False, {})]))
    blocking = BlockingReset(env)
    first, second = blocking.reset()
    assert (first["vision"].max(), first["text"]) == (1, ["go"])
    assert second is not None
    # What was earned meanwhile comes with the next step; what was said is not said again.
    observation_n, reward_n, _, _ = blocking.step([[], []])
    assert reward_n == [5.5, 0.0]
    assert (observation_n[0]["vision"].max(), observation_n[0]["text"]) == (3, [])


def test_step_returns_once_every_index_has_a_picture() -> None:
    ending = Script([(seen(1), 0.0, False, {}), (None, 1.0, True, {}), (seen(2), 7.0, False, {})])
    blocking = BlockingReset(ScriptedEnv(ending))
    blocking.reset()
    (observation,), reward_n, done_n, _ = blocking.step([[]])
    assert observation["vision"].max() == 2
    # The next episode's reward waits.
    assert (reward_n, done_n) == ([1.0], [True])
    assert blocking.step([[]])[1] == [7.0]


def test_remote_that_is_away_leaves_none() -> None:
    away = Script([(None, 0.0, False, {"env_status.disconnected": True})] * 5, last=None)
    first, second = BlockingReset(ScriptedEnv(Script(), away)).reset()
    assert first is not None
    assert second is None


class Clock:
    """A clock that nothing but waiting moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


class Clocked(ScriptedEnv):
    """News comes every millisecond."""

    def __init__(self, clock: Clock, *scripts: Script, fps: float = 20) -> None:
        super().__init__(*scripts, fps=fps)
        self._clock = clock

    def wait(self, timeout_s: float) -> bool:
        self._clock.now += min(timeout_s, 0.001)
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(pacing, "time", clock)
    return clock


def test_action_is_sent_at_once_and_then_only_looked(clock: Clock) -> None:
    env = Clocked(clock, Script([(seen(1), 1.0, False, {}), (seen(2), 2.0, True, {}), (seen(3), 4.0, False, {})]))
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


def test_rate_is_the_environments_own_and_an_agent_that_is_late_does_not_wait(clock: Clock) -> None:
    throttle = Throttle(Clocked(clock, fps=10))
    throttle.reset()
    throttle.step([[]])
    clock.now += 0.3
    waited = [throttle.step([[]])[3]["stats.throttle.sleep"] for _ in range(2)]
    assert waited == [0.0, pytest.approx(0.1)]
