import pytest
from pluriverse.adapters.alf.alf_environment import AlfEnvironment
from pluriverse.errors import ConfigurationError
from support.alf_envs import Counting


def test_current_time_step_begins_an_episode_where_there_is_none() -> None:
    env = Counting()
    first = env.current_time_step()
    assert first.is_first()
    assert env.current_time_step() is first
    step = env.step(0)
    assert env.current_time_step() is step


def test_environment_without_pictures_says_so() -> None:
    with pytest.raises(ConfigurationError, match="can't render as"):
        AlfEnvironment.render(Counting())
