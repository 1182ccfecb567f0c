"""The arrays of one ``recv``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .game import Row
from .spec import ENV_ID, PLAYERS_ENV_ID

_TYPES: Final = {
    "step_type": np.int32,
    "elapsed": np.int32,
    "lives": np.int32,
    "reward": np.float32,
    "earned": np.float32,
    "discount": np.float32,
    "done": np.bool_,
    "truncated": np.bool_,
    "terminated": np.int32,
    "lost": np.bool_,
}

# A ``Row`` as an array has it. One array of these is gathered three times as fast as one for each field.
ROW: Final = np.dtype([(name, _TYPES[name]) for name in Row._fields])


def arrays(indices: Sequence[int], rows: NDArray[Any], observations: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """What some environments answered, by the names of ``EnvSpec.state_array_spec``; row k is of ``indices[k]``.

    ``rows`` has a ``ROW`` for every environment.
    """
    env_id = np.array(indices, np.int32)
    taken = rows[env_id]
    return {
        f"info:{ENV_ID}": env_id,
        f"info:{PLAYERS_ENV_ID}": env_id.copy(),
        "elapsed_step": taken["elapsed"].copy(),
        "done": taken["done"].copy(),
        "reward": taken["reward"].copy(),
        "discount": taken["discount"].copy(),
        "step_type": taken["step_type"].copy(),
        "trunc": taken["truncated"].copy(),
        "obs": observations,
        "info:lives": taken["lives"].copy(),
        "info:reward": taken["earned"].copy(),
        "info:terminated": taken["terminated"].copy(),
        "info:lost": taken["lost"].copy(),
    }
