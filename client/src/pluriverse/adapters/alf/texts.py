"""Texts as tensors: UTF-8 in a row of fixed length, with zeros behind it."""

from __future__ import annotations

from typing import Final

import numpy as np

from . import tensors
from .tensor_specs import BoundedTensorSpec
from .tensors import Array, Tensor

# Missions and scores, and most pages' summaries; what is longer is cut.
TEXT_BYTES: Final = 1024


def text_spec() -> BoundedTensorSpec:
    """The spec of a text."""
    return BoundedTensorSpec((TEXT_BYTES,), "uint8", 0, 255, "text")


def encode(text: str) -> Array:
    """A text as uint8 of shape (``TEXT_BYTES``,); cut where it is longer, between two characters."""
    row = np.zeros(TEXT_BYTES, np.uint8)
    cut = text.encode("utf-8", "replace")[:TEXT_BYTES].decode("utf-8", "ignore").encode()
    row[: len(cut)] = np.frombuffer(cut, np.uint8)
    return row


def decode(row: Tensor) -> str:
    """The text of an encoded one."""
    return bytes(tensors.as_array(row)).rstrip(b"\0").decode("utf-8", "replace")
