"""Key press → changed pixel at a loopback client, and what the servers cost while a program draws at 60 fps."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

import psutil
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
            figures[f"{name}_cpu"], vnc_proxy_cpu = _cpu_shares(screen, effort.of(6, 3))
            if screen.vnc_proxy is not None:
                figures[f"{name}_vnc_proxy_ms"] = _added_by_vnc_proxy(screen, effort.of(200, 60))
                figures[f"{name}_vnc_proxy_cpu"] = vnc_proxy_cpu
    return figures


def _press_keys(screen: Desktop, count: int) -> list[float]:
    with program_on(screen, "painter.py", "keys"), RfbClient("127.0.0.1", screen.vnc_port) as client:
        return _press([client], count)[0]


def _added_by_vnc_proxy(screen: Desktop, count: int) -> float:
    """Return the milliseconds that a press takes longer (p50) than straight to the VNC server, in turns."""
    assert screen.vnc_socket is not None
    with (
        program_on(screen, "painter.py", "keys"),
        RfbClient("127.0.0.1", screen.vnc_port) as through,
        RfbClient(screen.vnc_socket) as straight,
    ):
        latencies_ms = _press([through, straight], count)
    return percentile(latencies_ms[0], 50) - percentile(latencies_ms[1], 50)


def _press(clients: list[RfbClient], count: int) -> list[list[float]]:
    """Press a key so many times at each of the clients, in turns; return the milliseconds until each saw the change."""
    latencies_ms: list[list[float]] = [[] for _ in clients]
    for client in clients:
        client.wait_for_pixel(*PIXEL, (0, 0, 0))
    for index in range((WARM_UP + count) * len(clients)):
        turn = index % len(clients)
        for client in clients:
            _watch(client, random.uniform(*PAUSE_S))
        level = 0 if index % 2 else 255
        began = time.perf_counter()
        clients[turn].key(KEY, down=True)
        clients[turn].wait_for_pixel(*PIXEL, (level, level, level))
        latencies_ms[turn].append(1000 * (time.perf_counter() - began))
        clients[turn].key(KEY, down=False)
    return [each[WARM_UP:] for each in latencies_ms]


def _watch(client: RfbClient, seconds: float) -> None:
    """Take in what comes, as a client does that waits for nothing."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        client.update(left)


def _cpu_shares(screen: Desktop, seconds: int) -> tuple[float, float]:
    """Return the per cent of a core that the servers take at 60 fps, and the VNC proxy."""
    processes = [screen.servers, [screen.vnc_proxy] if screen.vnc_proxy is not None else []]
    with program_on(screen, "painter.py", "frames"), watching(screen.vnc_port, None):
        before, began = [_spent(each) for each in processes], time.monotonic()
        time.sleep(seconds)
        elapsed = time.monotonic() - began
    servers, vnc_proxy = (100 * (_spent(each) - spent) / elapsed for each, spent in zip(processes, before, strict=True))
    return servers, vnc_proxy


def _spent(processes: list[psutil.Process]) -> float:
    return sum(times.user + times.system for times in (process.cpu_times() for process in processes))


X0: Final = "X0tigervnc as it comes"
XVNC: Final = "Xtigervnc as it comes"

MEASUREMENT: Final = Measurement(
    "latency",
    (
        Line("key press → changed pixel, p50", "ms", "xvfb_p50", Target(5), "plain_x0_p50", X0),
        Line("key press → changed pixel, p99", "ms", "xvfb_p99", None, "plain_x0_p99", X0),
        Line("X and VNC server at 60 fps", "% of a core", "xvfb_cpu", None, "plain_x0_cpu", X0),
        Line("the VNC proxy's part of that, p50", "ms", "xvfb_vnc_proxy_ms", Target(0.2)),
        Line("VNC proxy at 60 fps", "% of a core", "xvfb_vnc_proxy_cpu", Target(1)),
        Line("the same with display xvnc, p50", "ms", "xvnc_p50", Target(5), "plain_xvnc_p50", XVNC),
        Line("the same with display xvnc, p99", "ms", "xvnc_p99", None, "plain_xvnc_p99", XVNC),
        Line("X and VNC server at 60 fps, xvnc", "% of a core", "xvnc_cpu", None, "plain_xvnc_cpu", XVNC),
    ),
    run,
)
