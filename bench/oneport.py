"""The screen by the VNC port, by the one port, and by the one port with TLS: how much it carries, and how soon.

Two remotes, one of them with TLS, show the same; each is idle while the other is measured, in turns.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from latency import KEY, PAUSE_S, PIXEL, WARM_UP
from pluriverse.remotes import START_S, parse_addresses
from pluriverse.remotes.health import wait_until_ready
from pluriverse.rfb import Region
from pluriverse.vnc import VncConnection, VncOptions, connect, connect_web, wait_for_frames
from pluriverse_protocol.events import KeyEvent
from report import Effort, Figures, Line, Measurement, Target, percentile
from support.remotes import MachineRemote, on_machine

RUNTIME: Final = str(Path(__file__).with_name("painting"))
SERVER: Final = "127.0.0.1"

# A press that isn't seen by now was lost.
LOST_S: Final = 5.0

# Four bytes a pixel: what carries is the limit, neither encoder nor decoder.
RAW: Final = VncOptions(encodings=("raw",))
USUAL: Final = VncOptions()
CORNER: Final = VncOptions(crop=Region(0, 0, 1, 1))

# Between black and white.
MIDDLE: Final = 127

# Rates differ from second to second with what else the machine does; turns share that.
TURN_S: Final = 1.0

# The last pictures of a turn are on their way for so long.
CALM_S: Final = 0.2

WAYS: Final = ("port", "web", "tls")


def run(effort: Effort) -> Figures:
    """Millions of pixels a second, and milliseconds."""
    return {**_rates(effort.of(8, 3)), **_presses(effort.of(200, 60))}


def _rates(rounds: int) -> Figures:
    pixels: dict[str, int] = dict.fromkeys(WAYS, 0)
    seconds: dict[str, float] = dict.fromkeys(WAYS, 0.0)
    with _both("painting.Screens-v0") as ways, ExitStack() as stack:
        # Keys go their own way: one who is flooded with pictures may lose them when it hangs up.
        keys = {name: ways[name](CORNER) for name in ("port", "tls")}
        for each in keys.values():
            stack.callback(each.close)
        for _ in range(rounds):
            for name, opened in ways.items():
                screen, key = opened(RAW), keys["tls" if name == "tls" else "port"]
                try:
                    _press(key)
                    first, last, took_s = _received(screen)
                    _press(key)
                finally:
                    screen.close()
                pixels[name] += last - first
                seconds[name] += took_s
                time.sleep(CALM_S)
    return {f"{name}_mpixels": pixels[name] / seconds[name] / 1e6 for name in WAYS}


def _received(screen: VncConnection) -> tuple[int, int, float]:
    """Return the pixels that had come by the beginning and by the end of a turn, and how long it took."""
    seen: list[tuple[int, float]] = []
    until = time.monotonic() + TURN_S
    while time.monotonic() < until:
        assert wait_for_frames([screen], LOST_S), f"nothing was drawn: {screen.error}"
        frame = screen.frame()
        assert frame is not None
        seen.append((frame.pixels, frame.at))
    # The first shows what was there before.
    (first, began), (last, ended) = seen[1], seen[-1]
    return first, last, ended - began


def _presses(count: int) -> Figures:
    latencies_ms: dict[str, list[float]] = {name: [] for name in WAYS}
    with _both("painting.Keys-v0") as ways:
        screens = {name: opened(USUAL) for name, opened in ways.items()}
        try:
            for _ in range((WARM_UP + count) // 2):
                # Two presses by each way, as two of the ways lead to the same square.
                for name, screen in screens.items():
                    for bright in (True, False):
                        time.sleep(random.uniform(*PAUSE_S))
                        latencies_ms[name].append(_press_seen(screen, bright=bright))
        finally:
            for screen in screens.values():
                screen.close()
    medians = {name: percentile(each[WARM_UP:], 50) for name, each in latencies_ms.items()}
    return {
        **{f"{name}_p50": median for name, median in medians.items()},
        "web_added": medians["web"] - medians["port"],
        "tls_added": medians["tls"] - medians["port"],
    }


def _press(screen: VncConnection) -> None:
    screen.send_events([KeyEvent(KEY, True), KeyEvent(KEY, False)])


def _press_seen(screen: VncConnection, *, bright: bool) -> float:
    """Press a key; return the milliseconds until the picture shows it."""
    began = time.perf_counter()
    _press(screen)
    while (_level(screen) > MIDDLE) is not bright:
        assert time.perf_counter() - began < LOST_S, f"a key press was not answered: {screen.error}"
        wait_for_frames([screen], LOST_S)
    return 1000 * (time.perf_counter() - began)


def _level(screen: VncConnection) -> int:
    while (frame := screen.frame()) is None:
        assert wait_for_frames([screen], LOST_S), f"no picture came: {screen.error}"
    return int(frame.array[PIXEL[1], PIXEL[0], 0])


@contextmanager
def _both(env_id: str) -> Generator[dict[str, Callable[[VncOptions], VncConnection]]]:
    """Remotes that show the same, and ways to open their screens."""
    with (
        on_machine("--env", env_id, runtime=RUNTIME) as clear,
        on_machine("--env", env_id, "--tls", runtime=RUNTIME) as secured,
    ):
        for remote in (clear, secured):
            wait_until_ready(parse_addresses(remote.one_port)[0], START_S, lambda: None)
        yield {
            "port": lambda options: connect(SERVER, clear.vnc_port, clear.password, options=options),
            "web": lambda options: _by_web(clear, options),
            "tls": lambda options: _by_web(secured, options),
        }


def _by_web(remote: MachineRemote, options: VncOptions) -> VncConnection:
    return connect_web(parse_addresses(remote.one_port)[0].endpoint, options=options)


PORT: Final = "the VNC port"

MEASUREMENT: Final = Measurement(
    "oneport",
    (
        Line("screen by the one port", "Mpixel/s", "web_mpixels", Target(low=0.9, of_plain=True), "port_mpixels", PORT),
        Line("the same with TLS", "Mpixel/s", "tls_mpixels", Target(low=0.9, of_plain=True), "port_mpixels", PORT),
        Line("key press → changed pixel by the one port, longer by (p50)", "ms", "web_added", Target(0.3)),
        Line("the same with TLS, longer by (p50)", "ms", "tls_added", Target(0.3)),
        Line("key press → changed pixel by the one port, p50", "ms", "web_p50", None, "port_p50", PORT),
        Line("by the one port with TLS, p50", "ms", "tls_p50", None, "port_p50", PORT),
    ),
    run,
)
