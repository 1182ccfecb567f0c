"""The client's clock: UNIX time that goes on when the system's clock is set."""

from __future__ import annotations

import time

from pluriverse_protocol.steady_clock import SteadyClock

CLOCK: SteadyClock = SteadyClock(time.time, time.monotonic)


def now() -> float:
    return CLOCK.now()
