from typing import Any

import pytest
from pluriverse_protocol.rfb.preferences import EXTENSIONS, preferred_encodings


def test_best_comes_first_and_extensions_are_always_asked_for() -> None:
    assert preferred_encodings(encodings=["raw", "copyrect"]) == [0, 1, *EXTENSIONS]
    assert preferred_encodings() == [7, 0, *EXTENSIONS]


@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        ({"quality": 0}, {-32}),
        ({"quality": 9}, {-23}),
        ({"fine_quality": 0}, {-512}),
        ({"fine_quality": 100}, {-412}),
        ({"fine_quality": 50, "subsampling": "4:2:0"}, {-462, -767}),
        ({"subsampling": "4:4:4"}, {-768}),
        ({"subsampling": "16x"}, {-763}),
        ({"compress_level": 0}, {-256}),
        ({"compress_level": 9, "quality": 5}, {-247, -27}),
    ],
)
def test_levels_are_pseudo_encodings(wishes: dict[str, Any], expected: set[int]) -> None:
    assert set(preferred_encodings(**wishes)) - set(preferred_encodings()) == expected


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"quality": 10}, "quality is 10, expected 0 to 9"),
        ({"fine_quality": -1}, "0 to 100"),
        ({"compress_level": 10}, "compress_level"),
        ({"subsampling": "5:1:1"}, "4:2:0"),
        ({"encodings": ["rre"]}, "'rre'; known: tight"),
    ],
)
def test_what_does_not_exist_is_refused_by_name(wishes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        preferred_encodings(**wishes)
