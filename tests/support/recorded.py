"""A recording for tests: a square that moves, a score that is misread once, and two episodes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from msgspec.structs import replace
from pluriverse_protocol.events import KeyEvent
from pluriverse_protocol.recording_file import RecordingFile
from pluriverse_protocol.recordings import Header, Input, Record, Said, Update
from pluriverse_protocol.rfb.raw_updates import raw_update

WIDTH: Final = 160
HEIGHT: Final = 100
FPS: Final = 10
FRAMES: Final = 250
HEADER: Final = Header("toy", "1.0.0", "toy.First-v0", WIDTH, HEIGHT, 10.0, 1000.0)
BEGAN: Final = 1_700_000_000.0

# How long after a picture what is read of it has settled, and is told; and before it, what is read was on the screen.
SETTLED_S: Final = 0.03
TOLD_S: Final = 0.04
SHOWN_S: Final = 0.015

# What is read from which frame on: the value that counts, what was read, the state.
SCORES: Final[dict[int, tuple[float, float, str]]] = {
    0: (0.0, 0.0, "ok"),
    10: (1.0, 1.0, "ok"),
    20: (1.0, 8.0, "implausible"),
    30: (3.0, 3.0, "ok"),
    120: (0.0, 0.0, "ok"),
}


def colour_of(frame: int) -> tuple[int, int, int]:
    """Red, green and blue of the whole picture at a frame; each has another."""
    return frame, 255 - frame, frame // 2


def write_recording(path: Path) -> Path:
    records: list[Record] = []
    for frame in range(FRAMES):
        at = frame / FPS
        # The first is whole; of the others one half is, so that each needs those before it.
        red, green, blue = colour_of(frame)
        box = (0, 0, WIDTH, HEIGHT) if frame == 0 else ((frame % 2) * WIDTH // 2, 0, WIDTH // 2, HEIGHT)
        pixels = np.full((HEIGHT, box[2], 4), (blue, green, red, 0), np.uint8)
        records.append(Update(at, raw_update([(box, pixels.tobytes())])))
        records += [Said(at + TOLD_S, said) for said in _said(frame, at)]
    return recorded(path, records, replace(HEADER, began=BEGAN))


def _said(frame: int, at: float) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    episode = 1 if frame < 120 else 2
    if frame in (0, 120):
        if frame:
            ends = {"reward": 3.0, "terminated": True, "truncated": False, "reason": "no lives left"}
            said.append({"event": "end", "episode": 1, **ends})
        said.append({"event": "begin", "episode": episode, "env": "toy.First-v0", "seed": 1, "fps": FPS})
        said.append({"report": "ready", "episode": episode})
    if frame in SCORES:
        value, raw, state = SCORES[frame]
        score = {"value": value, "raw": raw, "confidence": 1.0, "state": state, "events": 0, "lag_ms": 0.1}
        said.append(
            {"report": "readings", "episode": episode, "readings": {"score": score}, "at": BEGAN + at + SETTLED_S}
        )
    if frame in (10, 30):
        said.append({"report": "reward", "episode": 1, "reward": 1.0 + (frame == 30), "at": BEGAN + at - SHOWN_S})
    return said


def picture(at: float) -> Update:
    """A picture unlike that before it."""
    return Update(at, raw_update([((0, 0, WIDTH, HEIGHT), bytes([round(at * 10) % 256] * 4) * (WIDTH * HEIGHT))]))


def read(at: float, value: float | None) -> Said:
    reading = {"value": value, "raw": value, "confidence": 1.0, "state": "ok", "events": 0, "lag_ms": 0.1}
    return Said(at, {"report": "readings", "episode": 1, "readings": {"score": reading}})


def earn(at: float, amount: float) -> Said:
    return Said(at, {"report": "reward", "episode": 1, "reward": amount})


def noise(header: Header, count: int) -> list[Record]:
    """Pictures of noise, a second apart, each with something said and pressed."""
    random = np.random.default_rng(1)
    found: list[Record] = []
    for index in range(count):
        pixels = random.integers(256, size=(header.height, header.width, 4), dtype=np.uint8)
        found.append(Update(float(index), raw_update([((0, 0, header.width, header.height), pixels.tobytes())])))
        found.append(Said(float(index), {"count": index}))
        found.append(Input(float(index), KeyEvent(97, index % 2 == 0)))
    return found


def recorded(path: Path, records: Sequence[Record], header: Header = HEADER) -> Path:
    path.parent.mkdir(exist_ok=True)
    file = RecordingFile(path, header)
    for record in sorted(records, key=lambda record: record.at):
        file.write(record)
    file.close()
    return path
