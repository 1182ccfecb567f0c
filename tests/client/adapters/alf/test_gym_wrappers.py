from typing import Any

import gymnasium
import numpy as np
import pytest
from pluriverse.adapters.alf.alf_gym_wrapper import AlfGymWrapper
from pluriverse.adapters.alf.gym_wrappers import FrameSkip, FrameStack, NormalizedAction
from pluriverse.errors import ConfigurationError
from pluriverse.testing.alf import check_environment

spaces: Any = gymnasium.spaces


class Numbered(gymnasium.Env[Any, Any]):
    """Pictures of 4 by 6 pixels that are as bright as steps are many; ends after five."""

    action_space = spaces.Box(-2, 4, (1,), np.float32)

    def __init__(self, shape: tuple[int, int, int] = (4, 6, 3)) -> None:
        self.observation_space = spaces.Box(0, 255, shape, np.uint8)
        self.shape = shape
        self.steps = 0
        self.actions: list[float] = []

    def _observation(self) -> Any:
        return np.full(self.shape, self.steps, np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self._observation(), {}

    def step(self, action: Any) -> Any:
        self.actions.append(float(action[0]))
        self.steps += 1
        return self._observation(), 1.0, self.steps == 5, False, {}


ACTION = np.zeros(1, np.float32)


@pytest.mark.parametrize(
    ("order", "shape", "stacked"),
    [("channels_last", (4, 6, 3), (4, 6, 9)), ("channels_first", (3, 4, 6), (9, 4, 6))],
)
def test_frames_are_joined_along_their_channels(order: Any, shape: Any, stacked: Any) -> None:
    env = FrameStack(Numbered(shape), 3, order)
    axis = 0 if order == "channels_first" else -1
    assert env.observation_space.shape == stacked
    env.reset()
    env.step(ACTION)
    observation = env.step(ACTION)[0]
    assert observation in env.observation_space
    assert np.unique(observation.take(range(3), axis)).tolist() == [0]
    assert np.unique(observation.take(range(6, 9), axis)).tolist() == [2]
    assert not env.reset()[0].any()


def test_unknown_order_of_channels_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="channel_order"):
        FrameStack(Numbered(), 3, "channels_middle")  # pyright: ignore[reportArgumentType]


def test_skipped_frames_are_counted_and_their_rewards_added_up() -> None:
    env = FrameSkip(Numbered(), 3)
    env.reset()
    _, reward, terminated, _, info = env.step(ACTION)
    assert (reward, terminated, info["num_env_frames"]) == (3, False, 3)
    _, reward, terminated, _, info = env.step(ACTION)
    assert (reward, terminated, info["num_env_frames"]) == (2, True, 2)


def test_normalized_actions_reach_the_environment_in_its_own_bounds() -> None:
    inner = Numbered()
    env = AlfGymWrapper(FrameStack(NormalizedAction(inner)))
    env.reset()
    for action in (-1.0, 0.0, 1.0):
        env.step([action])
    assert inner.actions[1:] == pytest.approx([-2, 1, 4])
    check_environment(env)
