from types import SimpleNamespace

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.human.listener import Listener, keysym_of


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (SimpleNamespace(char="a"), 0x61),
        (SimpleNamespace(char="Ä"), 0xC4),
        (SimpleNamespace(char="\x03"), 0x63),
        (SimpleNamespace(name="left"), 0xFF51),
        (SimpleNamespace(name="ctrl_l"), 0xFFE3),
        (SimpleNamespace(name="shift_r"), 0xFFE2),
        (SimpleNamespace(name="space"), 0x20),
        (SimpleNamespace(name="page_down"), 0xFF56),
        (SimpleNamespace(name="num_lock"), 0xFF7F),
        (SimpleNamespace(name="media_next"), None),
    ],
)
def test_keys_of_pynput_are_the_keysyms_of_their_names(key: SimpleNamespace, expected: int | None) -> None:
    assert keysym_of(key) == expected


def test_without_a_desktop_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pynput", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'pluriverse\[play\]'"):
        Listener(print)
