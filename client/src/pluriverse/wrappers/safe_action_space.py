"""Action spaces of what an environment listens to, instead of a whole keyboard and mouse."""

from __future__ import annotations

from typing import Final

from pluriverse_protocol.events import Event, KeyEvent

from pluriverse.env.base import Env, Wrapper
from pluriverse.errors import ConfigurationError
from pluriverse.spaces import ChoiceSpace

from .gym_core_action import LEFT, RIGHT, UP, gym_core_actions

SPACE: Final = 0x20


def _held(keys: tuple[int, ...], *held: int) -> list[Event]:
    return [KeyEvent(key, key in held) for key in keys]


_RACING: Final = (UP, LEFT, RIGHT)
_PLATFORM: Final = (UP, LEFT, RIGHT, SPACE)

# What each game is played with; every action sets all of the game's keys.
BY_ID: Final = {
    "flashgames.DuskDrive-v0": [_held(_RACING, key) for key in _RACING],
    "flashgames.RedBeard-v0": [_held(_PLATFORM, key) for key in _PLATFORM],
}


class SafeActionSpace(Wrapper):
    """``action_space.sample()`` gives actions that mean something; what can be sent stays the same.

    Of environments that it knows nothing about, the action space stays as it is.
    """

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        env_id = env.spec.id if env.spec is not None else ""
        actions = BY_ID.get(env_id)
        if actions is None:
            try:
                actions = gym_core_actions(env_id)
            except ConfigurationError:
                return
        self.action_space = ChoiceSpace(actions)
