"""greed for tests: somebody who plays it, and somebody who reads its score without any of our readers."""

import asyncio
import random
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pluriverse_authoring.recording.replay import Replay
from support.agent import Agent, connected
from support.waiting import DEADLINE_S
from support.xvfb import xvfb

# The terminal's cells in pixels, and its last line, where greed writes.
CELL_WIDTH, CELL_HEIGHT = 6, 13
LINE_Y = 299
LINE_CHARS = 80

# A person's hands; what stands there for less is hardly to be seen.
PRESS_S = 0.12

# Before the first key of a game the board is looked at; it takes the terminal some tenths of a second to draw it.
LOOK_S = 1.0

# What has not changed for so long is drawn.
STILL_S = 0.05

TERMINAL = ["xterm", "-geometry", "80x24+0+0", "-b", "0", "-bw", "0", "-fn", "fixed", "-e"]
ALPHABET = "0123456789 %:.GScdeghorstvy'-?HiatnykBm"

Cells = NDArray[np.bool_]


async def play(port: int, password: str, seed: int = 5) -> None:
    """Press random keys of greed's until cancelled."""
    async with connected(port, password) as agent:
        await play_as(agent, seed)


async def play_as(agent: Agent, seed: int = 5, *, until_rewarded: bool = False) -> None:
    """The same for an agent that is connected already; for ever, or until it was rewarded."""
    rng = random.Random(seed)
    while True:
        try:
            # What is heard meanwhile says when the next game begins.
            message = await asyncio.wait_for(agent.hear(), PRESS_S)
        except TimeoutError:
            await agent.press(ord(rng.choice("hjklyubn")))
            continue
        if until_rewarded and message["method"] == "v0.env.reward" and message["body"]["reward"] > 0:
            return
        if message["method"] == "v0.env.describe":
            if message["body"]["env_state"] != "running":
                await agent.hear_method("v0.env.describe", env_state="running")
            await asyncio.sleep(LOOK_S)


def read_alphabet() -> dict[bytes, str]:
    """What the terminal draws for each character: a terminal is started that says them all."""
    with xvfb() as screen:
        words = ["sh", "-c", f'printf "%s" "{ALPHABET}"; exec sleep 60']
        terminal = subprocess.Popen(
            [*TERMINAL[:-1], "-fg", "white", "-bg", "black", "-e", *words], env=screen.environment
        )
        try:
            deadline = time.monotonic() + DEADLINE_S
            before = b""
            while True:
                ink = _ink(screen.pixels(0, 0, CELL_WIDTH * len(ALPHABET), CELL_HEIGHT))
                cells = _cells(ink)
                whole = all(cell.any() != (char == " ") for cell, char in zip(cells, ALPHABET, strict=True))
                # A character may be half drawn at the first look.
                if whole and ink.tobytes() == before:
                    return {cell.tobytes(): char for cell, char in zip(cells, ALPHABET, strict=True)}
                assert time.monotonic() < deadline, "the terminal drew no text"
                before = ink.tobytes()
                time.sleep(STILL_S)
        finally:
            terminal.kill()
            terminal.wait()


@dataclass
class Seen:
    """What greed said: the scores, each since when; from when to when it was over; when it began; the last moment."""

    scores: list[tuple[float, int | None]] = field(default_factory=list[tuple[float, int | None]])
    stuck: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    ready: list[float] = field(default_factory=list[float])
    last: float = 0.0


def see(recording: Path) -> Seen:
    """Read a recording of greed as a person does: what is half drawn for an instant isn't seen."""
    seen = Seen()
    lines = list(_lines(recording, seen))
    ends = [at for at, _ in lines[1:]] + [seen.last]
    last = ""
    for (at, line), end in zip(lines, ends, strict=True):
        if end - at < STILL_S and end != seen.last:
            continue
        if "Hit any key" in last and line != last:
            seen.stuck[-1] = (seen.stuck[-1][0], at)
        if "Hit any key" in line and line != last:
            # Replaced by what it changes to, if that still comes.
            seen.stuck.append((at, at))
        last = line
        word = line.removeprefix("Score: ").split(" ")[0]
        score = int(word) if line.startswith("Score: ") and word.isdigit() else None
        if not seen.scores or seen.scores[-1][1] != score:
            seen.scores.append((at, score))
    return seen


def _lines(recording: Path, seen: Seen) -> Iterator[tuple[float, str]]:
    """Yield what the last line says, each since when; note the rest of the recording meanwhile."""
    alphabet, last = read_alphabet(), ""
    for moment in Replay(recording).moments():
        seen.last = moment.at
        seen.ready += [at for at, said in moment.said if said.get("report") == "ready"]
        if not moment.changed:
            continue
        cells = _cells(_ink(moment.frame[LINE_Y : LINE_Y + CELL_HEIGHT, : CELL_WIDTH * LINE_CHARS]))
        line = "".join(alphabet.get(cell.tobytes(), "~") for cell in cells)
        if line != last:
            last = line
            yield moment.at, line


def labels_of(recording: Path, seen: Seen) -> dict[str, Any]:
    """The labels that a person would have given: episodes, scores, and what each of them earned."""
    begins = [at for at, score in seen.scores if score == 0]
    episodes: list[dict[str, Any]] = []
    for number, begin in enumerate(begins):
        following = begins[number + 1] if number + 1 < len(begins) else float("inf")
        stuck = next((at for at, _ in seen.stuck if begin < at < following), None)
        how = {"end": stuck, "done": "terminated", "reason": "stuck"} if stuck is not None else {}
        episodes.append({"begin": begin, **how})
    rewards: list[tuple[float, float]] = []
    score = 0
    for at, value in seen.scores:
        if value is not None:
            if value > score:
                rewards.append((at, float(value - score)))
            score = value
    sources = {"score": [[at, None if value is None else float(value)] for at, value in seen.scores]}
    return {"recording": recording.name, "episodes": episodes, "sources": sources, "rewards": rewards}


def _ink(pixels: NDArray[np.uint8]) -> Cells:
    return pixels[:, :, :3].max(axis=2) > 127


def _cells(line: Cells) -> list[Cells]:
    return [line[:, x : x + CELL_WIDTH] for x in range(0, line.shape[1], CELL_WIDTH)]
