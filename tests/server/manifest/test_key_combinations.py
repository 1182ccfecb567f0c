import pytest
from pluriverse_server.manifest.key_combinations import parse_combination
from pluriverse_server.manifest.page import PageTable
from pluriverse_server.overlay.rules import ALT, CONTROL, SHIFT, SUPER, Combination
from pydantic import ValidationError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("F5", Combination(0xFFC2, 0)),
        ("Control+s", Combination(ord("s"), CONTROL)),
        ("Control+Shift+I", Combination(ord("i"), CONTROL | SHIFT)),
        ("Super+Alt+Left", Combination(0xFF51, SUPER | ALT)),
        ("Alt++", Combination(ord("+"), ALT)),
        ("+", Combination(ord("+"), 0)),
    ],
)
def test_combination_is_its_key_and_modifiers(text: str, expected: Combination) -> None:
    assert parse_combination(text) == expected


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("Ctrl+s", "'Ctrl' isn't a modifier"), ("Control+f5", "F5"), ("Control+", "expected"), ("", "expected")],
)
def test_unknown_names_are_told(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_combination(text)


def test_manifest_names_the_key_that_is_unknown() -> None:
    with pytest.raises(ValidationError, match=r"(?s)keys\.1.*'Ctrl' isn't a modifier"):
        PageTable(url="https://example.org/", keys=["Control+s", "Ctrl+s"])
