"""Every environment: ViZDoom's scenarios, and free play of Freedoom's maps. Prints at once: it imports no ViZDoom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from .controls import choices

PREFIX: Final = "doom."

# Tics a second, as in 1993.
FPS: Final = 35.0

# The structured observation of every environment.
OBSERVATION: Final = ("HEALTH", "ARMOR", "SELECTED_WEAPON_AMMO", "KILLCOUNT")

_MOVE: Final = ("MOVE_LEFT", "MOVE_RIGHT")
_TURN: Final = ("TURN_LEFT", "TURN_RIGHT")
_WEAPONS: Final = tuple(f"SELECT_WEAPON{number}" for number in range(1, 7))
_CYCLE: Final = ("SELECT_NEXT_WEAPON", "SELECT_PREV_WEAPON")
_WALK: Final = ("MOVE_RIGHT", "MOVE_LEFT", "MOVE_BACKWARD", "MOVE_FORWARD", "TURN_RIGHT", "TURN_LEFT")

_FREE_PLAY: Final = ("ATTACK", "SPEED", "STRAFE", "USE", *_WALK, *_WEAPONS, "SELECT_WEAPON7", *_CYCLE)

# ViZDoom's own names of its scenarios, their titles and their buttons, without those that only a mouse can press.
_SCENARIOS: Final[dict[str, tuple[str, str, tuple[str, ...]]]] = {
    "Basic": ("basic", "shoot the monster", (*_MOVE, "ATTACK")),
    "SimplerBasic": ("simpler_basic", "shoot the monster, in plain colours", (*_MOVE, "ATTACK")),
    "RocketBasic": ("rocket_basic", "hit the monster with a rocket", (*_MOVE, "ATTACK")),
    "DeadlyCorridor": (
        "deadly_corridor",
        "reach the armour at the corridor's end",
        (*_MOVE, "ATTACK", "MOVE_FORWARD", "MOVE_BACKWARD", *_TURN),
    ),
    "DefendTheCenter": ("defend_the_center", "shoot who comes from all sides", (*_TURN, "ATTACK")),
    "DefendTheLine": ("defend_the_line", "shoot who comes from ahead", (*_TURN, "ATTACK")),
    "HealthGathering": ("health_gathering", "find medikits on an acid floor", (*_TURN, "MOVE_FORWARD")),
    "HealthGatheringSupreme": (
        "health_gathering_supreme",
        "find medikits in a maze, and no poison",
        (*_TURN, "MOVE_FORWARD"),
    ),
    "MyWayHome": ("my_way_home", "find the vest in a maze", (*_TURN, "MOVE_FORWARD", *_MOVE)),
    "PredictPosition": ("predict_position", "shoot where the monster will be", (*_TURN, "ATTACK")),
    "TakeCover": ("take_cover", "evade the fireballs", _MOVE),
    "Deathmatch": (
        "deathmatch",
        "kill as many as come, with any weapon",
        ("ATTACK", "SPEED", "STRAFE", *_WALK, *_WEAPONS, *_CYCLE),
    ),
}


class UnknownEnvironment(Exception):
    """There is no environment of this id."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One environment: a scenario of ViZDoom's, or ``map`` of the game ``config``."""

    id: str
    title: str
    config: str
    buttons: tuple[str, ...]
    map: str = "map01"
    free_play: bool = False

    def as_json(self) -> dict[str, Any]:
        spaces = {"discrete": choices(self.buttons), "observation": [len(OBSERVATION)]}
        return {"id": self.id, "title": self.title, "fps": FPS, "spaces": spaces}


def entries() -> Iterator[Entry]:
    for name, (config, words, buttons) in _SCENARIOS.items():
        yield Entry(f"{PREFIX}{name}-v0", f"Doom: {words}", config, buttons)
    yield _free_play("FreePlay", "freedoom2", "map01")
    for number in range(1, 33):
        yield _free_play(f"FreePlayMap{number:02}", "freedoom2", f"map{number:02}")
    for episode in range(1, 5):
        for number in range(1, 10):
            yield _free_play(f"FreePlayE{episode}M{number}", "freedoom1", f"e{episode}m{number}")


@cache
def _by_id() -> dict[str, Entry]:
    return {entry.id: entry for entry in entries()}


def entry_of(env: str) -> Entry:
    """The environment of this id; raise UnknownEnvironment if there is none."""
    try:
        return _by_id()[env]
    except KeyError:
        raise UnknownEnvironment(f"there is no environment {env!r}; python catalogue.py lists all") from None


def _free_play(name: str, config: str, map_: str) -> Entry:
    phase = "Phase 1" if config == "freedoom1" else "Phase 2"
    return Entry(f"{PREFIX}{name}-v0", f"Freedoom: {phase}, {map_.upper()}", config, _FREE_PLAY, map_, free_play=True)
