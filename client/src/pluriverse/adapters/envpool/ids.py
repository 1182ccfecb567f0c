"""Which environments there are: pluriverse's by their ids, and gym-core's Atari games by EnvPool's names as well."""

from __future__ import annotations

import re
from typing import Final

from pluriverse.errors import ConfigurationError

from .config import ATARI, Config

# EnvPool's name of an Atari game. Its frames are skipped on this side, its sticky actions drawn here too, so that it is
# the version of the game that has neither.
_ATARI_NAME: Final = re.compile(r"([A-Z][A-Za-z0-9]*)-v5")
_REMOTE_NAME: Final = re.compile(r"gym-core\.([A-Z][A-Za-z0-9]*)NoFrameskip-v3")


def resolve(task_id: str) -> tuple[str, Config]:
    """The id of the remote's environment, and the defaults of its options.

    Raises:
        ConfigurationError: it is neither an id of pluriverse's nor one of EnvPool's Atari games.
    """
    if atari := _ATARI_NAME.fullmatch(task_id):
        return f"gym-core.{atari[1]}NoFrameskip-v3", ATARI
    if "." in task_id:
        return task_id, Config()
    raise ConfigurationError(
        f"there is no environment {task_id!r}; expected one of pluriverse's, such as gym-core.PongNoFrameskip-v3, or "
        "an Atari game by EnvPool's name, such as Pong-v5; list_all_envs() has all that are on this machine"
    )


def list_all_envs() -> list[str]:
    """All environments of this machine's runtimes and images, and EnvPool's names of the Atari games among them.

    Raises:
        CatalogueError: a runtime can't say what it has.
    """
    # Docker's client, which asks for images, takes longer to load than most scripts want to wait.
    from pluriverse.catalogue import environments

    ids = [str(entry["id"]) for entry in environments()]
    games = (_REMOTE_NAME.fullmatch(id_) for id_ in ids)
    return [f"{game[1]}-v5" for game in games if game] + ids
