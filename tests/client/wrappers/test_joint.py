import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.wrappers import Joint
from support.scripted import Script, ScriptedEnv, seen


def test_indices_count_through_all_parts() -> None:
    first = ScriptedEnv(Script([(seen(1), 1.0, False, {"i": 0})]), Script([(seen(2), 2.0, False, {"i": 1})]))
    second = ScriptedEnv(Script([(None, 3.0, True, {"i": 2})]))
    joint = Joint([first, second])
    assert joint.n == 3
    assert joint.reset() == [None] * 3
    observation_n, reward_n, done_n, info = joint.step([["a"], ["b"], ["c"]])
    assert (first.actions, second.actions) == ([[["a"], ["b"]]], [[["c"]]])
    assert observation_n[1]["vision"].max() == 2
    assert observation_n[2] is None
    assert (reward_n, done_n) == ([1.0, 2.0, 3.0], [False, False, True])
    assert [part["i"] for part in info["n"]] == [0, 1, 2]
    joint.reset_one(1)
    joint.reset_one(2)
    assert (first.truncated, second.truncated) == ([1], [0])
    assert joint.wait(0.1)
    joint.seed(10)
    assert (first.seeds, second.seeds) == ([10, 11], [12])
    joint.seed([1, 2, 3])
    assert (first.seeds, second.seeds) == ([1, 2], [3])
    assert len(joint.render("rgb_array")) == 3
    joint.render("human")
    assert first.shown[-1] == "human"
    joint.close()
    assert (first.closed, second.closed) == (1, 1)


def test_nothing_cannot_be_joined_nor_configured() -> None:
    with pytest.raises(ConfigurationError, match="at least one"):
        Joint([])
    with pytest.raises(ConfigurationError, match="needs configured"):
        Joint([ScriptedEnv()]).configure(remotes=1)
