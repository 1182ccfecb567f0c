from __future__ import annotations

import subprocess
import sys

import pytest
from pluriverse import testing


def test_promise_that_was_not_kept_is_raised() -> None:
    testing.require(1, "never said")
    with pytest.raises(testing.NotConforming, match="a promise"):
        testing.require(0, "a promise")


def test_interfaces_are_loaded_when_they_are_asked_for() -> None:
    code = "import pluriverse.testing as t, sys; assert not {'gymnasium', 'dm_env', 'numpy'} & sys.modules.keys()"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    assert testing.check_gymnasium.__module__ == "pluriverse.testing.gymnasium"
    with pytest.raises(AttributeError, match="check_nothing"):
        _ = testing.check_nothing
