"""``select`` for descriptors of any number: the system's refuses those from 1,024 on, and each kept moment has some."""

from __future__ import annotations

import select as system
from collections.abc import Sequence
from typing import Any, Final

# What python-xlib, which is given this module, catches.
error: Final = OSError


def select(
    reading: Sequence[Any], writing: Sequence[Any] = (), _: Sequence[Any] = (), timeout_s: float | None = None
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return which of these can be read, and which written to."""
    poll = system.poll()
    for each in {*reading, *writing}:
        poll.register(each, system.POLLIN * (each in reading) | system.POLLOUT * (each in writing))
    ready = dict(poll.poll(None if timeout_s is None else 1000 * timeout_s))

    def among(these: Sequence[Any], other: int) -> list[Any]:
        return [each for each in these if ready.get(each if isinstance(each, int) else each.fileno(), 0) & ~other]

    return among(reading, system.POLLOUT), among(writing, system.POLLIN), []
