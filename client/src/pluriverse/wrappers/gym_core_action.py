"""Gym's action numbers as the keys that gym-core listens to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from pluriverse_protocol.events import Event, KeyEvent

from pluriverse.env.base import Env, Wrapper
from pluriverse.errors import ActionError, ConfigurationError
from pluriverse.spaces import DiscreteSpace

from .atari_actions import MEANINGS, MINIMAL

LEFT: Final = 0xFF51
UP: Final = 0xFF52
RIGHT: Final = 0xFF53
DOWN: Final = 0xFF54
FIRE: Final = ord("z")

_KEYS: Final = {"UP": UP, "LEFT": LEFT, "RIGHT": RIGHT, "DOWN": DOWN, "FIRE": FIRE}
_CART_POLE: Final = ([KeyEvent(LEFT, True)], [KeyEvent(LEFT, False)])
_ID: Final = re.compile(
    r"gym-core\.(?P<game>[A-Za-z]+?)(?:30FPS|Slow|Sync|Deterministic|DeterministicSlow|DeterministicSync|NoFrameskip"
    r"|LowD|LowDSync)?-v\d+"
)


class GymCoreAction(Wrapper):
    """Action i is Gym's action i of the game: its minimal set for Atari, push left or right for Cart Pole.

    Lists of events are passed on as they are. A GymCoreSync goes inside: it wants events.
    """

    def __init__(self, env: Env, env_id: str | None = None) -> None:
        """``env_id``: of whose actions; if not given, the environment's own.

        Raises:
            ConfigurationError: it isn't an Atari game or Cart Pole of gym-core.
        """
        super().__init__(env)
        env_id = env_id or (env.spec.id if env.spec is not None else "")
        self._actions = gym_core_actions(env_id)
        self.action_space = DiscreteSpace(self._actions)

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see."""
        return self.env.step([self._events(index, action) for index, action in enumerate(action_n)])

    def _events(self, index: int, action: Any) -> Sequence[Any]:
        if isinstance(action, list | tuple):
            return cast("Sequence[Any]", action)
        # Policies hand out NumPy's numbers, and arrays of one.
        number = int(action.item() if hasattr(action, "item") else action)
        if not 0 <= number < len(self._actions):
            raise ActionError(f"action {index} is {action!r:.80}; expected an integer of 0 to {len(self._actions) - 1}")
        return self._actions[number]


def gym_core_actions(env_id: str) -> list[list[Event]]:
    """What each of Gym's actions of an environment of gym-core sends: every key of the game, down or up.

    Raises:
        ConfigurationError: there is no such Atari game or Cart Pole.
    """
    match = _ID.fullmatch(env_id)
    game = match["game"] if match else ""
    if game == "CartPole":
        return [list(action) for action in _CART_POLE]
    if game not in MINIMAL:
        raise ConfigurationError(
            f"{env_id!r} is no Atari game or Cart Pole of gym-core; expected such as gym-core.PongDeterministic-v3"
        )
    return [_held(MEANINGS[code]) for code in MINIMAL[game]]


def _held(meaning: str) -> list[Event]:
    """All five keys as they are for one of ALE's actions, such as UPRIGHTFIRE."""
    return [KeyEvent(keysym, name in meaning) for name, keysym in _KEYS.items()]
