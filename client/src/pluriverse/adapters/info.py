"""Infos: what is said of a step beside its observation, reward and end. Pure.

``numbers`` are the same keys, of the same types, at every step and reset, so that they can be kept in arrays;
``info_of`` has the rest. docs/agents.md lists the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from operator import attrgetter
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pluriverse.env.outcome import BOUNDS, TIMES
from pluriverse.errors import ConfigurationError

from .player import StepResult

Measured = bool | Literal["full"]
"""How much infos say: True is ``numbers``; "full" everything, as it comes; False what the program reports."""

UNKNOWN_LIVES: Final = -1

# As many lives as fit the type that they are told in.
_MAX_LIVES: Final = 2**31 - 1

_COUNTS: Final = {
    "stats.reward.count": "reward_count",
    "stats.vnc.updates.n": "updates",
    "stats.vnc.updates.pixels": "pixels",
}
_UNKNOWN: Final = (np.nan, np.nan)

# All at once, since this is done for each environment in each step.
_counts: Final = attrgetter(*_COUNTS.values())
_times: Final = attrgetter(*TIMES.values())
_bounds: Final = attrgetter(*BOUNDS.values())


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
    """Return how much infos are to say.

    Raises:
        ConfigurationError: it is something else.
    """
    if measured is True or measured is False or measured == "full":
        return measured  # pyright: ignore[reportReturnType] - it is one of the three
    raise ConfigurationError(f"measured is {measured!r:.80}; expected True, False or 'full'")


def numbers(results: Sequence[StepResult]) -> dict[str, NDArray[Any]]:
    """Return what is steady of some results, by key: arrays of an item for each result, in arrays of their own.

    Times are NaN, bounds of lags, of shape (2,), twice NaN, and lives ``UNKNOWN_LIVES`` where they aren't known.
    """
    outcomes = [result.outcome for result in results]
    counts = np.array([_counts(outcome) for outcome in outcomes], np.int64).T
    times = np.array([_times(outcome) for outcome in outcomes], np.float64).T
    bounds = np.array([[each or _UNKNOWN for each in _bounds(outcome)] for outcome in outcomes], np.float64)
    return {
        **dict(zip(_COUNTS, counts.copy(), strict=True)),
        **dict(zip(TIMES, times.copy(), strict=True)),
        **dict(zip(BOUNDS, bounds.swapaxes(0, 1).copy(), strict=True)),
        "env_status.reconnecting": np.array([outcome.reconnecting for outcome in outcomes], np.bool_),
        "lives": np.array([_lives(result) for result in results], np.int32),
        "lost": np.array([result.lost for result in results], np.bool_),
        "ended": np.array([ended(result) for result in results], np.int32),
        "TimeLimit.truncated": np.array([_was_cut(result) for result in results], np.bool_),
    }


def info_of(result: StepResult, measured: Measured) -> dict[str, Any]:
    """Return the info of a result, a new dict.

    ``terminated`` and ``truncated`` are left out: a step returns them.
    """
    if measured is True:
        # Arrays without dimensions: Gymnasium takes NumPy's booleans for objects, and TorchRL reads no plain ones.
        return {key: values[0, ...] for key, values in numbers([result]).items()}
    info = result.info if measured else result.reported_info
    info.pop("terminated", None)
    info.pop("truncated", None)
    return info | {"lost": result.lost, "ended": int(ended(result)), "TimeLimit.truncated": _was_cut(result)}


def ended(result: StepResult) -> Ended:
    """Return why the episode ended with this result."""
    if result.terminated:
        return Ended.OUTCOME
    if not result.truncated:
        return Ended.NO
    if result.lost:
        return Ended.LOST
    if not result.outcome.done:
        return Ended.STEP_LIMIT
    reason = result.outcome.program_info.get("reason")
    if reason == "reset":
        return Ended.RESET
    # Programs say how long it was, too.
    return Ended.TIME_LIMIT if str(reason).startswith("time limit") else Ended.OTHER


def _was_cut(result: StepResult) -> bool:
    return result.truncated and not result.terminated


def _lives(result: StepResult) -> int:
    # A program may report anything under this name.
    lives = result.lives
    return int(lives) if isinstance(lives, int | float) and 0 <= lives <= _MAX_LIVES else UNKNOWN_LIVES
