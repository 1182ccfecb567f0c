"""Modules that take seconds to import, for the tests that need them: collecting the others needn't wait."""

import importlib
import importlib.util
from typing import Any

import pytest


class Later:
    """A module that is imported when something of it is used first."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


def needs(name: str) -> pytest.MarkDecorator:
    """Return the mark of tests that are skipped where a package is not installed."""
    return pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=f"{name} is not installed")
