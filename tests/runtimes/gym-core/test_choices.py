"""What agents are told of each environment's keys and actions, compared with Gymnasium and ale-py themselves."""

import contextlib
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, cast

import ale_py
import gymnasium
import numpy as np
import pytest
from gym_core import choices, emulators, tables
from gym_core.catalogue import Entry, entries
from gym_core.catalogue import Gymnasium as GymnasiumGame
from gym_core.controls import DOWN, FIRE, LEFT, RIGHT, UP, Held, controls_of, joystick
from gym_core.gymnasium_env import GymnasiumEnvironment
from pluriverse_protocol.atari import ACTIONS, MINIMAL_ACTIONS
from pluriverse_protocol.env_spaces import Spaces, parse

ENTRIES = {entry.id.removeprefix("gym-core."): entry for entry in entries()}
GAMES = {
    game.id: entry for entry in ENTRIES.values() if isinstance(game := entry.game, GymnasiumGame) and not entry.sync
}

CONTINUOUS = (
    "BipedalWalker-v3",
    "BipedalWalkerHardcore-v3",
    "CarRacing-v3",
    "LunarLanderContinuous-v3",
    "MountainCarContinuous-v0",
    "Pendulum-v1",
)


def spaces_of(entry: Entry) -> Spaces:
    return parse(entry.as_json()["spaces"])


@contextlib.contextmanager
def made(game: GymnasiumGame) -> Generator[GymnasiumEnvironment]:
    environment = GymnasiumEnvironment(game)
    try:
        yield environment
    finally:
        environment.close()


def action_space(environment: GymnasiumEnvironment) -> Any:
    return environment._env.action_space  # pyright: ignore[reportPrivateUsage]


def number_of(space: Any) -> int | None:
    """How many actions there are, where they are numbers."""
    if not isinstance(space, gymnasium.spaces.Discrete):
        return None
    assert space.start == 0  # pyright: ignore[reportUnknownMemberType]
    return int(cast("Any", space).n)


@pytest.mark.slow
def test_the_tables_of_actions_are_those_of_ale_py() -> None:
    ale = emulators.import_ale()()
    actions = cast("Any", ale_py.Action)
    assert {name: member.value for name, member in actions.__members__.items()} == {
        name: number for number, name in enumerate(ACTIONS)
    }
    # One game for each set: a ROM takes a while to load.
    for rom in {actions: rom for rom, actions in MINIMAL_ACTIONS.items()}.values():
        ale.loadROM(str(Path(ale_py.__file__).parent / "roms" / f"{rom}.bin"))  # pyright: ignore[reportUnknownMemberType]
        minimal = cast("list[Any]", ale.getMinimalActionSet())  # pyright: ignore[reportUnknownMemberType]
        assert MINIMAL_ACTIONS[rom] == tuple(action.value for action in minimal), rom


def test_the_keys_of_an_atari_choice_are_gymnasiums_action_of_that_number() -> None:
    for rom in tables.ATARI_GAMES:
        described = parse(choices.of_atari(rom, full=False, sync=False))
        actions = [joystick(frozenset(choice.keys)) for choice in described.discrete]
        assert tuple(actions) == MINIMAL_ACTIONS[rom], rom
        assert [choice.name for choice in described.discrete] == [ACTIONS[action] for action in actions], rom
        assert set(described.keys) == {LEFT, RIGHT, UP, DOWN, FIRE}, rom


def test_the_full_set_has_each_action_in_ale_pys_order() -> None:
    described = parse(choices.of_atari("pong", full=True, sync=True))
    assert tuple(choice.name for choice in described.discrete) == ACTIONS
    assert [joystick(frozenset(choice.keys)) for choice in described.discrete] == list(range(len(ACTIONS)))


@pytest.mark.parametrize("ids", [tables.REAL_TIME, tables.TOY_TEXT, tables.MINIGRID, tables.BABYAI])
def test_the_keys_of_a_choice_are_gymnasiums_action_of_that_number(ids: Iterable[str]) -> None:
    for id_ in ids:
        with made(GymnasiumGame(id_)) as environment:
            if (count := number_of(action_space(environment))) is not None:
                choices = spaces_of(GAMES[id_]).discrete
                actions = [environment._action(frozenset(choice.keys)) for choice in choices]  # pyright: ignore[reportPrivateUsage]
                assert actions == list(range(count)), id_


@pytest.mark.parametrize("id_", CONTINUOUS)
def test_the_choices_of_a_continuous_environment_are_actions_of_it_each_once(id_: str) -> None:
    held, described = controls_of(id_), spaces_of(GAMES[id_])
    assert isinstance(held, Held)
    actions = [held.action(frozenset(choice.keys)) for choice in described.discrete]
    assert len(set(actions)) == len(actions) <= choices.MAX_COMBINATIONS
    assert described.discrete[0].keys == ()
    assert set(described.keyboard) == set(held.keys)
    with made(GymnasiumGame(id_)) as environment:
        space = action_space(environment)
        assert all(space.contains(np.array(action, np.float32)) for action in actions)


@pytest.mark.parametrize(
    ("id_", "names"),
    [
        ("LunarLanderContinuous-v3", ["none", "Left", "Right", "Up", "Left+Up", "Right+Up"]),
        ("BipedalWalker-v3", ["none", "Left", "Right", "Down", "Up", "a", "d", "s", "w"]),
        ("CartPole-v0", ["push left", "push right"]),
        ("Blackjack-v1", ["stick", "hit"]),
        ("Taxi-v4", ["south", "north", "east", "west", "pick up", "drop off"]),
    ],
)
def test_choices_are_named_for_people(id_: str, names: list[str]) -> None:
    assert [choice.name for choice in spaces_of(GAMES[id_]).discrete] == names


def test_text_and_observations_are_promised_exactly_where_they_come() -> None:
    for id_ in ("CartPole-v0", "CartPoleLowD-v0", "Pendulum-v1", "Taxi-v4", "MiniGrid-Empty-5x5-v0", "BabyAI-GoTo-v0"):
        entry = ENTRIES[id_]
        assert isinstance(entry.game, GymnasiumGame)
        described = spaces_of(entry)
        with made(entry.game) as environment:
            environment.reset(3)
            observation, text = environment.observation(), environment.text()
        assert described.observation == (None if observation is None else np.shape(observation)), id_
        assert described.text == bool(text), id_
