"""Makes the core of an interface, of as many environments on as many remotes as are asked for."""

from __future__ import annotations

from typing import Any

from pluriverse_protocol.limits import MAX_SLOTS

from pluriverse.errors import ConfigurationError
from pluriverse.remotes import RemoteManager
from pluriverse.runtimes import slots_of

from .core import Core
from .lockstep import TooFewSlots


def fit(n: int, remotes: RemoteManager, clock: str | None) -> bool:
    """Whether ``n`` environments are one on each remote, or in lockstep as many on each as on the others."""
    return n == remotes.n or (clock == "lockstep" and n % remotes.n == 0)


def make_copies(
    env_id: str | None, n: int, remotes: RemoteManager | None, *, slots: int | None = None, **options: Any
) -> Core:
    """Return a core of ``n`` environments; ``options`` are those of ``Core``.

    They are on ``remotes``, or with None on as few as hold them, ``slots`` on each if that is given. In real time each
    is a remote of its own.
    """
    if options.get("clock") != "lockstep":
        return Core(env_id, n if remotes is None else remotes, slots=slots or 1, **options)
    if remotes is None and slots is None:
        held = slots_of(env_id) if env_id is not None else None
        slots = _fitting(n, held or MAX_SLOTS)
        try:
            return Core(env_id, n // slots, slots=slots, **options)
        except TooFewSlots as error:
            slots = _fitting(n, error.slots)
    count = n // (slots or 1) if remotes is None else remotes.n
    slots = slots or max(1, n // count)
    if count * slots != n:
        raise ConfigurationError(f"{n} environments are not {slots} on each of {count} remotes")
    return Core(env_id, count if remotes is None else remotes, slots=slots, **options)


def _fitting(n: int, slots: int) -> int:
    """Return on how many of its slots each remote has as many of ``n`` environments as the others."""
    return max(each for each in range(1, slots + 1) if n % each == 0)
