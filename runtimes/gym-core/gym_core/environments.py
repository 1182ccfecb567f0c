"""Makes environments by id, and keeps what takes long to make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import catalogue
from .catalogue import Atari, Entry, Gymnasium
from .environment import Environment

if TYPE_CHECKING:
    from .emulators import Emulators


class UnknownEnvironment(Exception):
    """The catalogue has no environment of this id."""


class Environments:
    """The catalogue, the environment in use, and the emulators. Each library is imported when it's first needed."""

    def __init__(self) -> None:
        self._entries = {entry.id: entry for entry in catalogue.entries()}
        self._current: tuple[Atari | Gymnasium, Environment] | None = None
        self._emulators: Emulators | None = None

    def entry(self, env_id: str) -> Entry:
        """Return the catalogue's entry of an id.

        Raises:
            UnknownEnvironment: there is none.
        """
        try:
            return self._entries[env_id]
        except KeyError:
            raise UnknownEnvironment(
                f"there is no environment {env_id!r} in this runtime; python catalogue.py lists those there are"
            ) from None

    def environment(self, entry: Entry) -> Environment:
        """The environment to reset and play; the one that was made before it is closed."""
        if self._current is not None:
            game, environment = self._current
            if game == entry.game:
                return environment
            environment.close()
        environment = self._make(entry.game)
        self._current = (entry.game, environment)
        return environment

    def _make(self, game: Atari | Gymnasium) -> Environment:
        if isinstance(game, Atari):
            from .atari import AtariEnvironment
            from .emulators import Emulators

            self._emulators = self._emulators or Emulators()
            return AtariEnvironment(game, self._emulators)
        from .gymnasium_env import GymnasiumEnvironment

        return GymnasiumEnvironment(game)
