"""Which keys do what, as tables and functions; the README's table is generated from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pluriverse_protocol.atari import ACTIONS

LEFT: Final = 0xFF51
UP: Final = 0xFF52
RIGHT: Final = 0xFF53
DOWN: Final = 0xFF54
PAGE_UP: Final = 0xFF55
PAGE_DOWN: Final = 0xFF56
RETURN: Final = 0xFF0D
SPACE: Final = 0x20

# In Sync environments a press of it is a step.
STEP_KEY: Final = ord("c")
FIRE: Final = ord("z")

NAMES: Final = {
    LEFT: "Left",
    UP: "Up",
    RIGHT: "Right",
    DOWN: "Down",
    PAGE_UP: "Page Up",
    PAGE_DOWN: "Page Down",
    RETURN: "Return",
    SPACE: "space",
}

Keys = frozenset[int]
Action = int | tuple[float, ...]

# ale-py's numbers of the joystick's positions (ale_py.Action), by (right - left, up - down); with the button they are
# another 8 up, but for the one in the middle.
POSITIONS: Final = {
    (0, 0): 0, (0, 1): 2, (1, 0): 3, (-1, 0): 4, (0, -1): 5, (1, 1): 6, (-1, 1): 7, (1, -1): 8, (-1, -1): 9,
}  # fmt: skip
FIRE_ALONE: Final = 1
WITH_FIRE: Final = 8

# A car that brakes with all its force locks its wheels and slides; Gymnasium's own keyboard play brakes this hard.
BRAKE: Final = 0.8


@dataclass(frozen=True, slots=True)
class Held:
    """Real time: the ``keys`` held at a frame make its action. ``meaning`` is for people.

    ``names`` are those of actions 0, 1, … where actions are numbers.
    """

    action: Callable[[Keys], Action]
    keys: tuple[int, ...]
    meaning: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turns:
    """Turn-based: each press of one of these keys is a step with its action."""

    actions: Mapping[int, tuple[int, str]]

    @property
    def meaning(self) -> str:
        return ", ".join(f"{NAMES.get(key, chr(key))}: {words}" for key, (_, words) in self.actions.items())


Controls = Held | Turns


def axis(keys: Keys, minus: int, plus: int, strength: float = 1.0) -> float:
    """Return -strength, 0 or +strength; opposite keys cancel."""
    return strength * ((plus in keys) - (minus in keys))


def joystick(keys: Keys) -> int:
    """Return the action of ale-py's full set for these keys; opposite arrows cancel."""
    position = POSITIONS[int(axis(keys, LEFT, RIGHT)), int(axis(keys, DOWN, UP))]
    if FIRE not in keys:
        return position
    return position + WITH_FIRE if position else FIRE_ALONE


def _cart_pole(keys: Keys) -> Action:
    return 0 if LEFT in keys else 1


def _left_none_right(keys: Keys) -> Action:
    return 1 + int(axis(keys, LEFT, RIGHT))


def _lunar_lander(keys: Keys) -> Action:
    if UP in keys:
        return 2
    return (0, 3, 1)[int(axis(keys, LEFT, RIGHT))]


def _lunar_lander_continuous(keys: Keys) -> Action:
    return (1.0 if UP in keys else 0.0, axis(keys, LEFT, RIGHT))


def _bipedal_walker(keys: Keys) -> Action:
    return (
        axis(keys, LEFT, RIGHT),
        axis(keys, DOWN, UP),
        axis(keys, ord("a"), ord("d")),
        axis(keys, ord("s"), ord("w")),
    )


def _car_racing(keys: Keys) -> Action:
    return (axis(keys, LEFT, RIGHT), 1.0 if UP in keys else 0.0, BRAKE if DOWN in keys else 0.0)


ATARI: Final = Held(joystick, (LEFT, UP, RIGHT, DOWN, FIRE), "the arrows are the joystick, z its button", ACTIONS)
_CART_POLE: Final = Held(
    _cart_pole, (LEFT,), "Left held: push left; otherwise push right", names=("push left", "push right")
)
_WALKER: Final = Held(
    _bipedal_walker,
    (LEFT, RIGHT, DOWN, UP, ord("a"), ord("d"), ord("s"), ord("w")),
    "torque -1 or 1: Left/Right first hip, Down/Up first knee, a/d second hip, s/w second knee",
)
_GRID_WORLD: Final = {LEFT: (0, "left"), DOWN: (1, "down"), RIGHT: (2, "right"), UP: (3, "up")}
_CLIFF: Final = {UP: (0, "up"), RIGHT: (1, "right"), DOWN: (2, "down"), LEFT: (3, "left")}
_TAXI: Final = {
    DOWN: (0, "south"),
    UP: (1, "north"),
    RIGHT: (2, "east"),
    LEFT: (3, "west"),
    SPACE: (4, "pick up"),
    RETURN: (5, "drop off"),
}
_MINIGRID_MOVES: Final = {LEFT: (0, "turn left"), RIGHT: (1, "turn right"), UP: (2, "forward")}
# The keys of minigrid's own manual control.
_MINIGRID: Final = {
    **_MINIGRID_MOVES,
    PAGE_UP: (3, "pick up"),
    PAGE_DOWN: (4, "drop"),
    SPACE: (5, "toggle"),
    RETURN: (6, "done"),
}

BY_ID: Final[dict[str, Controls]] = {
    "Acrobot-v1": Held(
        _left_none_right,
        (LEFT, RIGHT),
        "Left: torque -1, Right: torque 1, neither: 0",
        names=("torque -1", "torque 0", "torque 1"),
    ),
    "BipedalWalker-v3": _WALKER,
    "BipedalWalkerHardcore-v3": _WALKER,
    "Blackjack-v1": Turns({ord("h"): (1, "hit"), ord("s"): (0, "stick")}),
    "CarRacing-v3": Held(
        _car_racing, (LEFT, RIGHT, UP, DOWN), f"Left/Right: steer -1 or 1, Up: gas 1, Down: brake {BRAKE}"
    ),
    "CartPole-v0": _CART_POLE,
    "CartPole-v1": _CART_POLE,
    "CliffWalking-v1": Turns(_CLIFF),
    "CliffWalkingSlippery-v1": Turns(_CLIFF),
    "FrozenLake-v1": Turns(_GRID_WORLD),
    "FrozenLake8x8-v1": Turns(_GRID_WORLD),
    "LunarLander-v3": Held(
        _lunar_lander,
        (LEFT, RIGHT, UP),
        "Up: main engine; else Left/Right: the side engine that pushes that way",
        names=("no engine", "push left", "main engine", "push right"),
    ),
    "LunarLanderContinuous-v3": Held(
        _lunar_lander_continuous,
        (LEFT, RIGHT, UP),
        "Up: main engine in full; Left/Right: lateral -1 or 1, which pushes that way",
    ),
    "MountainCar-v0": Held(
        _left_none_right,
        (LEFT, RIGHT),
        "Left/Right: push that way",
        names=("push left", "no push", "push right"),
    ),
    "MountainCarContinuous-v0": Held(
        lambda keys: (axis(keys, LEFT, RIGHT),), (LEFT, RIGHT), "Left/Right: force -1 or 1"
    ),
    "Pendulum-v1": Held(
        lambda keys: (axis(keys, RIGHT, LEFT, 2.0),),
        (LEFT, RIGHT),
        "Left: torque 2, anticlockwise; Right: -2, clockwise",
    ),
    "Taxi-v4": Turns(_TAXI),
}

# In the order in which they are tried.
BY_PREFIX: Final[dict[str, Controls]] = {
    "MiniGrid-Dynamic-Obstacles-": Turns(_MINIGRID_MOVES),
    "MiniGrid-": Turns(_MINIGRID),
    "BabyAI-": Turns(_MINIGRID),
}


def controls_of(gymnasium_id: str) -> Controls:
    """Return the controls of an environment; raise KeyError if there is no environment of this id here."""
    for prefix, controls in BY_PREFIX.items():
        if gymnasium_id.startswith(prefix):
            return controls
    return BY_ID[gymnasium_id]


def markdown_table() -> str:
    names = {**BY_ID, **{f"{prefix}*": controls for prefix, controls in BY_PREFIX.items()}}
    rows = (
        f"| `{name}` | {'held' if isinstance(controls, Held) else 'a step each'} | {controls.meaning} |"
        for name, controls in names.items()
    )
    return "\n".join(("| environment | keys are | what they do |", "|---|---|---|", *rows))
