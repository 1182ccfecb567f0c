"""What a model is answered. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .images import Image

# What comes after something that failed.
NOT_EXECUTED: Final = "not executed: an earlier action failed"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one act: the screen afterwards, and what came of it, in the words of a ``Result``."""

    message: str = ""
    """Why nothing was done, which keys the environment ignored, or where the pointer is."""
    failed: bool = False
    image: Image | None = None
    """The last frame, or what was looked at; None if nothing was done."""
    text: str = ""
    """The environment's latest text, such as the task."""
    reward: float = 0.0
    """The reward since the answer before."""
    terminated: bool = False
    truncated: bool = False

    @property
    def over(self) -> bool:
        """Whether the episode is over."""
        return self.terminated or self.truncated


def ignoring(keys: Sequence[str]) -> str:
    """Return what a model is told of keys, by their names, that the environment doesn't use; nothing of none."""
    return f"The environment doesn't use the keys {' '.join(keys)}, and ignored them." if keys else ""
