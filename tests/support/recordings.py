"""Recordings written by hand: an episode in which a bar grows with each press of a key."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import zstandard
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.recordings import Header, Input, Record, RecordingWriter, Said, Update
from pluriverse_protocol.rfb.raw_updates import raw_update

WIDTH, HEIGHT = 16, 8
LEFT, RIGHT = 0xFF51, 0xFF53
SPACES: dict[str, Any] = {
    "discrete": [{"name": "wait", "keys": []}, {"name": "left", "keys": [LEFT]}, {"name": "right", "keys": [RIGHT]}],
}


HEADER = Header("toy", "1.0.0", "toy.Toy-v0", WIDTH, HEIGHT, 10.0, 1000.0)


def write(path: Path, records: Iterable[Record], header: Header = HEADER, *, cut: int = 0) -> Path:
    """A recording of these records, without the last ``cut`` bytes of them."""
    writer = RecordingWriter(header)
    whole = writer.begin() + b"".join(writer.write(record) for record in records)
    path.write_bytes(zstandard.compress(whole[: len(whole) - cut]))
    return path


def filled(at: float, blue: int, width: int = WIDTH) -> Update:
    """The screen's left part in one colour."""
    return Update(at, raw_update([((0, 0, width, HEIGHT), bytes((blue, 0, 0, 0)) * (width * HEIGHT))]))


def begin(at: float, episode: int = 1, spaces: dict[str, Any] | None = None) -> Said:
    said = {"event": "begin", "episode": episode, "env": "toy.Toy-v0", "seed": 7, "fps": 10.0}
    return Said(at, {**said, "spaces": SPACES if spaces is None else spaces})


def ready(at: float, episode: int = 1) -> Said:
    return Said(at, {"report": "ready", "episode": episode})


def reward(at: float, amount: float, episode: int = 1) -> Said:
    return Said(at, {"report": "reward", "episode": episode, "reward": amount})


def end(at: float, *, terminated: bool = True, episode: int = 1) -> Said:
    how = {"terminated": terminated, "truncated": not terminated, "reason": "over", "reward": 0.0}
    return Said(at, {"event": "end", "episode": episode, **how})


def key(at: float, keysym: int, *, down: bool) -> Input:
    return Input(at, KeyEvent(keysym, down))


def pointer(at: float, x: int, y: int, buttons: int = 0) -> Input:
    return Input(at, PointerEvent(x, y, buttons))


def played() -> list[Record]:
    """A second of play: right is held from 0.2 to 0.5, left tapped within a step, two rewards, an end."""
    return [
        filled(0.0, 10),
        begin(0.0),
        ready(0.1),
        key(0.25, RIGHT, down=True),
        filled(0.32, 200),
        reward(0.33, 1.0),
        key(0.45, RIGHT, down=False),
        key(0.62, LEFT, down=True),
        key(0.64, LEFT, down=False),
        reward(0.86, 2.0),
        end(1.05),
    ]
