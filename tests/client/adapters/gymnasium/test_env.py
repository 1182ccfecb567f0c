from collections.abc import Generator
from typing import Any

import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.errors import ConfigurationError
from support.xvfb import Xvfb

pytestmark = pytest.mark.display

PONG = "gym-core.PongDeterministic-v3"
CART = "gym-core.CartPoleLowD-v0"


@pytest.fixture
def pong(address: str) -> Generator[PluriverseEnv]:
    env = PluriverseEnv(PONG, remotes=address, render_mode="rgb_array")
    yield env
    env.close()


@pytest.fixture
def cart(address: str) -> Generator[PluriverseEnv]:
    env = PluriverseEnv(CART, remotes=address, clock="lockstep", measured=False)
    yield env
    env.close()


def episode(env: PluriverseEnv, **reset: Any) -> list[Any]:
    observation, _ = env.reset(**reset)
    given: list[Any] = [observation["observation"].tolist()]
    terminated = False
    while not terminated:
        observation, reward, terminated, truncated, _ = env.step(1)
        assert not truncated
        given.append((observation["observation"].tolist(), reward))
    return given


def test_steps_in_real_time_give_new_frames_and_say_how_late_they_are(pong: PluriverseEnv) -> None:
    observation, info = pong.reset(seed=1)
    assert observation.shape == (210, 160, 3)
    assert pong.metadata["render_fps"] == 60
    assert info["lost"] is False
    clocks: list[float] = []
    for _ in range(10):
        observation, _, _, _, info = pong.step(pong.action_space.sample())
        assert "stats.gauges.diagnostics.lag.observation" in info
        clocks.append(info["diagnostics.image_remote_time"])
    assert clocks == sorted(set(clocks))
    picture = pong.render()
    assert picture is not None
    assert (picture == observation).all()


def test_pictures_are_made_as_asked_and_rates_follow(address: str) -> None:
    with PluriverseEnv(PONG, remotes=address, size=[40, 50], grey=True, crop=[0, 34, 160, 160], frame_skip=2) as env:
        assert env.observation_space.shape == (40, 50, 1)
        assert env.metadata["render_fps"] == 30
        assert env.reset()[0].any()
        assert env.render() is None


def test_same_seed_gives_the_same_run_of_episodes(cart: PluriverseEnv) -> None:
    first = [episode(cart, seed=4), episode(cart), episode(cart)]
    assert first == [episode(cart, seed=4), episode(cart), episode(cart)]
    assert first[0] != first[1] != first[2]
    assert first[0] != episode(cart, seed=5)


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
def test_reset_begins_another_environment_with_the_same_spaces_in_the_same_remote(address: str, clock: str) -> None:
    with PluriverseEnv("gym-core.BoxingDeterministic-v3", remotes=address, clock=clock) as env:
        boxing, _ = env.reset(seed=1)
        for options in ({"env": "gym-core.TennisDeterministic-v3"}, {}):
            tennis, _ = env.reset(seed=1, options=options)
            assert (tennis != boxing).mean() > 0.5
        env.reset(options={"env_options": {"difficulty": 3}})
        assert env.step(0)[0].shape == boxing.shape


def test_another_environment_with_other_spaces_is_refused_and_the_one_before_goes_on(cart: PluriverseEnv) -> None:
    before = episode(cart, seed=4)
    with pytest.raises(ConfigurationError, match=r"PongDeterministic-v3 has other actions.* than .*CartPoleLowD-v0"):
        cart.reset(seed=4, options={"env": PONG})
    assert episode(cart, seed=4) == before


def test_info_names_the_keys_of_a_list_of_events_that_the_environment_does_not_use(address: str) -> None:
    with PluriverseEnv(CART, remotes=address, clock="lockstep", actions="events") as env:
        _, info = env.reset(seed=4)
        assert info["ignored"] == []
        *_, info = env.step([("KeyEvent", "m", True), ("KeyEvent", "ArrowLeft", True)])
        assert info["ignored"] == ["m"]


def test_more_than_one_remote_is_refused_and_vectors_are_named() -> None:
    with pytest.raises(ConfigurationError, match=r"there are 2 remotes .*make_vec"):
        PluriverseEnv(PONG, remotes="local:2")


def test_human_watches(address: str, tk_display: Xvfb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", tk_display.name)
    with PluriverseEnv(PONG, remotes=address, render_mode="human") as env:
        env.reset()
        assert tk_display.pixels().any()
        env.step(0)
        assert env.render() is None
    assert not tk_display.pixels().any()
