from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from pluriverse.adapters.alf.alf_gym_wrapper import AlfGymWrapper, tensor_spec_from_gym_space
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, text_spec
from pluriverse.errors import ActionError, ConfigurationError
from pluriverse.testing.alf import check_environment


class Everything(gymnasium.Env[Any, Any]):
    """Spaces within spaces, and all that may be in an info; ends after three steps, by terminating if told to."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 7}  # noqa: RUF012 - Gymnasium's way
    observation_space = spaces.Dict(
        {
            "camera": spaces.Box(0, 255, (4, 5, 3), np.uint8),
            "mission": spaces.Text(50),
            "parts": spaces.Tuple((spaces.Discrete(3, start=2), spaces.Box(-np.inf, np.inf, (2,), np.float64))),
        }
    )
    action_space = spaces.Dict(
        {"keys": spaces.MultiBinary(2), "end": spaces.Discrete(2), "aim": spaces.MultiDiscrete([3, 4])}
    )
    render_mode = "rgb_array"

    def __init__(self) -> None:
        self.steps = 0
        self.actions: list[Any] = []

    def _observation(self) -> Any:
        camera = np.zeros((4, 5, 3), np.uint8)
        camera[..., 1] = self.steps
        return {"camera": camera, "mission": "go to the door", "parts": (2, np.array([0.5, self.steps]))}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self._observation(), {"only": "text", "seed": seed}

    def step(self, action: Any) -> Any:
        self.actions.append(action)
        self.steps += 1
        info: dict[str, Any] = {"lives": 3, "inner": {"speed": 1.5, "name": "x"}, "text": "y", "array": np.ones(2)}
        if self.steps == 2:
            info = {"lives": "none left", "inner": 4, "array": np.ones(3)}
        over = self.steps == 3
        return self._observation(), 0.25, over and bool(action["end"]), over, info

    def render(self) -> Any:
        return np.zeros((2, 2, 3), np.uint8)


def test_spaces_become_specs() -> None:
    env = AlfGymWrapper(Everything())
    camera = BoundedTensorSpec((4, 5, 3), "uint8", 0, 255)
    parts = (BoundedTensorSpec((), "int64", 2, 4), BoundedTensorSpec((2,), "float32", -np.inf, np.inf))
    assert env.observation_spec() == {"camera": camera, "mission": text_spec(), "parts": parts}
    assert env.action_spec() == {
        "keys": BoundedTensorSpec((2,), "int8", 0, 1),
        "end": BoundedTensorSpec((), "int64", 0, 1),
        "aim": BoundedTensorSpec((2,), "int64", 0, [2, 3]),
    }
    assert env.metadata["render_fps"] == 7


def test_space_without_a_fixed_shape_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="tensors can't hold"):
        tensor_spec_from_gym_space(spaces.Dict({"many": spaces.Sequence(spaces.Discrete(2))}))


def test_env_info_has_the_numbers_of_info_in_one_shape() -> None:
    env = AlfGymWrapper(Everything())
    action = {"keys": [1, 0], "end": 0, "aim": [2, 3]}
    first = env.reset()
    assert first.env_info == {"lives": 0, "array": pytest.approx([0, 0])}
    assert env.get_info() == {"only": "text", "seed": None}
    step = env.step(action)
    assert (step.env_info["lives"], step.env_info["array"].tolist()) == (3, [1, 1])
    assert env.get_info()["text"] == "y"
    # What has another shape or kind at this step is zeros.
    odd = env.step(action).env_info
    assert (odd["lives"], odd["array"].tolist()) == (0, [0, 0])


@pytest.mark.parametrize(("end", "discount"), [(1, 0.0), (0, 0.9)])
def test_outcome_ends_with_discount_0_and_a_limit_with_the_environments(end: int, discount: float) -> None:
    env = AlfGymWrapper(Everything(), env_id=6, discount=0.9)
    action = {"keys": [0, 0], "end": end, "aim": [0, 0]}
    assert env.step(action).is_first()
    steps = [env.step(action) for _ in range(4)]
    assert [float(step.discount) for step in steps] == [pytest.approx(0.9)] * 2 + [pytest.approx(discount), 1]
    assert [bool(step.is_last()) for step in steps] == [False, False, True, False]
    assert steps[3].is_first()
    assert steps[0].env_id == 6


def test_wrong_action_is_refused_before_gymnasium_sees_it() -> None:
    inner = Everything()
    env = AlfGymWrapper(inner)
    env.reset()
    before = len(inner.actions)
    for action in (3, {"keys": [1, 0]}, {"keys": [1, 2], "end": 0, "aim": [0, 0]}):
        with pytest.raises(ActionError, match="expected"):
            env.step(action)
    assert len(inner.actions) == before


def test_rendering_needs_the_mode_that_the_environment_was_made_with() -> None:
    env = AlfGymWrapper(Everything())
    assert env.render().shape == (2, 2, 3)
    with pytest.raises(ConfigurationError, match=r"gymnasium\.make"):
        env.render("human")


def test_gymnasiums_environments_conform() -> None:
    # The pendulum's actions are continuous, and only a limit ends its episodes.
    for env in (Everything(), gymnasium.make("CartPole-v1"), gymnasium.make("Pendulum-v1", max_episode_steps=20)):
        with AlfGymWrapper(env) as wrapped:
            check_environment(wrapped, 60)
