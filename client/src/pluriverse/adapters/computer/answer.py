"""What a model is answered. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# What comes after something that failed.
NOT_EXECUTED: Final = "not executed: an action before it failed"


@dataclass(frozen=True, slots=True)
class Image:
    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one act: a text, a picture, or both; ``failed``: nothing was done, and the text says why."""

    text: str = ""
    image: Image | None = None
    failed: bool = False
