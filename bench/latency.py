"""Key press → changed pixel at a loopback client, and what the servers cost while a program draws at 60 fps."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

from desktops import Desktop, ours, plain_x0, plain_xvnc, program_on
from report import Effort, Figures, Line, Measurement, Target, percentile
from support.rfb import RfbClient
from viewer import watching

DESKTOPS: Final[dict[str, Callable[[], AbstractContextManager[Desktop]]]] = {
    "xvfb": lambda: ours("xvfb"),
    "plain_x0": plain_x0,
    "xvnc": lambda: ours("xvnc"),
    "plain_xvnc": plain_xvnc,
}

KEY: Final = ord("x")
PIXEL: Final = (32, 32)

# Longer than any server's interval between updates, and random, so that no press falls into step with them.
PAUSE_S: Final = (0.030, 0.060)

# The first presses wake what was never used.
WARM_UP: Final = 10


def run(effort: Effort) -> Figures:
    """Milliseconds and per cent of a core on all four desktops, one after the other."""
    figures: Figures = {}
    for name, desktop in DESKTOPS.items():
        with desktop() as screen:
            latencies_ms = _press_keys(screen, effort.of(200, 60))
            figures[f"{name}_p50"] = percentile(latencies_ms, 50)
            figures[f"{name}_p99"] = percentile(latencies_ms, 99)
            figures[f"{name}_cpu"] = _cpu_share(screen, effort.of(6, 3))
    return figures


def _press_keys(screen: Desktop, count: int) -> list[float]:
    latencies_ms: list[float] = []
    with program_on(screen, "painter.py", "keys"), RfbClient("127.0.0.1", screen.vnc_port) as client:
        client.wait_for_pixel(*PIXEL, (0, 0, 0))
        for index in range(WARM_UP + count):
            _watch(client, random.uniform(*PAUSE_S))
            level = 0 if index % 2 else 255
            began = time.perf_counter()
            client.key(KEY, down=True)
            client.wait_for_pixel(*PIXEL, (level, level, level))
            latencies_ms.append(1000 * (time.perf_counter() - began))
            client.key(KEY, down=False)
    return latencies_ms[WARM_UP:]


def _watch(client: RfbClient, seconds: float) -> None:
    """Take in what comes, as a client does that waits for nothing."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        client.update(left)


def _cpu_share(screen: Desktop, seconds: int) -> float:
    with program_on(screen, "painter.py", "frames"), watching(screen.vnc_port, None):
        before, began = _spent(screen), time.monotonic()
        time.sleep(seconds)
        return 100 * (_spent(screen) - before) / (time.monotonic() - began)


def _spent(screen: Desktop) -> float:
    return sum(times.user + times.system for times in (server.cpu_times() for server in screen.servers))


X0: Final = "X0tigervnc as it comes"
XVNC: Final = "Xtigervnc as it comes"

MEASUREMENT: Final = Measurement(
    "latency",
    (
        Line("key press → changed pixel, p50", "ms", "xvfb_p50", Target(5), "plain_x0_p50", X0),
        Line("key press → changed pixel, p99", "ms", "xvfb_p99", None, "plain_x0_p99", X0),
        Line("X and VNC server at 60 fps", "% of a core", "xvfb_cpu", None, "plain_x0_cpu", X0),
        Line("the same with display xvnc, p50", "ms", "xvnc_p50", Target(5), "plain_xvnc_p50", XVNC),
        Line("the same with display xvnc, p99", "ms", "xvnc_p99", None, "plain_xvnc_p99", XVNC),
        Line("X and VNC server at 60 fps, xvnc", "% of a core", "xvnc_cpu", None, "plain_xvnc_cpu", XVNC),
    ),
    run,
)
