"""What every environment does."""

from __future__ import annotations

import pytest
from pluriverse.adapters.alf.alf_environment import AlfEnvironment
from pluriverse.adapters.alf.alf_wrappers import AlfEnvironmentBaseWrapper
from pluriverse.adapters.alf.tensor_specs import TensorSpec
from pluriverse.errors import Misuse
from support.alf_envs import Counting, Pictures


def test_first_step_begins_an_episode_and_passes_over_its_action() -> None:
    env = Counting()
    assert env.step(5).is_first()
    assert env.step(5).is_mid()


def test_current_time_step_begins_an_episode_where_there_is_none() -> None:
    env = Counting()
    first = env.current_time_step()
    assert first.is_first()
    assert env.current_time_step() is first
    step = env.step(0)
    assert env.current_time_step() is step


def test_single_environment_is_a_batch_of_one_without_tensors() -> None:
    with Counting() as env:
        assert (env.batched, env.batch_size, env.is_tensor_based) == (False, 1, False)
        assert (env.num_tasks, env.task_names, env.metadata, env.get_info()) == (1, ["0"], {}, {})
        assert env.reward_spec() == TensorSpec((), "float32")
        assert env.time_step_spec().observation == env.observation_spec()
        env.close()


def test_author_who_forgets_the_batch_size_is_told() -> None:
    class Forgetful(Counting):
        @property
        def batched(self) -> bool:
            return True

    with pytest.raises(Misuse, match="override batch_size"):
        _ = Forgetful().batch_size


def test_progress_of_the_training_is_told_to_nobody() -> None:
    assert AlfEnvironmentBaseWrapper(Counting()).sync_progress() is None


def test_environment_without_pictures_says_so() -> None:
    with pytest.raises(Misuse, match="no picture"):
        Pictures().render()


def test_what_an_author_must_write_is_checked() -> None:
    with pytest.raises(TypeError, match="abstract"):
        AlfEnvironment()  # pyright: ignore[reportAbstractUsage]
