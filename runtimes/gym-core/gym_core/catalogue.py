"""Every environment id and its settings; imports neither ale-py nor Gymnasium, so that it prints at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from . import choices, options, tables

PREFIX: Final = "gym-core."
DEFAULT_FPS: Final = 60.0

# How often ale-py repeats the last action instead of taking the new one, by version.
REPEAT_ACTION_PROBABILITY: Final = {"v0": 0.25, "v3": 0.0}

# A Sync game waits for its agent and ends at its own limit; a day ends what an agent has left behind.
SYNC_TIME_LIMIT_S: Final = 24 * 60 * 60.0

# The frameskip of Deterministic variants, but for Space Invaders'.
DETERMINISTIC: Final = 4


@dataclass(frozen=True, slots=True)
class Atari:
    """An Atari game by ale-py's name of its ROM; ``frameskip`` None: drawn anew from {2, 3, 4} for each step.

    Whatever comes after it may be set by options of the same names; ``mode`` and ``difficulty`` None: the game's own.
    """

    rom: str
    frameskip: int | None
    repeat_action_probability: float
    mode: int | None = None
    difficulty: int | None = None
    full_action_space: bool = False
    max_pool: bool = False

    @property
    def frames(self) -> str:
        if self.frameskip == 1:
            return "every frame"
        return f"frameskip {self.frameskip or '2 to 4'}"


@dataclass(frozen=True, slots=True)
class Gymnasium:
    """An environment of Gymnasium's registry; ``low_dimensional``: its observation is reported beside the picture."""

    id: str
    low_dimensional: bool = False

    @property
    def has_mission(self) -> bool:
        return self.id.startswith(("MiniGrid-", "BabyAI-"))


@dataclass(frozen=True, slots=True)
class Entry:
    """One environment. ``fps`` is steps a second where time goes on, else how often the clock is painted."""

    id: str
    title: str
    game: Atari | Gymnasium
    fps: float = DEFAULT_FPS
    sync: bool = False
    time_limit_s: float | None = None

    def as_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"id": self.id, "fps": self.fps, "sync": self.sync, "title": self.title}
        fields["spaces"] = self.spaces
        if isinstance(self.game, Atari):
            fields["options"] = options.of_atari(self.game.rom, self.game.repeat_action_probability)
        if self.time_limit_s is not None:
            fields["time_limit_s"] = self.time_limit_s
        return fields

    def with_options(self, values: Mapping[str, Any]) -> Self:
        return replace(self, game=replace(self.game, **values))

    @property
    def spaces(self) -> dict[str, Any]:
        """The spaces as in runtime.toml. Shared by many entries: don't modify."""
        match self.game:
            case Atari(rom, full_action_space=full):
                return choices.of_atari(rom, full=full, sync=self.sync)
            case Gymnasium(id_, low_dimensional):
                mission = self.game.has_mission
                return choices.of_gymnasium(id_, mission=mission, low_dimensional=low_dimensional, sync=self.sync)


@dataclass(frozen=True, slots=True)
class _Variant:
    suffix: str
    frameskip: int | None
    fps: float = DEFAULT_FPS
    sync: bool = False

    def frameskip_of(self, rom: str) -> int | None:
        """Return the frameskip of a game: 3 for 4 in Space Invaders, whose lasers blink so that 4 never shows them."""
        return 3 if self.frameskip == DETERMINISTIC and rom == "space_invaders" else self.frameskip


_VARIANTS: Final = (
    _Variant("", None),
    _Variant("30FPS", None, fps=30.0),
    _Variant("Slow", None, fps=15.0),
    _Variant("Sync", None, sync=True),
    _Variant("Deterministic", DETERMINISTIC),
    _Variant("DeterministicSlow", DETERMINISTIC, fps=15.0),
    _Variant("DeterministicSync", DETERMINISTIC, sync=True),
    _Variant("NoFrameskip", 1),
)


def entries() -> Iterator[Entry]:
    yield from itertools.chain(_atari(), _cart_poles(), _gymnasium())


def _atari() -> Iterator[Entry]:
    for rom, variant, version in itertools.product(tables.ATARI_GAMES, _VARIANTS, REPEAT_ACTION_PROBABILITY):
        words = [word.capitalize() for word in rom.split("_")]
        game = Atari(rom, variant.frameskip_of(rom), REPEAT_ACTION_PROBABILITY[version])
        pace = ""
        if variant.sync:
            pace = ", a step for each c"
        elif variant.fps != DEFAULT_FPS:
            pace = f", {variant.fps:g} steps a second"
        yield Entry(
            id=f"{PREFIX}{''.join(words)}{variant.suffix}-{version}",
            title=f"{' '.join(words)}, {game.frames}{pace}" + (", sticky actions" if version == "v0" else ""),
            game=game,
            fps=variant.fps,
            sync=variant.sync,
            time_limit_s=SYNC_TIME_LIMIT_S if variant.sync else None,
        )


def _cart_poles() -> Iterator[Entry]:
    """The four that agents in the field know; 60 steps a second, as they are used to."""
    for low_dimensional, sync in itertools.product((False, True), (False, True)):
        yield Entry(
            id=f"{PREFIX}CartPole{'LowD' if low_dimensional else ''}{'Sync' if sync else ''}-v0",
            title="Cart Pole"
            + (", with the state as observation" if low_dimensional else "")
            + (", a step for each c" if sync else ""),
            game=Gymnasium("CartPole-v0", low_dimensional),
            sync=sync,
            time_limit_s=SYNC_TIME_LIMIT_S if sync else None,
        )


def _gymnasium() -> Iterator[Entry]:
    for id_, fps in tables.REAL_TIME.items():
        yield Entry(id=PREFIX + id_, title=id_, game=Gymnasium(id_), fps=fps)
    for id_ in tables.TURN_BASED:
        yield Entry(id=PREFIX + id_, title=f"{id_}, a step for each key", game=Gymnasium(id_))
