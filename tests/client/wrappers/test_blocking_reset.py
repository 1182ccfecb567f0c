from __future__ import annotations

from pluriverse.wrappers import BlockingReset
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
