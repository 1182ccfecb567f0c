"""Wrappers that offer a few actions instead of a whole keyboard and mouse."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from pluriverse_protocol.atari import ACTIONS, MINIMAL_ACTIONS
from pluriverse_protocol.events import Event, KeyEvent, PointerEvent

from pluriverse.env.base import Env, Step, Wrapper
from pluriverse.errors import ActionError, ConfigurationError
from pluriverse.spaces import ChoiceSpace, DiscreteSpace

LEFT: Final = 0xFF51
UP: Final = 0xFF52
RIGHT: Final = 0xFF53
DOWN: Final = 0xFF54
SPACE: Final = 0x20
FIRE: Final = ord("z")

_KEYS: Final = {"UP": UP, "LEFT": LEFT, "RIGHT": RIGHT, "DOWN": DOWN, "FIRE": FIRE}

# By gym-core's names of the games, such as MsPacman.
_ATARI: Final = {
    "".join(word.capitalize() for word in game.split("_")): actions for game, actions in MINIMAL_ACTIONS.items()
}
_GYM_CORE_ID: Final = re.compile(
    r"gym-core\.(?P<game>[A-Za-z0-9]+?)(?:30FPS|Slow|Sync|Deterministic|DeterministicSlow|DeterministicSync|NoFrameskip"
    r"|LowD|LowDSync)?-v\d+"
)

# The task's area of World of Bits, in pixels: left, top, right, bottom.
WORLD_OF_BITS: Final = (10, 125, 170, 285)

Box = tuple[int, int, int, int]


class _DiscreteActions(Wrapper):
    """Action i sends ``actions[i]``; lists of events are passed on as they are."""

    def __init__(self, env: Env, actions: Sequence[Sequence[Event]]) -> None:
        super().__init__(env)
        self._actions = actions
        self.action_space: Any = DiscreteSpace(actions)

    def step(self, action_n: Any) -> Step:
        """See ``Env.step``; an action is an integer or a list of events."""
        return self.env.step([self._events(index, action) for index, action in enumerate(action_n)])

    def _events(self, index: int, action: Any) -> Sequence[Any]:
        if isinstance(action, list | tuple):
            return cast("Sequence[Any]", action)
        # Policies give NumPy's numbers, and arrays of one.
        number = int(action.item() if hasattr(action, "item") else action)
        if not 0 <= number < len(self._actions):
            raise ActionError(f"action {index} is {action!r:.80}; expected an integer of 0 to {len(self._actions) - 1}")
        return self._actions[number]


class GymCoreAction(_DiscreteActions):
    """Action i is Gym's action i of the game: its minimal set for Atari, push left or right for Cart Pole.

    Lists of events are passed on as they are. A GymCoreSync goes inside: it wants events.
    """

    def __init__(self, env: Env, env_id: str | None = None) -> None:
        """``env_id``: the environment whose actions to offer; by default ``env``'s own.

        Raises:
            ConfigurationError: it isn't an Atari game or Cart Pole of gym-core.
        """
        super().__init__(env, gym_core_actions(env_id or (env.spec.id if env.spec is not None else "")))


class SoftmaxClickMouse(_DiscreteActions):
    """Divides ``active_region`` (left, top, right, bottom) into cells of ``step`` pixels; action i clicks cell i.

    Cells go down each column, then to the next column. Those whose middle is in a region of ``noclick_regions`` (left,
    top, right, bottom) are left out. None does nothing; lists of events are passed on as they are.
    """

    def __init__(
        self,
        env: Env,
        active_region: Box = WORLD_OF_BITS,
        *,
        step: int = 10,
        noclick_regions: Sequence[Box] = (),
    ) -> None:
        """``points`` are the middles of the cells, (x, y) in pixels of the screen."""
        left, top, right, bottom = active_region
        middles = [
            (min(x + step // 2, right - 1), min(y + step // 2, bottom - 1))
            for x in range(left, right, step)
            for y in range(top, bottom, step)
        ]
        self.points: list[tuple[int, int]] = [
            (x, y)
            for x, y in middles
            if not any(box[0] <= x <= box[2] and box[1] <= y <= box[3] for box in noclick_regions)
        ]
        super().__init__(env, [[PointerEvent(x, y, mask) for mask in (0, 1, 0)] for x, y in self.points])

    def nearest(self, x: int, y: int) -> int:
        """Return the cell whose middle is nearest to (x, y)."""
        return min(range(len(self.points)), key=lambda i: (self.points[i][0] - x) ** 2 + (self.points[i][1] - y) ** 2)

    def _events(self, index: int, action: Any) -> Sequence[Any]:
        return () if action is None else super()._events(index, action)


class SafeActionSpace(Wrapper):
    """``action_space.sample()`` returns actions of the game; all others can still be sent.

    The action space of an unknown environment stays as it is.
    """

    def __init__(self, env: Env) -> None:
        """Wrap ``env``, whose ``spec`` names the game."""
        super().__init__(env)
        env_id = env.spec.id if env.spec is not None else ""
        try:
            self.action_space: Any = ChoiceSpace(BY_ID[env_id] if env_id in BY_ID else gym_core_actions(env_id))
        except ConfigurationError:
            return


def gym_core_actions(env_id: str) -> list[list[Event]]:
    """Return what each of Gym's actions of a gym-core environment sends: every key of the game, down or up.

    Raises:
        ConfigurationError: there is no such Atari game or Cart Pole.
    """
    match = _GYM_CORE_ID.fullmatch(env_id)
    game = match["game"] if match else ""
    if game == "CartPole":
        return [[KeyEvent(LEFT, True)], [KeyEvent(LEFT, False)]]
    actions = _ATARI.get(game)
    if actions is None:
        raise ConfigurationError(
            f"{env_id!r} isn't an Atari game or Cart Pole of gym-core; expected e.g. gym-core.PongDeterministic-v3"
        )
    meanings = [ACTIONS[code] for code in actions]
    return [[KeyEvent(key, name in meaning) for name, key in _KEYS.items()] for meaning in meanings]


def _hold_each_of(*keys: int) -> list[list[Event]]:
    return [[KeyEvent(key, key == held) for key in keys] for held in keys]


# The actions of some games of other runtimes.
BY_ID: Final = {
    "flashgames.DuskDrive-v0": _hold_each_of(UP, LEFT, RIGHT),
    "flashgames.RedBeard-v0": _hold_each_of(UP, LEFT, RIGHT, SPACE),
}
