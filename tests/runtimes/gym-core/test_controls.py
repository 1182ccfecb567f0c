from pathlib import Path

import pytest
from gym_core import controls
from gym_core.controls import DOWN, LEFT, RIGHT, UP, Action, Held, controls_of

README = Path(controls.__file__).parents[1] / "README.md"


def test_the_readme_shows_the_table_of_keys() -> None:
    assert controls.markdown_table() in README.read_text()


@pytest.mark.parametrize(
    ("id_", "keys", "action"),
    [
        ("CartPole-v0", set[int](), 1),
        ("MountainCar-v0", {LEFT, RIGHT}, 1),
        ("LunarLander-v3", set[int](), 0),
        ("LunarLander-v3", {RIGHT, UP}, 2),
        ("LunarLanderContinuous-v3", {RIGHT, UP}, (1.0, 1.0)),
        ("Pendulum-v1", {LEFT}, (2.0,)),
        ("MountainCarContinuous-v0", {LEFT}, (-1.0,)),
        ("CarRacing-v3", {LEFT, DOWN}, (-1.0, 0.0, 0.8)),
        ("BipedalWalker-v3", {UP, ord("a")}, (0.0, 1.0, -1.0, 0.0)),
    ],
)
def test_held_keys_make_the_action(id_: str, keys: set[int], action: Action) -> None:
    held = controls_of(id_)
    assert isinstance(held, Held)
    assert held.action(frozenset(keys)) == action
