import contextlib
from collections.abc import Callable, Generator
from typing import Any, Final

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pluriverse.adapters.gymnasium import PluriverseVectorEnv
from pluriverse.adapters.gymnasium.shared import drawn_seed, generator_of
from pluriverse.errors import ActionError, ConfigurationError, Misuse, ResetNeeded
from support.remotes import daemon_at

CART: Final = "gym-core.CartPoleLowD-v0"

# Within which several poles fall, whatever is done.
STEPS: Final = 60


class Seeded(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Gymnasium's own environment, with the seeds of episodes that follow a seeded one drawn as ours are."""

    generator: np.random.Generator | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self.generator = generator_of(seed)
        return self.env.reset(seed=drawn_seed(self.generator) if seed is None else seed, options=options)


def assert_answers_as_gymnasium(ours: PluriverseVectorEnv) -> None:
    """Play ``CART`` with a vector of it and with Gymnasium's, in the same mode, and compare every answer."""
    mode, n = ours.autoreset_mode, ours.num_envs
    theirs = SyncVectorEnv([lambda: Seeded(gymnasium.make("CartPole-v0"))] * n, autoreset_mode=mode)
    _assert_alike(ours.reset(seed=7), theirs.reset(seed=7), "reset")
    generator = np.random.default_rng(1)
    ends = 0
    for step in range(STEPS):
        actions = generator.integers(0, 2, n)
        answer = ours.step(actions)
        _assert_alike(answer, theirs.step(actions), step)
        ended = answer[2] | answer[3]
        ends += ended.sum()
        if mode is AutoresetMode.DISABLED and ended.any():
            masked = ours.reset(options={"reset_mask": ended})
            _assert_alike(masked, theirs.reset(options={"reset_mask": ended}), step)
            np.testing.assert_array_equal(masked[1]["_lost"], ended)
    assert ends >= n
    seeds = [3, *[None] * (n - 1)]
    _assert_alike(ours.reset(seed=seeds), theirs.reset(seed=seeds), "reset in the middle")


def _assert_alike(ours: Any, theirs: Any, context: Any) -> None:
    """Two answers to one call, of which ours has a picture, too."""
    assert len(ours) == len(theirs)
    np.testing.assert_array_equal(ours[0]["observation"], theirs[0], err_msg=str(context))
    for mine, other in zip(ours[1:-1], theirs[1:-1], strict=True):
        np.testing.assert_array_equal(mine, other, err_msg=str(context))
        assert mine.dtype == other.dtype
    mine, other = ours[-1], theirs[-1]
    assert mine.keys() >= other.keys()
    for key in other.keys() & {"_final_obs", "_final_info"}:
        np.testing.assert_array_equal(mine[key], other[key])
    for one, another in zip(mine.get("final_obs", []), other.get("final_obs", []), strict=True):
        np.testing.assert_array_equal(one if one is None else one["observation"], another)


PONG = "gym-core.PongDeterministic-v3"
pytestmark = [pytest.mark.display, pytest.mark.filterwarnings("ignore:.*is out of date:DeprecationWarning")]

Make = Callable[..., PluriverseVectorEnv]


@pytest.fixture
def make(address: str) -> Generator[Make]:
    made: list[PluriverseVectorEnv] = []

    def make(env_id: str, **options: Any) -> PluriverseVectorEnv:
        made.append(PluriverseVectorEnv(env_id, num_envs=2, remotes=address, clock="lockstep", **options))
        return made[-1]

    yield make
    for env in made:
        env.close()


@pytest.mark.parametrize("mode", AutoresetMode)
def test_calls_in_lockstep_are_answered_as_gymnasium_answers_them(mode: AutoresetMode, make: Make) -> None:
    env = make(CART, autoreset_mode=mode)
    assert env.metadata["autoreset_mode"] is mode
    assert_answers_as_gymnasium(env)


def test_infos_name_the_keys_of_lists_of_events_that_each_environment_does_not_use(make: Make) -> None:
    env = make(CART, actions="events", measured="full")
    env.reset()
    *_, infos = env.step([[("KeyEvent", "m", True)], []])
    assert list(infos["ignored"]) == [["m"], []]


def test_pictures_of_all_are_rendered(make: Make) -> None:
    env = make(PONG, render_mode="rgb_array", size=(20, 20))
    with pytest.raises(ResetNeeded):
        env.render()
    env.reset()
    pictures = env.render()
    assert pictures is not None
    assert [picture.shape for picture in pictures] == [(210, 160, 3)] * 2


def test_wrong_use_says_the_rule(make: Make) -> None:
    env = make(CART, autoreset_mode="Disabled")
    both = np.array([True, True])
    with pytest.raises(Misuse, match="the first reset must reset all"):
        env.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(ConfigurationError, match="3 seeds for 2"):
        env.reset(seed=[1, 2, 3])
    for mask in ([True, True], np.array([1, 0]), np.array([True])):
        with pytest.raises(Misuse, match="NumPy array of 2 booleans"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(Misuse, match="selects no environment"):
        env.reset(options={"reset_mask": ~both})
    with pytest.raises(Misuse, match="no options"):
        env.reset(options={"mask": both})
    env.reset(options={"reset_mask": both})
    with pytest.raises(Misuse, match="3 actions for 2"):
        env.step(np.array([0, 1, 0]))
    with pytest.raises(ActionError, match="0 to 1"):
        env.step(np.array([0, 7]))


def test_lost_remote_truncates_its_own_episode_and_the_other_plays_on() -> None:
    options: dict[str, Any] = {"clock": "lockstep", "autoreset_mode": "SameStep", "measured": "full"}
    with contextlib.closing(PluriverseVectorEnv(PONG, num_envs=2, remotes="local:2", **options)) as env:
        _, before = env.reset()
        daemon_at(env.core.env.addresses[0]).kill()
        while True:
            observations, _, terminations, truncations, infos = env.step(np.array([0, 1]))
            assert observations in env.observation_space
            assert not terminations.any()
            assert not truncations[1]
            if truncations[0]:
                break
        assert infos["final_info"]["lost"][0]
        assert infos["final_info"]["error"][0]
        assert not infos["lost"][1]
        # The next step waits until the first one is back, if this one hasn't.
        _, rewards, terminations, truncations, infos = env.step(np.array([0, 1]))
        assert not (terminations | truncations).any()
        assert not infos["lost"].any()
        assert rewards[0] == 0
        assert infos["env_status.episode_id"][1] == before["env_status.episode_id"][1]
