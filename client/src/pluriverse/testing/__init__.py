"""Whether the interfaces keep their promises on some environment: for authors of runtimes, and for our own tests.

Each interface has a function ``check(env_id, remotes, **options)`` in a module of its name, here as
``check_gymnasium``, ``check_dm_env``, ``check_envpool`` and ``check_alf``. It plays the environment for some steps, and
raises ``NotConforming``, which says what was promised and what came. They need no test framework, and only what their
interface needs.

>>> from pluriverse.testing import check_gymnasium
>>> check_gymnasium("gym-core.CartPole-v0", "local:1")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

INTERFACES: Final = ("alf", "dm_env", "envpool", "gymnasium")


class NotConforming(AssertionError):
    """An interface did not do what it promises; says what was expected and what came."""


def require(kept: object, promise: str) -> None:
    """Go on if a promise was kept.

    Raises:
        NotConforming: it wasn't.
    """
    if not kept:
        raise NotConforming(promise)


def __getattr__(name: str) -> Callable[..., Any]:
    interface = name.removeprefix("check_")
    if interface == name or interface not in INTERFACES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return importlib.import_module(f".{interface}", __name__).check
