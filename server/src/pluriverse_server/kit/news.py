"""Waiting for keys and requests together."""

from __future__ import annotations

import select

from pluriverse_protocol.reports import Request

from .keys import Keyboard, KeyEdge
from .reporter import Reporter


def news(keyboard: Keyboard, reporter: Reporter, timeout_s: float | None) -> tuple[list[KeyEdge], list[Request]]:
    """The key edges and the requests that have come, once something has or ``timeout_s`` have passed; None: for ever.

    The edges are to be handled first: they were there before the requests were read, so that a key that came before a
    reset is the old episode's.

    Raises:
        DaemonGone: the daemon has hung up.
    """
    waiting = keyboard.waiting
    readable, _, _ = select.select((keyboard, reporter), (), (), 0.0 if waiting else timeout_s)
    edges = keyboard.events() if waiting or keyboard in readable else []
    return edges, reporter.requests() if reporter in readable else []
