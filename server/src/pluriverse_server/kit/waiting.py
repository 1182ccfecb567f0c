"""Waiting for keys and requests together."""

from __future__ import annotations

import select

from pluriverse_protocol.reports import Request

from .keys import Keyboard, KeyEdge
from .reporter import Reporter


def wait_for_input(
    keyboard: Keyboard, reporter: Reporter, timeout_s: float | None
) -> tuple[list[KeyEdge], list[Request]]:
    """Return the key edges and requests that came, once there are any or ``timeout_s`` have passed; None: for ever.

    Handle the edges first: they were there before the requests were read, so a key that came before a reset is the old
    episode's.

    Raises:
        DaemonGone: the daemon has hung up.
        NoDisplay: the X server is gone.
    """
    waiting = keyboard.waiting
    readable, _, _ = select.select((keyboard, reporter), (), (), 0.0 if waiting else timeout_s)
    edges = keyboard.events() if waiting or keyboard in readable else []
    return edges, reporter.requests() if reporter in readable else []
