from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vizdoom
from doom.catalogue import entry_of
from doom.controls import CONTROL, KEYS, UP
from doom.engine import Engine
from numpy.typing import NDArray
from support.xvfb import HEIGHT, WIDTH, Xvfb

pytestmark = [pytest.mark.slow, pytest.mark.display]

LEFTWARDS, RIGHTWARDS = KEYS["MOVE_LEFT"], KEYS["MOVE_RIGHT"]
WAIT = frozenset[int]()
WINDOW = ((WIDTH - 640) // 2, (HEIGHT - 480) // 2, 640, 480)


def sweep(tic: int) -> frozenset[int]:
    """Keys that shoot along the whole wall of Basic within its time limit."""
    walking = (tic // 8) % 2 == 0
    return frozenset({CONTROL, LEFTWARDS if tic < 40 else RIGHTWARDS}) if walking else frozenset({CONTROL})


def directly(config: str, buttons: list[str], seed: int) -> Any:
    game: Any = vizdoom.DoomGame()
    game.load_config(str(Path(vizdoom.scenarios_path) / f"{config}.cfg"))
    game.set_screen_resolution(vizdoom.ScreenResolution.RES_640X480)
    game.set_screen_format(vizdoom.ScreenFormat.RGB24)
    game.set_window_visible(False)
    game.set_doom_config_path(str(Path.cwd() / "direct.ini"))
    assert [button.name for button in game.get_available_buttons()] == buttons
    game.init()
    game.set_seed(seed)
    game.new_episode()
    return game


def picture(display: Xvfb) -> NDArray[np.uint8]:
    return display.pixels(*WINDOW)


def test_episode_is_picture_for_picture_what_vizdoom_gives_when_called_directly(engine: Engine, display: Xvfb) -> None:
    direct = directly("basic", ["MOVE_LEFT", "MOVE_RIGHT", "ATTACK"], 7)
    try:
        engine.begin(entry_of("doom.Basic-v0"), 99)
        engine.begin(entry_of("doom.Basic-v0"), 7)
        for tic in range(20):
            assert np.array_equal(picture(display), direct.get_state().screen_buffer), tic
            keys = sweep(tic)
            reward = direct.make_action([int(LEFTWARDS in keys), int(RIGHTWARDS in keys), int(CONTROL in keys)])
            assert engine.step(keys).reward == reward
    finally:
        direct.close()


def test_player_who_dies_has_terminated_and_pays_for_it(engine: Engine) -> None:
    engine.begin(entry_of("doom.DeadlyCorridor-v0"), 1)
    outcome = engine.step(WAIT)
    for _ in range(2000):
        if outcome.reason:
            break
        outcome = engine.step(frozenset({UP}))
    assert (outcome.terminated, outcome.reason) == (True, "died")
    assert outcome.reward < -50
    assert engine.observation()[0] <= 0
