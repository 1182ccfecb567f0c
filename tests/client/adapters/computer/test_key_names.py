import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.adapters.computer.key_names import MAX_CHORD, chord, key, typed
from pluriverse.errors import ActionError

# As the providers' own documents name them, and as models write them.
NAMES = {
    0xFF0D: ("Return", "ENTER", "enter", "return"),
    0xFF1B: ("Escape", "ESC", "esc"),
    0xFF08: ("BackSpace", "BACKSPACE", "Backspace"),
    0xFFFF: ("Delete", "DELETE", "DEL"),
    0xFF55: ("Page_Up", "PAGEUP", "PageUp", "Prior"),
    0xFF56: ("Page_Down", "PAGEDOWN", "Next"),
    0xFF51: ("Left", "ARROWLEFT", "ArrowLeft"),
    0xFFE3: ("ctrl", "CTRL", "Control", "Control_L", "CONTROL"),
    0xFFE9: ("alt", "ALT", "Alt_L", "OPTION", "option"),
    0xFFEB: ("super", "SUPER", "Super_L", "CMD", "cmd", "win", "WIN"),
    0xFFE7: ("meta", "META"),
    0xFFE5: ("CAPSLOCK", "Caps_Lock"),
    0xFFBE: ("F1", "f1"),
    0x20: ("space", "SPACE", " "),
    0x2B: ("plus", "+", "PLUS"),
    0x2F: ("slash", "/", "SLASH"),
    0x61: ("a",),
    0x41: ("A",),
    0xFFAB: ("KP_Add", "ADD", "NumpadAdd"),
    0x1008FF26: ("XF86Back", "BrowserBack"),
    0x010020AC: ("€",),
}


def test_each_name_is_its_key() -> None:
    assert {keysym: {name: key(name) for name in names} for keysym, names in NAMES.items()} == {
        keysym: dict.fromkeys(names, keysym) for keysym, names in NAMES.items()
    }


@pytest.mark.parametrize(
    ("text", "keysyms"),
    [
        ("ctrl+s", (0xFFE3, 0x73)),
        ("ctrl+shift+Escape", (0xFFE3, 0xFFE1, 0xFF1B)),
        ("ctrl++", (0xFFE3, 0x2B)),
        ("+", (0x2B,)),
        (" alt + Tab ", (0xFFE9, 0xFF09)),
        ("CTRL+C", (0xFFE3, 0x63)),
        ("A", (0x41,)),
    ],
)
def test_a_chord_is_its_keys_in_their_order(text: str, keysyms: tuple[int, ...]) -> None:
    assert chord(text) == keysyms


@pytest.mark.parametrize("text", ["", "ctrl+", "+s", "a++b", "  "])
def test_a_chord_with_a_gap_is_refused(text: str) -> None:
    with pytest.raises(ActionError, match="expected keys joined by"):
        chord(text)


def test_more_keys_than_hands_hold_are_refused() -> None:
    with pytest.raises(ActionError, match=f"at most {MAX_CHORD}"):
        chord("+".join("abcdefghi"))


def test_an_unknown_key_is_refused_with_those_like_it() -> None:
    with pytest.raises(ActionError, match=r"unknown key 'Retrun'.*Enter"):
        key("Retrun")


@given(st.characters(exclude_categories=["Cc", "Cs"]))
def test_any_character_can_be_written(character: str) -> None:
    keysym = typed(character)
    assert keysym in (ord(character), 0x0100_0000 + ord(character))


@pytest.mark.parametrize(("character", "keysym"), [("\n", 0xFF0D), ("\t", 0xFF09), ("ß", 0xDF), ("😀", 0x0101F600)])
def test_some_characters_are_keys_of_other_names(character: str, keysym: int) -> None:
    assert typed(character) == keysym


@pytest.mark.parametrize("character", ["\x00", "\x07"])
def test_what_no_key_writes_is_refused(character: str) -> None:
    with pytest.raises(ActionError, match="no key writes"):
        typed(character)
