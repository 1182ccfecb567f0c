"""QR codes as another reader of them sees them."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.overlay.qr_code import MAX_BYTES, SIZE, encode

MODULE = 4
QUIET = 4 * MODULE


def read(text: bytes) -> str:
    """What OpenCV reads of the code of ``text``."""
    modules = np.kron(np.array(encode(text), np.uint8), np.ones((MODULE, MODULE), np.uint8))
    # Its other detector misses one code in five hundred.
    reader: Any = cv2.QRCodeDetectorAruco()
    found, _, _ = reader.detectAndDecode(np.pad(255 - modules * 255, QUIET, constant_values=255))
    return found


@given(st.integers(0, 2**48 - 1), st.integers(0, 2**48 - 1))
def test_code_of_two_times_is_read_as_it_was_written(clock: int, probe: int) -> None:
    text = f"v1:{clock:012x}{probe:012x}"
    assert read(text.encode()) == text


def test_code_of_the_largest_text_is_read_and_beyond_it_none_is_made() -> None:
    text = "pluriverse" * 3 + "!!"
    assert len(text) == MAX_BYTES
    assert read(text.encode()) == text
    assert len(encode(b"")) == SIZE
    with pytest.raises(ValueError, match="33 bytes, over 32"):
        encode(b"x" * 33)
