import numpy as np
import pytest
from gym_core.catalogue import entries
from pluriverse.errors import ActionError, ConfigurationError
from pluriverse.wrappers import GymCoreAction, SafeActionSpace, SoftmaxClickMouse
from pluriverse.wrappers.actions import gym_core_actions
from pluriverse_protocol.events import KeyEvent, PointerEvent
from support.scripted import ScriptedEnv


def test_every_atari_game_and_cart_pole_of_gym_core_has_actions() -> None:
    ids = [entry.id for entry in entries() if "frameskip" in entry.title or "every frame" in entry.title]
    assert len(ids) == 104 * 8 * 2
    for env_id in [*ids, "gym-core.CartPole-v0", "gym-core.CartPoleLowDSync-v0"]:
        assert len(gym_core_actions(env_id)) >= 2


def test_action_is_all_keys_of_the_game_down_or_up() -> None:
    env = ScriptedEnv(env_id="gym-core.PongDeterministic-v3")
    wrapped = GymCoreAction(env)
    assert wrapped.action_space.n == 6
    # RIGHTFIRE is Pong's fifth.
    wrapped.step([4])
    assert {(event.keysym, event.down) for event in env.actions[0][0]} == {
        (0xFF52, False),
        (0xFF51, False),
        (0xFF53, True),
        (0xFF54, False),
        (ord("z"), True),
    }
    wrapped.step([np.array([0])])
    assert not any(event.down for event in env.actions[1][0])
    wrapped.step([[KeyEvent(1, True)]])
    assert env.actions[2] == [[KeyEvent(1, True)]]
    with pytest.raises(ActionError, match="0 to 5"):
        wrapped.step([6])


def test_cart_pole_is_pushed_left_while_left_is_held() -> None:
    assert gym_core_actions("gym-core.CartPole-v0") == [[KeyEvent(0xFF51, True)], [KeyEvent(0xFF51, False)]]


@pytest.mark.parametrize("env_id", ["", "gym-core.LunarLander-v3", "gym-core.Pongg-v0", "wob.mini.ClickTest-v0"])
def test_other_environments_have_none(env_id: str) -> None:
    with pytest.raises(ConfigurationError, match="isn't an Atari game"):
        gym_core_actions(env_id)


def test_safe_action_space_gives_what_means_something() -> None:
    pong = SafeActionSpace(ScriptedEnv(env_id="gym-core.Pong-v0"))
    assert len(pong.action_space.actions) == 6
    assert pong.action_space.contains(pong.action_space.sample())
    drive = SafeActionSpace(ScriptedEnv(env_id="flashgames.DuskDrive-v0"))
    assert len(drive.action_space.actions) == 3
    unknown = ScriptedEnv(env_id="toy.First-v0")
    assert SafeActionSpace(unknown).action_space is unknown.action_space


def test_action_clicks_the_middle_of_its_cell() -> None:
    env = ScriptedEnv()
    mouse = SoftmaxClickMouse(env, (0, 0, 25, 20), step=10)
    assert mouse.points == [(5, 5), (5, 15), (15, 5), (15, 15), (24, 5), (24, 15)]
    assert mouse.action_space.n == 6
    mouse.step([1])
    assert env.actions == [[[PointerEvent(5, 15, 0), PointerEvent(5, 15, 1), PointerEvent(5, 15, 0)]]]
    mouse.step([None])
    assert env.actions[1] == [[]]
    assert mouse.nearest(16, 13) == 3
    with pytest.raises(ActionError, match="0 to 5"):
        mouse.step([6])


def test_cells_in_regions_without_clicks_are_left_out() -> None:
    assert SoftmaxClickMouse(ScriptedEnv(), (0, 0, 20, 20), noclick_regions=[(0, 0, 9, 9)]).points == [
        (5, 15),
        (15, 5),
        (15, 15),
    ]
