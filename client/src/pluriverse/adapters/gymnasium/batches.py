"""Observations and infos of several environments as one of arrays, as Gymnasium's vectors have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pluriverse.adapters.core import Core
from pluriverse.adapters.info import NUMBERS, Measured, Observations, audio_array, info_of, numbers, state_array
from pluriverse.rewarder.result import Result

_MASKS: Final = tuple(f"_{key}" for key in NUMBERS)

# Values of these types become arrays of their type; of others, arrays of objects.
_NUMBERS: Final = (bool, int, float, np.number)


class ObservationBatch:
    """The last observations of a core's environments, as one of arrays."""

    def __init__(self, core: Core) -> None:
        """Make arrays that are refilled each time."""
        self._observations = Observations(core.spaces, core.pictures, core.audio_shape)
        self._vision = np.empty((core.n, *core.pictures.shape), np.uint8)
        self._state_shape = self._observations.state_shape
        audio_shape = core.audio_shape
        self._audio = None if audio_shape is None else np.empty((core.n, *audio_shape), np.int16)
        self._states = np.empty((core.n, *(self._state_shape or ())), np.float32)

    def one(self, result: Result) -> Any:
        """Return the observation of one environment, in arrays of its own."""
        return self._observations.make(result, copy=True)

    def observations(self, results: Sequence[Result], *, copy: bool) -> Any:
        """Return the observations of all; without ``copy`` in arrays that the next call changes."""
        vision = np.empty_like(self._vision) if copy else self._vision
        pictures = self._observations.pictures
        for picture, result in zip(vision, results, strict=True):
            picture[...] = pictures.make(result.picture)
        if len(self._observations.names) == 1:
            return vision
        parts: dict[str, Any] = {"vision": vision}
        if "text" in self._observations.names:
            parts["text"] = tuple(result.text for result in results)
        if self._state_shape is not None:
            states = np.empty_like(self._states) if copy else self._states
            for state, result in zip(states, results, strict=True):
                state[...] = state_array(result.observation, self._state_shape)
            parts["observation"] = states
        if self._audio is not None:
            audio = np.empty_like(self._audio) if copy else self._audio
            for sound, result in zip(audio, results, strict=True):
                sound[...] = audio_array(result.sound, sound.shape)
            parts["audio"] = audio
        return parts


def infos_of(n: int, results: Mapping[int, Result], measured: Measured) -> dict[str, Any]:
    """Return the infos of some of ``n`` environments' results, by index in ascending order, as ``batch_infos`` does."""
    if measured is not True:
        return batch_infos(n, ((index, info_of(result, measured)) for index, result in results.items()))
    indices = list(results)
    batch: dict[str, Any] = numbers(list(results.values()))
    masks = np.ones((len(batch), n), np.bool_)
    if len(indices) < n:
        batch = {key: _spread(n, indices, values) for key, values in batch.items()}
        masks.fill(False)
        masks[:, indices] = True
    batch.update(zip(_MASKS, masks, strict=True))
    return batch


def batch_infos(n: int, infos: Iterable[tuple[int, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the infos of some of ``n`` environments, by index, as one dict of arrays.

    Each key has an array of ``n``, and ``_key`` a mask of which environments have it. Numbers and booleans become
    arrays of their type, arrays are stacked, dictionaries are nested. Everything else, final observations, and values
    whose types differ between environments, become arrays of objects, with None where there is none.
    """
    pairs = sorted(infos, key=itemgetter(0))
    keys: dict[str, Any] = {}
    for _, info in pairs:
        keys.update(info)
    # Nearly always all environments have all keys. There are dozens of them, and this is done in each step.
    masks = np.ones((len(keys), n), np.bool_)
    batch: dict[str, Any] = {}
    for key, mask in zip(keys, masks, strict=True):
        indices = None
        values = [info[key] for _, info in pairs if key in info]
        if len(values) < n:
            indices = [index for index, info in pairs if key in info]
            mask.fill(False)
            mask[indices] = True
        batch[key] = _array(n, key, indices, values)
        batch[f"_{key}"] = mask
    return batch


def _array(n: int, key: str, indices: list[int] | None, values: list[Any]) -> Any:
    kinds = set(map(type, values))
    kind = kinds.pop()
    if not kinds and key != "final_obs":
        if kind is dict:
            return batch_infos(n, zip(range(n) if indices is None else indices, values, strict=True))
        if issubclass(kind, _NUMBERS) or (kind is np.ndarray and len({(v.shape, v.dtype) for v in values}) == 1):
            array = np.array(values)
            # An integer that NumPy has no type for makes it one of objects.
            if not array.dtype.hasobject:
                return _spread(n, indices, array)
    return _spread(n, indices, np.fromiter(values, np.object_, len(values)))


def _spread(n: int, indices: list[int] | None, array: NDArray[Any]) -> NDArray[Any]:
    if indices is None:
        return array
    whole = np.zeros((n, *array.shape[1:]), array.dtype)
    if array.dtype == np.object_:
        whole.fill(None)
    whole[indices] = array
    return whole
