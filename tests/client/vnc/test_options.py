from typing import Any

import pytest
from pluriverse.rfb import Region
from pluriverse.vnc import VncOptions
from pluriverse_protocol.rfb.numbers import Encoding


def test_encodings_are_asked_for_in_order_with_the_levels() -> None:
    numbers = VncOptions(encodings=["raw", "tight"], quality=5).encoding_numbers()
    assert numbers[:2] == [Encoding.RAW, Encoding.TIGHT]
    assert -32 + 5 in numbers


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"encodings": ["tigth"]}, "tigth"),
        ({"quality": 10}, "quality"),
        ({"scale": 0}, "scale"),
        ({"scale": 65}, "scale"),
        ({"size": (0, 5)}, "size"),
        ({"size": (5, 5), "scale": 2}, "no scale"),
        ({"crop": Region(0, 0, 0, 5)}, "region"),
        ({"block": Region(-1, 0, 6, 2)}, "region"),
        ({"grey": True, "encodings": ["copyrect", "raw"]}, "copyrect"),
        ({"silence_s": 0.0}, "silence_s"),
        ({"regions": [Region(0, 0, 0, 5)]}, "region"),
        ({"regions": [Region(0, 0, 5, 5)], "encodings": ["copyrect", "raw"]}, "copyrect"),
    ],
)
def test_what_can_not_be_is_refused_by_name(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=f"(?i){says}"):
        VncOptions(**wrong)
