"""Infos: what is said of a step beside its observation, reward and end. Pure.

``numbers`` are the same keys, of the same types, at every step and reset, so that they can be kept in arrays;
``info_of`` has the rest. docs/agents.md lists the keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from operator import attrgetter
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pluriverse.errors import ConfigurationError
from pluriverse.rewarder.result import BOUNDS, TIMES, Result

Measured = bool | Literal["full"]
"""How much infos say: True is ``numbers``; "full" everything, as it comes; False what the program reports."""

UNKNOWN_LIVES: Final = -1

# As many lives as fit the type that they are told in.
_MAX_LIVES: Final = 2**31 - 1

# Whole numbers and flags, which follow the bounds and the times in a row.
_WHOLE: Final[Mapping[str, type[np.generic]]] = {
    "stats.reward.count": np.int64,
    "stats.vnc.updates.n": np.int64,
    "stats.vnc.updates.pixels": np.int64,
    "env_status.reconnecting": np.bool_,
    "lives": np.int32,
    "lost": np.bool_,
    "ended": np.int32,
    "TimeLimit.truncated": np.bool_,
}
_UNKNOWN: Final = (np.nan, np.nan)

# All at once, since this is done for each environment in each step.
_known: Final = attrgetter(*TIMES.values(), "reward_count", "updates", "pixels", "reconnecting")


class Ended(IntEnum):
    """Why an episode ended, as infos say under ``ended``."""

    NO = 0
    """It goes on."""
    OUTCOME = 1
    """It was won, lost or solved: it terminated."""
    TIME_LIMIT = 2
    """A limit of time or frames on the remote."""
    STEP_LIMIT = 3
    """The agent's own ``max_episode_steps``."""
    RESET = 4
    """Somebody else's reset."""
    LOST = 5
    """The remote broke."""
    OTHER = 6
    """It was truncated for another reason, which ``reason`` says."""


def check_measured(measured: object) -> Measured:
    if measured is True or measured is False or measured == "full":
        return measured  # pyright: ignore[reportReturnType] - it is one of the three
    raise ConfigurationError(f"measured is {measured!r:.80}; expected True, False or 'full'")


def numbers(results: Sequence[Result]) -> dict[str, NDArray[Any]]:
    """Return what is steady of some results, by key: arrays of an item for each result, in arrays of their own.

    Times are NaN, bounds of lags, of shape (2,), twice NaN, and lives ``UNKNOWN_LIVES`` where they aren't known.
    """
    # One table of numbers with a row for each result is much faster than an array for each key.
    table = np.array([_row(result) for result in results], np.float64).T
    lags = table[: 2 * len(BOUNDS)].reshape(len(BOUNDS), 2, -1).swapaxes(1, 2)
    columns = iter(table[2 * len(BOUNDS) :])
    return {
        **dict(zip(BOUNDS, lags.copy(), strict=True)),
        **{key: next(columns).copy() for key in TIMES},
        **{key: next(columns).astype(kind) for key, kind in _WHOLE.items()},
    }


def info_of(result: Result, measured: Measured) -> dict[str, Any]:
    """Return the info of a result, a new dict.

    ``terminated`` and ``truncated`` are left out: a step returns them.
    """
    if measured is True:
        # Arrays without dimensions: Gymnasium takes NumPy's booleans for objects, and TorchRL reads no plain ones.
        return {key: values[0, ...] for key, values in numbers([result]).items()}
    info = result.full_info() if measured else result.reported_info()
    info.pop("terminated", None)
    info.pop("truncated", None)
    return info | {"lost": result.lost, "ended": int(ended(result)), "TimeLimit.truncated": _was_cut(result)}


def ended(result: Result) -> Ended:
    if result.terminated:
        return Ended.OUTCOME
    if not result.truncated:
        return Ended.NO
    if result.lost:
        return Ended.LOST
    if not result.done:
        return Ended.STEP_LIMIT
    reason = result.info.get("reason")
    if reason == "reset":
        return Ended.RESET
    # Programs say how long it was, too.
    return Ended.TIME_LIMIT if str(reason).startswith("time limit") else Ended.OTHER


def _row(result: Result) -> list[float | None]:
    row: list[float | None] = []
    for bounds in result.lags:
        row += bounds or _UNKNOWN
    row += _known(result)
    row += lives_of(result), result.lost, ended(result), _was_cut(result)
    return row


def _was_cut(result: Result) -> bool:
    return result.truncated and not result.terminated


def lives_of(result: Result) -> int:
    """Return the lives that a program reported, which may report anything under this name."""
    lives = result.lives
    return int(lives) if isinstance(lives, (int, float)) and 0 <= lives <= _MAX_LIVES else UNKNOWN_LIVES
