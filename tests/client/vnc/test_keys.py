import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.vnc.keys import key_name, keysym
from pluriverse_protocol.keysyms import keysym_names


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("a", 0x61), ("A", 0x41), (" ", 0x20), ("space", 0x20), ("é", 0xE9), ("€", 0x10020AC), ("1", 0x31),
        ("ArrowUp", 0xFF52), ("Up", 0xFF52), ("up", 0xFF52), ("arrow_up", 0xFF52), ("ArrowLeft", 0xFF51),
        ("ctrl", 0xFFE3), ("Control_L", 0xFFE3), ("ControlRight", 0xFFE4), ("shift", 0xFFE1), ("rshift", 0xFFE2),
        ("Enter", 0xFF0D), ("return", 0xFF0D), ("KP_Enter", 0xFF8D), ("Escape", 0xFF1B), ("esc", 0xFF1B),
        ("F1", 0xFFBE), ("f12", 0xFFC9), ("F35", 0xFFE0), ("kp0", 0xFFB0), ("Numpad9", 0xFFB9),
        ("KeyW", 0x77), ("Digit5", 0x35), ("bslash", 0x5C), ("slash", 0x2F), ("pgup", 0xFF55), ("PageDown", 0xFF56),
        ("EuroSign", 0x20AC), ("eurosign", 0x20AC), ("eacute", 0xE9), ("Eacute", 0xC9), ("dead_acute", 0xFE51),
        ("XF86AudioPlay", 0x1008FF14), ("xf86audioplay", 0x1008FF14), ("hyphen", 0x2D), ("Greek_ALPHA", 0x7C1),
        ("Delete", 0xFFFF), ("del", 0xFFFF), ("Backspace", 0xFF08), ("super", 0xFFEB), ("AltGraph", 0xFE03),
    ],
)  # fmt: skip
def test_keys_have_the_names_that_people_give_them(name: str, number: int) -> None:
    assert keysym(name) == number


def test_a_keysym_is_itself() -> None:
    assert keysym(0xBEEF1) == 0xBEEF1


@pytest.mark.parametrize("number", [0, -1, 0x20000000])
def test_a_number_that_is_no_keysym_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="isn't a keysym"):
        keysym(number)


def test_an_unknown_name_is_told_with_those_close_to_it() -> None:
    with pytest.raises(ValueError, match=r"unknown key 'ArowUp'; the nearest: ArrowUp"):
        keysym("ArowUp")


@pytest.mark.parametrize("name", ["", "\n", "no such key at all"])
def test_what_is_like_no_key_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="unknown key"):
        keysym(name)


def test_latin_1_characters_that_do_not_print_have_names() -> None:
    assert (key_name(0xA0), key_name(0xAD)) == ("nobreakspace", "softhyphen")
    assert (keysym("nobreakspace"), keysym("softhyphen")) == (0xA0, 0xAD)
    assert (keysym("\xa0"), keysym("\xad")) == (0xA0, 0xAD)


def test_every_named_key_is_found_by_its_name() -> None:
    names = {number: key_name(number) for number in keysym_names()}
    assert len(names) > 2000
    assert {keysym(name): name for name in names.values()} == names


@given(st.integers(1, 0x1FFFFFFF))
def test_every_name_that_is_told_is_taken_back(number: int) -> None:
    name = key_name(number)
    if not name.startswith("0x"):
        assert keysym(name) == number


@given(st.characters(exclude_categories=["Cs"]))
def test_every_printable_character_is_a_key(character: str) -> None:
    if character.isprintable():
        assert key_name(keysym(character)) in (character, "space")
