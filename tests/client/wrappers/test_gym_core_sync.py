from zlib import crc32

import pluriverse
import pytest
from pluriverse.errors import ConfigurationError, RemoteFailed
from pluriverse.rewarder.result import Result
from pluriverse.wrappers import CropObservation, GymCoreAction, GymCoreSync, gym_core_sync
from pluriverse.wrappers.gym_core_sync import SyncStep
from support.scripted import ScriptedEnv

pytestmark = pytest.mark.display

STEPS = 40

LONGEST_MOMENT_S = 0.5


def test_each_step_is_one_step_of_the_game_and_repeats_with_its_seed(address: str) -> None:
    with pluriverse.make("gym-core.PongDeterministicSync-v3", address) as core:
        env = CropObservation(GymCoreAction(GymCoreSync(core)))
        assert env.metadata["semantics.async"] is False

        def seen() -> list[int]:
            core.seed(5)
            pictures = [crc32(env.reset()[0]["vision"].tobytes())]
            for action in [3, 3, 2, 1, 5, 0] * (STEPS // 6):
                (observation,), _, (done,), info = env.step([action])
                assert (info["n"][0]["stats.reward.count"], done) == (1, False)
                pictures.append(crc32(observation["vision"].tobytes()))
            return pictures

        first = seen()
        assert seen() == first
        assert first[0] != first[-1]


def test_end_of_an_episode_brings_the_next_ones_first_picture(address: str) -> None:
    with pluriverse.make("gym-core.CartPoleLowDSync-v0", address) as core:
        env = GymCoreSync(core)
        env.reset()
        while True:
            (observation,), (reward,), (done,), info = env.step([[]])
            assert reward == 1.0
            assert observation is not None
            if done:
                break
        assert info["n"][0]["terminated"] is True
        # A pole that stands straight: the new episode's.
        assert abs(observation["observation"][2]) < 0.05


def test_environment_that_is_not_sync_says_so(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pluriverse.make("gym-core.FrozenLake-v1", address) as core:
        env = GymCoreSync(core)
        env.reset()
        monkeypatch.setattr(gym_core_sync, "LOST_S", 0.3)
        with pytest.raises(RemoteFailed, match=r"is .* a Sync environment"):
            env.step([[]])


def stepped(clock: float, *, count: int = 1, pixels: int = 500) -> Result:
    """What comes of a step whose reward was sent at clock 101."""
    return Result(reward_count=count, updates=1, pixels=pixels, image_remote_time=clock, remote_time=101.0)


def test_step_is_over_with_its_reward_and_a_later_picture() -> None:
    step = SyncStep(10.0)
    for result in (stepped(100.0, count=0), stepped(100.5)):
        step.take(result, 10.0)
        assert not step.is_over(10.0)
    step.take(stepped(101.5), 10.0)
    assert step.is_over(10.0)


def test_picture_of_which_only_the_clock_came_is_given_a_moment() -> None:
    step = SyncStep(10.0)
    step.take(stepped(101.5, pixels=8), 10.0)
    assert not step.is_over(10.0)
    assert step.is_over(10.0 + LONGEST_MOMENT_S)


def test_the_rest_of_a_picture_has_come_by_the_next_clock() -> None:
    step = SyncStep(10.0)
    step.take(stepped(101.5, pixels=8), 10.0)
    step.take(stepped(101.5, pixels=8), 10.0)
    assert not step.is_over(10.0)
    step.take(stepped(101.6, pixels=8), 10.0)
    assert step.is_over(10.0)


def test_it_wraps_vectors_of_remotes_only() -> None:
    with pytest.raises(ConfigurationError, match="wraps a VectorEnv"):
        GymCoreSync(ScriptedEnv())
