"""The error of a missing extra."""

from __future__ import annotations

import importlib

import pytest
from pluriverse.errors import ConfigurationError, needed


def test_missing_extra_is_named_with_the_command_that_installs_it() -> None:
    expected = r"Chess isn't there .*chess_engine.*'pluriverse\[chess\]'"
    with pytest.raises(ConfigurationError, match=expected), needed("Chess", extra="chess"):
        importlib.import_module("chess_engine")
