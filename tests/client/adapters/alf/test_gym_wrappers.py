"""Wrappers of Gymnasium's environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from pluriverse.adapters.alf.gym_wrappers import (
    ContinuousActionClip,
    ContinuousActionMapping,
    DMAtariPreprocessing,
    EpisodicRandomFrameCrop,
    FrameCrop,
    FrameFlip,
    FrameGrayScale,
    FrameResize,
    FrameSkip,
    FrameStack,
    ImageChannelFirst,
    NonEpisodicEnv,
    NormalizedAction,
)
from pluriverse.errors import ConfigurationError, Misuse

FIELDS = ["inner.image"]
spaces: Any = gymnasium.spaces


@pytest.fixture(autouse=True)
def library() -> str:
    """No tensors here: once is enough."""
    return "numpy"


class Everything(gymnasium.Env[Any, Any]):
    """Pictures of 4 by 6 pixels whose rows, columns and channels can be told apart; ends after five steps."""

    action_space = spaces.Dict({"force": spaces.Box(-2, 3, (1,), np.float32), "key": spaces.Discrete(3)})
    observation_space: Any = spaces.Dict(
        {
            "inner": spaces.Dict({"image": spaces.Box(0, 255, (4, 6, 3), np.uint8)}),
            "state": spaces.Box(-1, 1, (4,), np.float32),
            "words": spaces.MultiDiscrete([20, 30]),
        }
    )

    def __init__(self) -> None:
        self.steps = 0
        self.actions: list[Any] = []

    def _observation(self) -> Any:
        image = np.arange(72, dtype=np.uint8).reshape(4, 6, 3) + np.uint8(self.steps)
        return {"inner": {"image": image}, "state": np.full(4, self.steps / 10, np.float32), "words": np.array([1, 2])}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self._observation(), {}

    def step(self, action: Any) -> Any:
        self.actions.append(action)
        self.steps += 1
        return self._observation(), 1.0, self.steps == 5, False, {}


class First(gymnasium.ObservationWrapper[Any, Any, Any]):
    """The picture alone, with its channels first or last."""

    def __init__(self, first: bool = False) -> None:
        super().__init__(Everything())
        self._first = first
        self.observation_space = spaces.Box(0, 255, (3, 4, 6) if first else (4, 6, 3), np.uint8)

    def observation(self, observation: Any) -> Any:
        image = observation["inner"]["image"]
        return image.transpose(2, 0, 1) if self._first else image


ACTION = {"force": np.zeros(1, np.float32), "key": 1}
ORDERS = pytest.mark.parametrize("order", ["channels_last", "channels_first"])


def seen(env: Any) -> Any:
    """The first observation, which is as the space says, with its channels last."""
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(np.ascontiguousarray(observation))
    return observation


def part(space: Any, name: str) -> Any:
    return space[name]


def test_named_fields_are_stacked_and_the_others_stay() -> None:
    env = FrameStack(Everything(), 3, fields=[*FIELDS, "state", "words"])
    env.reset()
    observation = env.step(ACTION)[0]
    assert observation["inner"]["image"].shape == (4, 6, 9)
    assert observation["inner"]["image"][0, 0, ::3].tolist() == [0, 0, 1]
    assert observation["state"].tolist() == pytest.approx([0] * 8 + [0.1] * 4)
    assert env.observation_space.contains(observation)
    env.step(ACTION)
    assert env.reset()[0]["inner"]["image"][0, 0, ::3].tolist() == [0, 0, 0]
    assert part(FrameStack(Everything(), fields=["state"]).observation_space, "words") == spaces.MultiDiscrete([20, 30])


def test_all_pictures_get_their_channels_first() -> None:
    env = ImageChannelFirst(Everything())
    observation = seen_dict(env)
    assert observation["inner"]["image"].shape == (3, 4, 6)
    assert observation["inner"]["image"].flags.c_contiguous
    assert observation["inner"]["image"][1, 0, 0] == 1
    assert ImageChannelFirst(Everything(), FIELDS).observation_space == env.observation_space
    assert seen(ImageChannelFirst(First())).shape == (3, 4, 6)


def seen_dict(env: Any) -> Any:
    observation, _ = env.reset()
    assert env.observation_space.contains(observation)
    return observation


def test_skipped_frames_are_counted_and_their_rewards_added_up() -> None:
    env = FrameSkip(FrameSkip(Everything(), 2), 2)
    env.reset()
    _, reward, terminated, _, info = env.step(ACTION)
    assert (reward, terminated, info["num_env_frames"]) == (4, False, 4)
    _, reward, terminated, _, info = env.step(ACTION)
    assert (reward, terminated, info["num_env_frames"]) == (1, True, 1)


def test_pictures_get_another_size_and_lose_their_colours() -> None:
    env = FrameGrayScale(FrameResize(Everything(), 3, 2, FIELDS), FIELDS)
    assert seen_dict(env)["inner"]["image"].shape == (2, 3, 1)
    assert seen(FrameResize(FrameGrayScale(First()), 3, 2)).shape == (2, 3, 1)


@ORDERS
def test_crop_keeps_what_lies_in_its_box(order: Any) -> None:
    first = order == "channels_first"
    picture = seen(FrameCrop(First(first), 1, 2, 3, 2, order))
    expected = np.arange(72).reshape(4, 6, 3)[2:4, 1:4]
    assert (picture == (expected.transpose(2, 0, 1) if first else expected)).all()


@ORDERS
def test_random_crop_stays_for_an_episode_and_is_the_same_for_all_fields(order: Any) -> None:
    first = order == "channels_first"
    env = EpisodicRandomFrameCrop(First(first), 0.5, order)
    np.random.seed(0)
    corners: set[int] = set()
    for _ in range(12):
        corner = int(seen(env).flat[0])
        assert int(env.step(ACTION)[0].flat[0]) == corner + 1
        corners.add(corner)
    assert len(corners) > 2
    assert env.observation_space.shape == ((3, 2, 3) if first else (2, 3, 3))


@ORDERS
@pytest.mark.parametrize(("down", "across", "corner"), [(0, 0, 0), (1, 0, 54), (0, 1, 15), (1, 1, 69)])
def test_flipped_pictures_stay_so_for_an_episode(order: Any, down: float, across: float, corner: int) -> None:
    env = FrameFlip(First(order == "channels_first"), down, across, order)
    assert int(np.asarray(seen(env)).flat[0]) == corner
    assert int(np.asarray(env.step(ACTION)[0]).flat[0]) == corner + 1


def test_continuous_actions_are_mapped_clipped_and_checked() -> None:
    inner = Everything()
    env = ContinuousActionClip(ContinuousActionMapping(inner, -1.0, 2.0))
    assert part(env.action_space, "force") == spaces.Box(-1, 2, (1,), np.float32)
    env.reset()
    for force in (-1.1, 2.1, 0.0):
        env.step({"force": np.array([force], np.float32), "key": 2})
    assert [float(action["force"][0]) for action in inner.actions] == pytest.approx([-2, 3, -1 / 3])
    assert inner.actions[0]["key"] == 2
    with pytest.raises(ValueError, match="expected numbers"):
        env.step({"force": np.array([np.nan], np.float32), "key": 2})
    assert part(NormalizedAction(Everything()).action_space, "force") == spaces.Box(-1, 1, (1,), np.float32)


def test_no_episode_ends() -> None:
    env = NonEpisodicEnv(Everything())
    env.reset()
    assert not any(env.step(ACTION)[2] for _ in range(7))


def breakout(**options: Any) -> DMAtariPreprocessing:
    ale_py = pytest.importorskip("ale_py")
    gymnasium.register_envs(ale_py)
    return DMAtariPreprocessing(gymnasium.make("ALE/Breakout-v5", frameskip=1, repeat_action_probability=0), **options)


def test_atari_is_played_as_deepmind_does() -> None:
    with breakout(noop_max=5) as env:
        picture, info = env.reset(seed=3)
        assert picture.shape == (84, 84, 1)
        assert env.observation_space.contains(picture)
        lives = info["lives"]
        _, _, _, _, info = env.step(0)
        assert info["num_env_frames"] == 4
        # FIRE was pressed: a life is lost by itself, and the step ends there.
        while (info := env.step(0)[4])["lives"] == lives:
            pass
        assert info["lives"] == lives - 1
        while (info := env.step(0)[4])["lives"] == lives - 1:
            pass
    with breakout(gray_scale=False, screen_size=40, frame_skip=1, noop_max=0) as env:
        assert env.reset()[0].shape == (40, 40, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FrameResize(First(), 0), "size is"),
        (lambda: FrameResize(Everything()), "isn't of pictures"),
        (lambda: FrameGrayScale(FrameGrayScale(First())), "three channels"),
        (lambda: FrameCrop(First(), 4, 0, 3, 2), "isn't within"),
        (lambda: FrameCrop(First(), -1, 0, 3, 2), "isn't within"),
        (lambda: FrameCrop(First(), channel_order="first"), "channel_order"),  # pyright: ignore[reportArgumentType]
        (lambda: FrameStack(Everything()), "can't be stacked"),
        (lambda: FrameStack(First(), 0), "stack_size is 0"),
        (lambda: FrameSkip(First(), 0), "skip is 0"),
        (lambda: FrameFlip(First(), 1.5), "0 to 1"),
        (lambda: EpisodicRandomFrameCrop(First(), 1), "between 0 and 1"),
        (
            lambda: NormalizedAction(gymnasium.wrappers.TransformAction(First(), abs, spaces.Box(0, np.inf))),
            "no finite",
        ),
    ],
)
def test_wrong_options_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make()


def test_unknown_field_is_refused() -> None:
    with pytest.raises(Misuse, match="no field 'outer'"):
        FrameResize(Everything(), fields=["outer.image"])
