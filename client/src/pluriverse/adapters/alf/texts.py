"""Texts as tensors: UTF-8 in a row of fixed length, with zeros behind it."""

from __future__ import annotations

from typing import Final

import numpy as np

from . import tensors
from .tensor_specs import BoundedTensorSpec
from .tensors import Array, Tensor

# Enough for missions, scores, and most pages' summaries; what is longer is cut.
TEXT_BYTES: Final = 1024


def text_spec() -> BoundedTensorSpec:
    """Return the spec of a text: uint8 of shape (``TEXT_BYTES``,)."""
    return BoundedTensorSpec((TEXT_BYTES,), "uint8", 0, 255, "text")


def encode(text: str) -> Array:
    """Return a text as uint8 of shape (``TEXT_BYTES``,); a longer one is cut between two characters."""
    cut = text.encode("utf-8", "replace")[:TEXT_BYTES].decode("utf-8", "ignore").encode()
    return np.frombuffer(cut.ljust(TEXT_BYTES, b"\0"), np.uint8).copy()


def decode(row: Tensor) -> str:
    """Return the text of an encoded row."""
    return bytes(tensors.as_array(row)).rstrip(b"\0").decode("utf-8", "replace")
