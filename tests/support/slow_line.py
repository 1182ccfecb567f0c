"""A line that is slow: a relay that hands everything on a while later, both ways."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from support.relay import Relay, beside, relaying_by


@contextlib.contextmanager
def slow_line(port: int, delay_s: float) -> Generator[int]:
    """The port of a relay to ``port`` of this machine, each way ``delay_s`` seconds longer."""
    with beside(relaying_by(lambda: Relay(port, delay_s=delay_s))) as (relay,):
        yield relay.port
