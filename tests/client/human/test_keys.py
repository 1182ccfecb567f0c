import pytest
from pluriverse.human.keys import keysym_of


@pytest.mark.parametrize(
    ("name", "typed", "expected"),
    [
        ("A", "a", 0x61),
        ("A", "A", 0x41),
        ("1", "!", 0x21),
        ("Q", "@", 0x40),
        ("Ä", "Ä", 0xC4),
        ("Ф", "ф", 0x0100_0444),
        ("A", "\x01", 0x61),
        ("Left", "", 0xFF51),
        ("Left Ctrl", "", 0xFFE3),
        ("Right Shift", "", 0xFFE2),
        ("Left GUI", "", 0xFFEB),
        ("Space", " ", 0x20),
        ("Return", "\r", 0xFF0D),
        ("PageDown", "", 0xFF56),
        ("Numlock", "", 0xFF7F),
        ("Keypad Enter", "\r", 0xFF8D),
        ("Keypad +", "+", 0xFFAB),
        ("Keypad 4", "", 0xFF96),
        ("Keypad .", "", 0xFF9F),
        ("AudioNext", "", None),
        ("", "", None),
    ],
)
def test_keys_of_sdl_are_the_keysyms_of_what_they_typed_or_of_their_names(
    name: str, typed: str, expected: int | None
) -> None:
    assert keysym_of(name, typed) == expected


def test_shift_and_num_lock_count_where_nothing_tells_what_was_typed() -> None:
    assert keysym_of("A", "\x01", shift=True) == 0x41
    assert keysym_of("Keypad 4", "4", num_lock=True) == 0xFFB4
    assert keysym_of("Keypad .", ".", num_lock=True) == 0xFFAE
