"""The arrays of one ``recv``: stacked pictures, what else EnvPool returns, and how it nests them by their names."""

from __future__ import annotations

from collections import deque, namedtuple
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import numpy as np

from pluriverse.adapters.pictures import Pixels


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``{"info:players.env_id": 1}`` as ``{"info": {"players": {"env_id": 1}}}``."""
    nest: dict[str, Any] = {}
    for name, value in flat.items():
        *folders, last = _path(name)
        place = nest
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return nest


@cache
def _path(name: str) -> list[str]:
    return name.replace(":", ".").split(".")


def flat(nest: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return ``{"action": {"keys": 1}}`` as ``{"action.keys": 1}``."""
    found: dict[str, Any] = {}
    for name, value in nest.items():
        if isinstance(value, Mapping):
            found |= flat(cast("Mapping[str, Any]", value), f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def as_tuple(name: str, nest: Mapping[str, Any]) -> Any:
    """Return a nest of dicts as named tuples."""
    values = (as_tuple(key, cast("Any", each)) if isinstance(each, dict) else each for key, each in nest.items())
    return _tuple_type(name, tuple(nest))(*values)


def state_tuple(flat: Mapping[str, Any]) -> Any:
    """Return dm_env's observation: of values by EnvPool's names the picture and the info."""
    chosen = {name.removeprefix("info:"): value for name, value in flat.items() if name.startswith(("obs", "info:"))}
    return as_tuple("State", nested(chosen))


@cache
def _tuple_type(name: str, fields: tuple[str, ...]) -> Any:
    # Its fields follow from the environment.
    return namedtuple(name, fields)  # pyright: ignore[reportUntypedNamedTuple]


class Stacks:
    """The last ``depth`` pictures of each of ``n`` environments, uint8, channel first; ``shape`` is that of a stack."""

    def __init__(self, n: int, depth: int, picture: tuple[int, int, int]) -> None:
        """``picture``: height, width and channels of one picture."""
        height, width, channels = picture
        self._depth = depth
        blank = np.zeros((channels, height, width), np.uint8)
        # Rings, so that a push moves no pixels.
        self._planes = [deque([blank] * depth, maxlen=depth) for _ in range(n)]
        self.shape: tuple[int, int, int] = (depth * channels, height, width)

    def fill(self, index: int, picture: Pixels) -> None:
        """Begin an episode: its first picture, (height, width, channels), fills the whole stack."""
        self._planes[index].extend([_channel_first(picture)] * self._depth)

    def push(self, index: int, picture: Pixels) -> None:
        """Replace the oldest picture."""
        self._planes[index].append(_channel_first(picture))

    def copy_to(self, index: int, out: Pixels) -> None:
        """Write a stack, oldest first, into ``out`` of ``shape``."""
        np.concatenate(self._planes[index], out=out)


def _channel_first(picture: Pixels) -> Pixels:
    # A grey picture of its own isn't copied; a view of a screen is, so that the screen can be freed.
    return np.ascontiguousarray(picture.transpose(2, 0, 1))
