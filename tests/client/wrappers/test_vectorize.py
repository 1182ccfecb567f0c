import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.wrappers import Unvectorize, Vectorize
from support.scripted import Script, ScriptedEnv, seen


def test_one_of_a_vector_of_one_and_back() -> None:
    env = ScriptedEnv(Script([(seen(9), 1.0, True, {"a": 1})] * 2))
    single = Unvectorize(env)
    assert single.reset() is None
    observation, reward, done, info = single.step(["up"])
    assert (observation["vision"].max(), reward, done, info) == (9, 1.0, True, {"a": 1})
    assert env.actions == [[["up"]]]
    vector = Vectorize(single)
    assert vector.reset() == [None]
    _, reward_n, done_n, info_n = vector.step([["up"]])
    assert (reward_n, done_n, info_n) == ([1.0], [True], {"n": [{"a": 1}]})


def test_more_than_one_cannot_be_one() -> None:
    env = ScriptedEnv(Script(), Script())
    with pytest.raises(ConfigurationError, match="got 2"):
        Unvectorize(env).configure()
    with pytest.raises(ConfigurationError, match="got 2"):
        Unvectorize(env).reset()
