"""Makes the core of an interface: in real time or in lockstep, of as many environments and remotes as are asked for."""

from __future__ import annotations

import os
from typing import Any, Literal

from pluriverse_protocol.kinds import CLOCKS

from pluriverse import validation
from pluriverse.errors import ConfigurationError
from pluriverse.remotes import RemoteManager

from .core import Core
from .lockstep import TooFewSlots
from .repeatable import RepeatableCore


def make_core(
    env_id: str | None,
    remotes: int | str | RemoteManager = 1,
    *,
    clock: Literal["realtime", "lockstep"] = "realtime",
    record: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Core:
    """Return a core whose environments keep going while the agent thinks, or in lockstep stand still.

    ``options`` are those of ``Core``, and in lockstep ``slots``.

    Raises:
        ConfigurationError: there is no such clock; or as ``Core``.
        RemoteUnavailable: as ``Core``.
        RemoteFailed: as ``Core``.
    """
    validation.choice("clock", clock, CLOCKS)
    if clock == "lockstep":
        return RepeatableCore(env_id, remotes, record=record, **options)
    if record is not None:
        raise ConfigurationError('record is of clock="lockstep"; in real time, pluriverse-server record keeps a screen')
    if options.pop("slots", 1) != 1:
        raise ConfigurationError("in real time a remote holds one environment; slots are for clock='lockstep'")
    return Core(env_id, remotes, **options)


def fit(n: int, remotes: RemoteManager, clock: str | None) -> bool:
    """Whether ``n`` environments are one on each remote, or in lockstep as many on each as on the others."""
    return n == remotes.n or (clock == "lockstep" and n % remotes.n == 0)


def make_copies(
    env_id: str | None, n: int, remotes: RemoteManager | None, *, slots: int | None = None, **options: Any
) -> Core:
    """Return a core of ``n`` environments; ``options`` are those of ``make_core``.

    They are on ``remotes``, or with None on as few as hold them, ``slots`` on each if that is given. In real time each
    is a remote of its own.

    Raises:
        ConfigurationError: ``n`` aren't as many on each remote; or as ``make_core``.
        RemoteUnavailable: as ``make_core``.
        RemoteFailed: as ``make_core``.
    """
    if options.get("clock") != "lockstep":
        return make_core(env_id, n if remotes is None else remotes, slots=slots or 1, **options)
    if remotes is None and slots is None and n > 1:
        try:
            return make_core(env_id, 1, slots=n, **options)
        except TooFewSlots as error:
            slots = max(each for each in range(1, error.slots + 1) if n % each == 0)
    if remotes is not None:
        slots = slots or max(1, n // remotes.n)
    slots = slots or 1
    count = n // slots if remotes is None else remotes.n
    if count * slots != n:
        raise ConfigurationError(f"{n} environments are not {slots} on each of {count} remotes")
    return make_core(env_id, count if remotes is None else remotes, slots=slots, **options)
