from __future__ import annotations

import numpy as np
from pluriverse_server.authoring.parting import part, widths_off

H, U, BAR = np.zeros((9, 8), np.float32), np.zeros((9, 7), np.float32), np.ones((9, 2), np.float32)
H[:, :2], H[:, -2:], H[4:6] = 1, 1, 1
U[:, :2], U[:, -2:], U[-2:] = 1, 1, 1
SHAPES = {"H": H, "U": U, "I": BAR}
TEXTS = ["HUI", "UHH", "IUHI", "HIU", "UUI", "IHU", "HHUU", "IIH", "UIHU", "HU"]


def drawn(text: str, overlap: int) -> np.ndarray:
    line = np.zeros((9, 60), np.float32)
    x = 5
    for letter in text:
        shape = SHAPES[letter]
        np.maximum(line[:, x : x + shape.shape[1]], shape, out=line[:, x : x + shape.shape[1]])
        x += shape.shape[1] - overlap
    return line


def test_glyphs_that_touch_or_overlap_are_parted_as_if_each_stood_alone() -> None:
    for overlap in (0, 1):
        lines = part([drawn(text, overlap) for text in TEXTS], TEXTS)
        for text, pieces in zip(TEXTS, lines, strict=True):
            assert pieces is not None
            for letter, piece in zip(text, pieces, strict=True):
                assert np.abs(piece.ink - SHAPES[letter]).max() < 0.3


def test_a_line_that_is_labelled_wrongly_is_left_out() -> None:
    many = TEXTS * 4
    lines = part([drawn(text, 0) for text in (*many, "HUH")], [*many, "UIII"])
    assert lines[-1] is None
    assert None not in lines[:-1]


def test_widths_that_labels_explain_are_told_from_others() -> None:
    lines = [drawn(text, 1) for text in TEXTS]
    assert widths_off(lines, TEXTS) < 1 < widths_off(lines, [*TEXTS[3:], *TEXTS[:3]])
    assert widths_off([], []) == float("inf")
