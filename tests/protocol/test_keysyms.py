import runpy
from pathlib import Path

import pytest
from pluriverse_protocol.keysyms import keysym_names, keysyms

TOOL = Path(__file__).parents[2] / "tools" / "keysyms.py"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("EuroSign", 0x20AC), ("eacute", 0xE9), ("Eacute", 0xC9), ("dead_acute", 0xFE51), ("Greek_alpha", 0x7E1),
        ("XF86AudioPlay", 0x1008FF14), ("XF86BrightnessAuto", 0x100810F4), ("SunProps", 0x1005FF70), ("Prior", 0xFF55),
        ("BackSpace", 0xFF08), ("braille_dot_1", 0xFFF1), ("ISO_Left_Tab", 0xFE20), ("Thai_kokai", 0xDA1),
    ],
)  # fmt: skip
def test_names_are_xs(name: str, number: int) -> None:
    assert keysyms()[name] == number


def test_first_name_of_a_keysym_is_the_usual_one() -> None:
    assert [keysym_names()[number] for number in (0xFF55, 0x27, 0x1008FF14)] == ["Prior", "apostrophe", "XF86AudioPlay"]


def test_headers_of_another_version_say_the_same() -> None:
    rows = [line.split() for line in runpy.run_path(str(TOOL))["table"]().splitlines()]
    theirs = {name: int(number, 16) for number, *names in rows for name in names}
    common = theirs.keys() & keysyms().keys()
    assert len(common) > 2000
    assert {name: theirs[name] for name in common} == {name: keysyms()[name] for name in common}
