"""What a vector of remotes answers, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.pictures import Pixels


@dataclass(frozen=True, slots=True)
class Batch:
    """The answers of B environments; row ``i`` is of environment ``env_id[i]``.

    Arrays may be read-only, and lie in Ray's object store as long as any of them is kept: copy what is to stay.
    """

    env_id: NDArray[np.int32]
    """(B,)"""
    observation: Pixels
    """The pictures, uint8 (B, height, width, channels); of an episode that is over, its last."""
    reward: NDArray[np.float32]
    """(B,), as the other fields; what a step earned."""
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    first: NDArray[np.bool_]
    """Whether it is the first of an episode, whose reward is 0."""
    lost: NDArray[np.bool_]
    """Whether the episode is over since its remote, or the actor with its vector, broke; then it is truncated."""
    elapsed: NDArray[np.int32]
    """The number of the episode's steps; 0 where the actor broke."""

    @property
    def done(self) -> NDArray[np.bool_]:
        """Where an episode is over: the next action is ignored, and answered by the first observation of the next."""
        return self.terminated | self.truncated

    def __len__(self) -> int:
        return len(self.env_id)


@dataclass(frozen=True, slots=True)
class VectorSpec:
    """What is the same for all environments of a vector: ``shape`` is a picture's, (height, width, channels)."""

    n: int
    shape: tuple[int, int, int]
    fps: float
    actions: ActionMap


def lost_batch(env_id: NDArray[np.int32], shape: tuple[int, int, int]) -> Batch:
    """Return the answer of environments whose vector broke: it shows nothing, and takes no memory for that."""
    n = len(env_id)
    blank: Any = np.broadcast_to(np.zeros((), np.uint8), (n, *shape))
    no, yes = np.zeros(n, np.bool_), np.ones(n, np.bool_)
    return Batch(env_id, blank, np.zeros(n, np.float32), no, yes, no, yes, np.zeros(n, np.int32))
