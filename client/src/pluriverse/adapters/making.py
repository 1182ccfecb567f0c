"""Makes the core of an interface, of as many environments on as many remotes as are asked for."""

from __future__ import annotations

from typing import Any

from pluriverse_protocol.limits import MAX_SLOTS

from pluriverse import remotes as remotes_module
from pluriverse import validation
from pluriverse.errors import ConfigurationError
from pluriverse.remotes import RemoteManager
from pluriverse.runtimes import slots_of

from .core import Core
from .lockstep import TooFewSlots


def make_copies(
    env_id: str | None,
    n: int | None,
    remotes: int | str | RemoteManager | None,
    *,
    called: str = "num_envs",
    slots: int | None = None,
    **options: Any,
) -> Core:
    """Return a core of ``n`` environments; ``options`` are those of ``Core``.

    They are on ``remotes``, as in ``pluriverse.make``, or with None on as few as hold them, ``slots`` on each if that
    is given. In real time each is a remote of its own. ``n`` None: as many as there are remotes, or slots on them.
    ``called`` is what the interface calls ``n``.
    """
    lockstep = options.get("clock") == "lockstep"
    manager = None
    if remotes is not None:
        given = {name: options[name] for name in ("start_timeout_s", "clock") if name in options}
        manager = remotes_module.parse(remotes, env_id, **given)
    if slots is not None:
        slots = validation.integer("slots", slots, 1, MAX_SLOTS)
    if n is None:
        n = (1 if manager is None else manager.n) * (slots or 1)
    n = validation.integer(called, n, 1)
    if lockstep and manager is None and slots is None:
        held = slots_of(env_id) if env_id is not None else None
        slots = _fitting(n, held or MAX_SLOTS)
        try:
            return Core(env_id, n // slots, slots=slots, **options)
        except TooFewSlots as error:
            slots = _fitting(n, error.slots)
    count = n // (slots or 1) if manager is None else manager.n
    slots = slots or (max(1, n // count) if lockstep else 1)
    if count * slots != n:
        raise ConfigurationError(
            f"{called} is {n}, and there are {count} remotes with {slots} each; in real time each remote holds one "
            "environment, in lockstep as many as the others; several environments are a vector: gymnasium.make_vec(…)"
        )
    return Core(env_id, count if manager is None else manager, slots=slots, **options)


def _fitting(n: int, slots: int) -> int:
    """Return on how many of its slots each remote has as many of ``n`` environments as the others."""
    return max(each for each in range(1, slots + 1) if n % each == 0)
