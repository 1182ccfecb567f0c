"""Conformance checks of the interfaces on any environment, for authors of runtimes and for our own tests.

``check_gymnasium``, ``check_dm_env``, ``check_envpool`` and ``check_alf`` are ``check(env_id, remotes, **options)`` of
the interface's module here. Each plays the environment for some steps, and raises ``NotConforming``, which says what
was expected and what came. They need no test framework, and only what their interface needs.

>>> from pluriverse.testing import check_gymnasium
>>> check_gymnasium("gym-core.CartPole-v0", "local:1")
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

INTERFACES: Final = ("alf", "dm_env", "envpool", "gymnasium")


class NotConforming(AssertionError):
    """An interface broke its contract; with what was expected and what came."""


def require(kept: object, promise: str) -> None:
    """Raise ``NotConforming`` with the promise if it wasn't kept."""
    if not kept:
        raise NotConforming(promise)


def require_error(error: type[Exception], what: str, call: Callable[..., object], *arguments: object) -> None:
    """Raise ``NotConforming`` if a call doesn't raise ``error``; ``what`` describes the invalid call."""
    try:
        call(*arguments)
    except error:
        return
    raise NotConforming(f"{what} was accepted, expected {error.__name__}")


def __getattr__(name: str) -> Callable[..., Any]:
    interface = name.removeprefix("check_")
    if interface == name or interface not in INTERFACES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return importlib.import_module(f".{interface}", __name__).check
