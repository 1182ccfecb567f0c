"""A game of rounds: each begins another by itself, in the same process, after a sign that it is over."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Final

from pluriverse_protocol.recordings import Header
from pluriverse_server.authoring.labels import LabelledEpisode, Labels

# The sign's picture is still to be cut out of a recording: until then it is a draft.
MANIFEST: Final = """
[runtime]
id = "rounds"
version = "1.0.0"
title = "Rounds"
default_env = "rounds.Rounds-v0"
screen = { width = 320, height = 240 }
[program]
command = ["python", "game.py", "truth.jsonl"]
[reset]
by = "keys"
[sources.points]
from = "screen"
read = "bar"
region = [10, 10, 100, 8]
colour = "#00ff00"
[sources.over]
from = "screen"
read = "template"
region = [100, 100, 40, 20]
image = "over.png"
[[rewards]]
source = "points"
scale = 100
[episode]
ready = "points == 0 and not over"
done = { lost = "over" }
[score]
max_delay = "0.45 s"
[[envs]]
id = "rounds.Rounds-v0"
"""

# Three points, ten each; the first round begins slowly, so that a remote is ready before anything is earned.
GAME: Final = """
import json, sys, time
import numpy as np
from pluriverse_server.kit import Pacer, Window

with Window(320, 240, title="Rounds") as window, open(sys.argv[1], "a") as truth:
    region = window.image(0, 0, 320, 240)
    picture = np.frombuffer(region.memory, np.uint8).reshape(240, 320, 4)
    pacer = Pacer(30, time.monotonic())
    for frame in range(-90, 10_000):
        within = frame % 75 if frame > 0 else 0
        points, over = min(within // 15, 3), within >= 57
        picture[:] = 40
        picture[10:18, 10:10 + 10 * points] = (0, 255, 0, 0)
        if over:
            picture[100:120, 100:140] = np.add.outer(np.arange(20) * 12, np.arange(40) * 6 % 97)[..., None] % 256
        window.put(region)
        print(json.dumps([time.time(), points, over]), file=truth, flush=True)
        time.sleep(max(0.0, pacer.next_due - time.monotonic()))
        pacer.take(time.monotonic())
"""


def write_runtime(directory: Path) -> Path:
    """The draft of its runtime in ``directory``."""
    (directory / "runtime.toml").write_text(MANIFEST)
    (directory / "game.py").write_text(GAME)
    return directory


def ends(directory: Path) -> list[float]:
    """When rounds were over so far, in UNIX seconds."""
    lines = _drawn(directory)
    return [at for (_, _, was), (at, _, over) in pairwise(lines) if over and not was]


def truth(directory: Path, header: Header, ready: float, seconds: float) -> Labels:
    """What the game itself says of what it drew, since the first round that began at the time ``ready`` or later."""
    since = [(at - header.began, points, over) for at, points, over in _drawn(directory)]
    before = next(((points, over) for at, points, over in reversed(since) if at <= ready), (0, False))
    began = ready if before == (0, False) else None
    episodes, rewards = list[LabelledEpisode](), list[tuple[float, float]]()
    for at, points, over in since:
        if not ready < at < seconds:
            continue
        if began is not None and points > before[0]:
            rewards.append((at, 10.0 * (points - before[0])))
        if began is not None and over:
            episodes.append(LabelledEpisode(begin=began, end=at, done="terminated", reason="lost"))
            began = None
        elif (points, over) == (0, False) and before != (0, False):
            began = at
        before = (points, over)
    episodes += [LabelledEpisode(begin=began)] if began is not None else []
    return Labels(recording="a.plrec", episodes=episodes, rewards=rewards)


def _drawn(directory: Path) -> list[tuple[float, int, bool]]:
    """The frames whose lines are whole: time, points, whether the round is over."""
    path = directory / "truth.jsonl"
    text = path.read_text() if path.exists() else ""
    return [tuple(json.loads(line)) for line in text[: text.rfind("\n") + 1].splitlines()]
