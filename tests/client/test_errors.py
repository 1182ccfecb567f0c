import importlib

import pytest
from pluriverse.errors import ConfigurationError, needed, printable


def test_missing_extra_is_named_with_the_command_that_installs_it() -> None:
    expected = r"^Chess needs chess_engine, which isn't installed: pip install 'pluriverse\[chess\]'$"
    with pytest.raises(ConfigurationError, match=expected), needed("Chess", extra="chess"):
        importlib.import_module("chess_engine")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("going home", "going home"),
        ("Pokémon 口", "Pokémon 口"),
        ("\x1b[2Jgone\x07", r"\x1b[2Jgone\x07"),
        ("one\nremote 3: fine", r"one\nremote 3: fine"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
    ],
)
def test_what_a_remote_said_is_shown_without_what_would_move_a_terminal(said: str, shown: str) -> None:
    assert printable(said) == shown
