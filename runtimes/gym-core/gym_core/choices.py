"""The spaces of each environment, derived from ``controls`` so that the two never differ.

They are ``spaces`` of a catalogue entry: plain JSON with keys as X keysyms. Choice i is Gymnasium's action i wherever
Gymnasium's actions are numbers.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any, Final

from pluriverse_protocol.atari import ACTIONS, MINIMAL_ACTIONS

from . import tables
from .controls import ATARI, NAMES, STEP_KEY, Action, Held, Turns, controls_of

# The car has 12 combinations; a walker's 81 are too many to explore, so it gets one joint at a time.
MAX_COMBINATIONS: Final = 32

Choice = dict[str, Any]


@cache
def of_atari(rom: str, *, full: bool, sync: bool) -> dict[str, Any]:
    """Return the spaces of a game's minimal set of actions, or of the full one; its unused keys are harmless."""
    keys = shortest(ATARI)
    actions = range(len(ACTIONS)) if full else MINIMAL_ACTIONS[rom]
    choices = [_choice(ATARI.names[action], keys[action]) for action in actions]
    return {"discrete": choices, "keys": list(ATARI.keys), **_step(sync=sync)}


@cache
def of_gymnasium(id_: str, *, mission: bool, low_dimensional: bool, sync: bool) -> dict[str, Any]:
    match controls_of(id_):
        case Turns(actions):
            ordered = sorted((action, words, key) for key, (action, words) in actions.items())
            spaces: dict[str, Any] = {"discrete": [_choice(words, (key,)) for _, words, key in ordered], "tap": True}
        case Held() as held:
            spaces = {"discrete": _numbered(held) if held.names else _combined(held)}
    if mission:
        spaces["text"] = True
    if low_dimensional:
        spaces["observation"] = list(tables.OBSERVATION_SHAPES[id_])
    return spaces | _step(sync=sync)


def _step(*, sync: bool) -> dict[str, Any]:
    return {"step": STEP_KEY} if sync else {}


def shortest(held: Held) -> dict[Action, tuple[int, ...]]:
    """Return the fewest keys that make each action, actions with fewer keys first."""
    keys: dict[Action, tuple[int, ...]] = {}
    for count in range(len(held.keys) + 1):
        for combination in itertools.combinations(held.keys, count):
            keys.setdefault(held.action(frozenset(combination)), combination)
    return keys


def _numbered(held: Held) -> list[Choice]:
    keys = shortest(held)
    return [_choice(name, keys[action]) for action, name in enumerate(held.names)]


def _combined(held: Held) -> list[Choice]:
    combinations = list(shortest(held).values())
    if len(combinations) > MAX_COMBINATIONS:
        combinations = [keys for keys in combinations if len(keys) <= 1]
    return [_choice("+".join(NAMES.get(key, chr(key)) for key in keys) or "none", keys) for keys in combinations]


def _choice(name: str, keys: tuple[int, ...]) -> Choice:
    return {"name": name, "keys": list(keys)}
