"""Registers our environments as soon as Gymnasium is there, without importing it before anybody wants it.

Gymnasium takes longer to import than all of ``import pluriverse``, and it has no way to say "ask me when an id is
wanted": an id is in its registry or doesn't exist. So we wait for its import, with a finder that lets the others find
it, and registers when its code has run.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

# Importing these takes longer than all that is done here.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

GYMNASIUM: Final = "gymnasium"


def install() -> None:
    """Register now if Gymnasium was imported already, else when it is; may be called repeatedly."""
    if sys.modules.get(GYMNASIUM) is not None:
        _register()
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != GYMNASIUM:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(fullname, path, target) if finder is not self else None
            if spec is not None:
                if spec.loader is not None:
                    loader: Any = _Registering(self, spec.loader)
                    spec.loader = loader
                return spec
        return None


class _Registering:
    """Loads Gymnasium as its own loader does, and is out of the way before its code runs."""

    def __init__(self, finder: _Finder, loader: Any) -> None:
        self._finder = finder
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Whoever asks the module for its loader, to find files beside it or its source, wants the real one.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        _register()


def _register() -> None:
    from .registration import register_listed

    register_listed()
