"""Measures how steady frames are: the clock painted in each, as a VNC client sees it, while Pong runs at 60 fps."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Final

from painted import PaintedClock
from prometheus_client.parser import text_string_to_metric_families
from remote import Playing, our_pong, plain_pong
from report import Effort, Figures, Line, Measurement, Target, percentile
from support.rfb import RfbClient

FPS: Final = 60.0
DRAWN: Final = "pluriverse_frames_total"
LATE: Final = "pluriverse_late_frames_total"


def run(effort: Effort) -> Figures:
    """Frames a second and milliseconds."""
    seconds = effort.of(30, 10)
    return {**_watch("ours", our_pong(), seconds), **_watch("plain", plain_pong(), seconds)}


def _watch(name: str, pong: AbstractContextManager[Playing], seconds: int) -> Figures:
    with pong as playing, RfbClient("127.0.0.1", playing.vnc_port, playing.password) as viewer:
        clock = PaintedClock(viewer)
        clock.wait_for_first()
        # The first second's frames are drawn while the program's memory is still being touched for the first time.
        clock.frames(1.0)
        before, began = _counts(playing), time.monotonic()
        frames = clock.frames(seconds)
        after, ended = _counts(playing), time.monotonic()
    figures = _summary(frames)
    if before and after:
        figures["drawn"] = (after[DRAWN] - before[DRAWN]) / (ended - began)
        figures["late"] = after[LATE] - before[LATE]
    return {f"{name}_{key}": value for key, value in figures.items()}


def _summary(frames: Sequence[tuple[int, float]]) -> Figures:
    painted = [(later[0] - earlier[0]) for earlier, later in pairwise(frames)]
    arrived = [1000 * (later[1] - earlier[1]) for earlier, later in pairwise(frames)]
    period = 1000 / FPS
    return {
        "seen": 1000 * len(painted) / sum(painted),
        "jitter": percentile([abs(interval - period) for interval in painted], 99),
        "arrival": percentile([abs(interval - period) for interval in arrived], 99),
    }


def _counts(playing: Playing) -> dict[str, float]:
    """The remote's metrics by name; empty where nobody counts."""
    if playing.rewarder_port is None:
        return {}
    with urllib.request.urlopen(f"http://127.0.0.1:{playing.rewarder_port}/metrics", timeout=5) as answer:
        text: str = answer.read().decode()
    families = text_string_to_metric_families(text)
    return {sample.name: sample.value for family in families for sample in family.samples}


PLAIN: Final = "pygame's Clock.tick(60)"

MEASUREMENT: Final = Measurement(
    "pacing",
    (
        Line("frames drawn", "fps", "ours_drawn", Target(60.3, 59.7)),
        Line("frames seen at a VNC client", "fps", "ours_seen", None, "plain_seen", PLAIN),
        Line("frame interval off by, painted clock, p99", "ms", "ours_jitter", None, "plain_jitter", PLAIN),
        Line("frame interval off by, at a VNC client, p99", "ms", "ours_arrival", None, "plain_arrival", PLAIN),
        Line("frames dropped for being late", "", "ours_late"),
    ),
    run,
)
