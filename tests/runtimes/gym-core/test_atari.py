import itertools

import ale_py
import numpy as np
import pytest
from gym_core import emulators
from gym_core.atari import AtariEnvironment, Frameskips
from gym_core.catalogue import Atari
from gym_core.controls import DOWN, FIRE, LEFT, RIGHT, UP, joystick
from gym_core.emulators import Emulators

NAMES = {UP: "UP", DOWN: "DOWN", LEFT: "LEFT", RIGHT: "RIGHT", FIRE: "FIRE"}


def test_keys_move_the_joystick_as_ale_names_it() -> None:
    for pressed in itertools.product((False, True), repeat=5):
        keys = {key for key, down in zip(NAMES, pressed, strict=True) if down}
        moving = {key for key in keys if not any({key} < pair <= keys for pair in ({LEFT, RIGHT}, {UP, DOWN}))}
        name = "".join(words for key, words in NAMES.items() if key in moving) or "NOOP"
        assert joystick(frozenset(keys)) == getattr(ale_py.Action, name).value, name


def test_drawn_frameskips_are_two_to_four_and_the_seed_says_which() -> None:
    first, again, other = Frameskips(None, 7), Frameskips(None, 7), Frameskips(None, 8)
    drawn = [first.next() for _ in range(200)]
    assert set(drawn) == {2, 3, 4}
    assert drawn == [again.next() for _ in range(200)]
    assert drawn != [other.next() for _ in range(200)]


@pytest.mark.parametrize(("rom", "height"), [("breakout", 210), ("seaquest", 210), ("air_raid", 250)])
def test_the_picture_is_the_games_in_bgrx_however_late_its_colours_come(rom: str, height: int) -> None:
    game, fire = Atari(rom, 1, 0.0), frozenset({FIRE})
    environment, direct = AtariEnvironment(game, Emulators()), Emulators().begin(game, 1)
    environment.reset(1)
    assert environment.size == (160, height)
    for _ in range(300):
        picture = np.zeros((height, 160, 4), np.uint8)
        environment.frame()
        environment.draw(picture, 0, height)
        assert np.array_equal(picture[:, :, 2::-1], direct.getScreenRGB())
        assert np.array_equal(environment.rgb(), direct.getScreenRGB())
        environment.step(fire)
        direct.act(joystick(fire))


@pytest.mark.parametrize("frameskip", [1, 4])
def test_the_maximum_of_two_frames_shows_all_that_flickers(frameskip: int) -> None:
    game, keys = Atari("asteroids", frameskip, 0.0, max_pool=True), frozenset({FIRE, LEFT})
    environment, direct = AtariEnvironment(game, Emulators()), Emulators().begin(game, 1)
    environment.reset(1)
    frames = [direct.getScreenRGB()]
    flickered = False
    for _ in range(100):
        picture = np.zeros((210, 160, 4), np.uint8)
        assert environment.frame().shape == picture.shape
        environment.draw(picture, 0, 100)
        environment.draw(picture, 100, 210)
        pooled = np.maximum(*frames[-2:]) if len(frames) > 1 else frames[0]
        assert np.array_equal(picture[:, :, 2::-1], pooled)
        assert np.array_equal(environment.rgb(), pooled)
        flickered = flickered or not np.array_equal(pooled, frames[-1])
        environment.step(keys)
        for _ in range(frameskip):
            direct.act(joystick(keys))
            frames.append(direct.getScreenRGB())
    assert flickered


@pytest.mark.parametrize("rom", ["asteroids", "air_raid"])
def test_the_maximum_is_the_same_however_few_frames_are_looked_at(rom: str) -> None:
    game, keys = Atari(rom, 1, 0.0, max_pool=True), frozenset({FIRE, LEFT})
    environment, direct = AtariEnvironment(game, Emulators()), Emulators().begin(game, 1)
    environment.reset(1)
    before = direct.getScreenRGB()
    for _ in range(60):
        for _ in range(7):
            environment.step(keys)
            before = direct.getScreenRGB()
            direct.act(joystick(keys))
        pooled = np.maximum(before, direct.getScreenRGB())
        assert np.array_equal(environment.rgb(), pooled)
        assert np.array_equal(environment.frame()[:, :, 2::-1], pooled)


def test_skipped_frames_change_no_picture_but_one_that_they_end_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulators, "MAX_FRAMES", 100)
    keys = frozenset({FIRE, LEFT})
    skipping, stepping, plain = (
        AtariEnvironment(Atari("asteroids", 1, 0.0, max_pool=pools), Emulators()) for pools in (True, True, False)
    )
    for environment in (skipping, stepping, plain):
        environment.reset(1)
    frame, over, seen = 0, False, True
    while not over:
        frame += 1
        seen = frame % 3 == 0
        outcome = (skipping.step if seen else skipping.skip)(keys)
        assert outcome == stepping.step(keys) == plain.step(keys)
        assert not seen or np.array_equal(skipping.rgb(), stepping.rgb())
        over = outcome.is_last
    assert not seen
    assert np.array_equal(skipping.rgb(), plain.rgb())


def test_an_episode_is_truncated_at_the_emulators_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulators, "MAX_FRAMES", 50)
    environment = AtariEnvironment(Atari("pong", 4, 0.0), Emulators())
    environment.reset(1)
    outcomes = [environment.step(frozenset()) for _ in range(13)]
    assert not any(outcome.terminated for outcome in outcomes)
    assert [outcome.truncated for outcome in outcomes] == [False] * 12 + [True]
    assert outcomes[-1].reason.startswith("time limit")
