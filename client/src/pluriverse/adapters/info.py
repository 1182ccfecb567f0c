"""What agents are given of results: observations and infos. Pure.

An observation is the picture alone, or with texts and structured observations beside it. Of infos ``numbers`` are the
same keys, of the same types, at every step and reset, so that they can be kept in arrays; ``info_of`` has the rest.
docs/agents.md lists the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.env_spaces import Spaces

from pluriverse.errors import ConfigurationError, RemoteFailed
from pluriverse.rewarder.result import BOUNDS, TIMES, Result

from .pictures import Pictures

Measured = bool | Literal["full"]
"""The keys of infos: True is ``numbers``; "full" all, as they come; False only the program's reports."""

UNKNOWN_LIVES: Final = -1

# The largest number of lives that fits their type.
_MAX_LIVES: Final = 2**31 - 1

_COUNTS: Final = ("stats.reward.count", "stats.vnc.updates.n", "stats.vnc.updates.pixels")
_CODES: Final = ("lives", "ended")
_FLAGS: Final = ("env_status.reconnecting", "lost", "TimeLimit.truncated")
NUMBERS: Final = (*BOUNDS, *TIMES, *_COUNTS, *_CODES, *_FLAGS)
"""The keys of ``numbers``."""

_UNKNOWN: Final = (np.nan, np.nan)


class Observations:
    """Makes the observations of one environment.

    ``names`` are its parts: ``vision`` (uint8 of shape ``pictures.shape``), and where the remote sends them ``text``
    (str) and ``observation`` (float32 of shape ``state_shape``); where it is asked for, ``audio`` (int16 of shape
    ``audio_shape``). If there is only ``vision``, an observation is that array, else a dict of the parts.
    """

    def __init__(self, spaces: Spaces | None, pictures: Pictures, audio_shape: tuple[int, int] | None = None) -> None:
        """``spaces`` None: not known; texts are left out."""
        self.pictures: Pictures = pictures
        self.state_shape: tuple[int, ...] | None = spaces.observation if spaces is not None else None
        names = ["vision"]
        if spaces is not None and spaces.text:
            names.append("text")
        if self.state_shape is not None:
            names.append("observation")
        self.audio_shape: tuple[int, int] | None = audio_shape
        if audio_shape is not None:
            names.append("audio")
        self.names: tuple[str, ...] = tuple(names)

    def make(self, result: Result, *, copy: bool = False) -> Any:
        """Return the observation of a result. ``copy``: in arrays of its own, not views of the screen."""
        vision = result.vision
        assert vision is not None
        if not self.pictures.ready:
            vision = self.pictures.make(vision)
        if copy:
            vision = vision.copy()
        if len(self.names) == 1:
            return vision
        parts: dict[str, Any] = {"vision": vision}
        if "text" in self.names:
            parts["text"] = result.text
        if self.state_shape is not None:
            parts["observation"] = state_array(result.observation, self.state_shape)
        if self.audio_shape is not None:
            parts["audio"] = audio_array(result.sound, self.audio_shape)
        return parts


def state_array(state: Any, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return a structured observation as a new array; zeros while there is none."""
    if state is None:
        return np.zeros(shape, np.float32)
    try:
        array = np.array(state, np.float32)
    except (TypeError, ValueError) as error:
        raise RemoteFailed(f"the remote sent {state!r:.80}, expected numbers of shape {shape}: {error}") from error
    if array.shape != shape:
        raise RemoteFailed(f"the remote sent an observation of shape {array.shape}, though it declared {shape}")
    return array


def audio_array(sound: NDArray[np.int16] | None, shape: tuple[int, int]) -> NDArray[np.int16]:
    """Return the last of what was played as a new array; silence follows what is shorter."""
    array = np.zeros(shape, np.int16)
    if sound is not None:
        array[: len(sound)] = sound[-len(array) :]
    return array


class Ended(IntEnum):
    """Why an episode ended, as infos have it under ``ended``."""

    NO = 0
    """It goes on."""
    OUTCOME = 1
    """It was won, lost or solved: it terminated."""
    TIME_LIMIT = 2
    """A limit of time or frames on the remote."""
    STEP_LIMIT = 3
    """The agent's own ``max_episode_steps``."""
    RESET = 4
    """Another client's reset."""
    LOST = 5
    """The remote broke."""
    OTHER = 6
    """It was truncated for another reason, given in ``reason``."""


def check_measured(measured: object) -> Measured:
    if measured is True or measured is False or measured == "full":
        return measured  # pyright: ignore[reportReturnType] - it is one of the three
    raise ConfigurationError(f"measured is {measured!r:.80}; expected True, False or 'full'")


def numbers(results: Sequence[Result]) -> dict[str, NDArray[Any]]:
    """Return what is steady of some results, by key: arrays of an item for each result.

    Times are NaN, bounds of lags, of shape (2,), twice NaN, and lives ``UNKNOWN_LIVES`` where they aren't known.
    """
    floats: list[tuple[float | None, ...]] = []
    integers: list[tuple[int, ...]] = []
    for result in results:
        skew, seen, acted, earned, told = result.lags
        times = result.image_local_time, result.image_remote_time, result.remote_time, result.local_time
        bounds = *(skew or _UNKNOWN), *(seen or _UNKNOWN), *(acted or _UNKNOWN), *(earned or _UNKNOWN)
        floats.append((*bounds, *(told or _UNKNOWN), *times))
        lives = lives_of(result) if result.info else UNKNOWN_LIVES
        counts = result.reward_count, result.updates, result.pixels
        why = ended(result) if result.terminated or result.truncated else 0
        cut = result.truncated and not result.terminated
        integers.append((*counts, lives, why, result.reconnecting, result.done and result.error is not None, cut))
    # Of tables with a row for each result; an array for each key would take several times as long.
    table = np.array(floats, np.float64)
    lags = table[:, : 2 * len(BOUNDS)].reshape(len(results), len(BOUNDS), 2).swapaxes(0, 1)
    whole = np.array(integers, np.int64).T
    counts, codes, flags = whole[:3], whole[3:5].astype(np.int32), whole[5:].astype(np.bool_)
    return dict(zip(NUMBERS, (*lags, *table.T[2 * len(BOUNDS) :], *counts, *codes, *flags), strict=True))


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
    over = result.terminated or result.truncated
    if result.texts:
        info["text"] = result.text
    info["lost"], info["ended"] = result.done and result.error is not None, int(ended(result)) if over else 0
    info["TimeLimit.truncated"] = result.truncated and not result.terminated
    return info


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
    # Programs append its length.
    return Ended.TIME_LIMIT if str(reason).startswith("time limit") else Ended.OTHER


def lives_of(result: Result) -> int:
    """Return the lives that a program reported, which may report anything under this name."""
    lives = result.lives
    return int(lives) if isinstance(lives, (int, float)) and 0 <= lives <= _MAX_LIVES else UNKNOWN_LIVES
