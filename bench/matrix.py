"""Plays programs of many engines in both kinds of time, and says what came of it: ``make matrix``.

Each is measured in a process of its own, so that one that hangs or crashes stops no other. ``matrix.json`` keeps the
figures, so that ``--only`` measures some of them again; ``readme.py`` makes docs/matrix.md's table of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import psutil
import typer
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.errors import PluriverseError
from pluriverse_protocol.events import Event, KeyEvent, PointerEvent
from pluriverse_protocol.metadata import HEIGHT
from pluriverse_server.lockstep import PAGE_VARIABLE
from report import percentile

FOLDER: Final = Path(__file__).with_suffix("")
RESULTS: Final = Path(__file__).with_suffix(".json")
# What own/wine.sh makes.
PREFIX: Final = "wine"

# Of three episodes together: two in one remote, and the third in another that has played before.
FRAMES: Final = 10_000
EPISODES: Final = 3
SKIP: Final = 4
SEED: Final = 3
OTHER_SEED: Final = 4

# What draws in software takes longer than life: an episode ends after so long, and the others are as long.
EPISODE_S: Final = 25.0
PROGRAM_S: Final = 600.0

# In real time: until something is shown, without keys, and with them.
START_S: Final = 30.0
IDLE_S: Final = 2.0
PLAY_S: Final = 4.0

# Frames without keys, and steps before, between and after snapshots.
IDLE_STEPS: Final = 100
BEFORE: Final = 30
BETWEEN: Final = 10
MOMENTS: Final = 10

NOTHING: Final[list[Event]] = []

# A device's connection with a program, among the sockets of this machine.
OPEN_PAD: Final = re.compile(r" 03 +\d+ /proc/self/fd/\d+/(event|js)0$")

STILL_S: Final = 2.0
SETTLE_S: Final = 0.5
PERCENT: Final = 100


@dataclass(frozen=True, slots=True)
class Played:
    """A checksum of each step's picture, with what it said of the episode's end; the seconds and infos of all.

    ``heard`` has one of what each step plays in lockstep, and 0 where that is silence.
    """

    seen: list[str]
    heard: list[int]
    seconds: float
    info: dict[str, Any]

    def same_as(self, other: Played) -> int:
        """Return how many pictures are the same before the first that isn't."""
        pairs = zip(self.seen, other.seen, strict=False)
        return next((number for number, (one, another) in enumerate(pairs) if one != another), len(self.seen))


def measure(env_id: str, frames: int) -> Generator[dict[str, Any]]:
    """Yield what is found out about a program, part by part."""
    for part in (_real_time(env_id), _lockstep(env_id, -(-frames // SKIP // EPISODES)), _with_pad(env_id)):
        try:
            yield from part
        except PluriverseError as error:
            yield {"error": str(error).strip().splitlines()[-1]}


def _real_time(env_id: str) -> Generator[dict[str, Any]]:
    with _opened(env_id, "realtime") as env:
        picture = env.reset(seed=SEED)[0]
        until = time.monotonic() + START_S
        while time.monotonic() < until and np.ptp(picture, (0, 1)).max() == 0:
            picture = env.step(NOTHING)[0]
        yield {"starts": bool(np.ptp(picture, (0, 1)).max() > 0)}
        idle = _play(env, [NOTHING] * 10_000, IDLE_S)
        played = _play(env, _script(env, 10_000), PLAY_S)
        yield {"plays": played.seconds >= PLAY_S}
        # What moves by itself is compared in lockstep alone.
        if len({*idle.seen}) == 1:
            yield {"reacts": not {*played.seen} <= {*idle.seen}}


def _lockstep(env_id: str, steps: int) -> Generator[dict[str, Any]]:
    with _opened(env_id, "lockstep") as env:
        yield {"lockstep": env.core.described.lockstep}
        env.reset(seed=SEED)
        script = _script(env, steps)
        first = _play(env, script, EPISODE_S)
        script = script[: len(first.seen)]
        played_s = SKIP * len(first.seen) / (env.core.described.fps or 1)
        yield {"pictures": len({*first.seen}), "speed": played_s / first.seconds}
        if "reason" in first.info:
            yield {"ended": first.info["reason"]}
        yield {"still": _processor_percent()}
        env.reset(seed=SEED)
        again = _play(env, script)
        env.reset(seed=SEED)
        idle = _play(env, [NOTHING] * min(IDLE_STEPS, len(script)))
        yield {"reacts_exactly": idle.same_as(first) < len(idle.seen)}
        yield from _moments(env, script)
    with _opened(env_id, "lockstep") as env:
        env.reset(seed=OTHER_SEED)
        _play(env, script[:BETWEEN])
        env.reset(seed=SEED)
        elsewhere = _play(env, script)
    same = min(first.same_as(again), first.same_as(elsewhere))
    yield {"frames": EPISODES * SKIP * len(first.seen), "exact": EPISODES * SKIP * same}
    yield {"sound": any(first.heard), "same_sound": first.heard == again.heard == elsewhere.heard}


def _moments(env: PluriverseEnv, script: Sequence[list[Event]]) -> Generator[dict[str, Any]]:
    """Take snapshots, and go back to each after some steps, which are then the same again."""
    env.reset(seed=SEED)
    _play(env, script[:BEFORE])
    snapshots: list[float] = []
    restores: list[float] = []
    same = 0
    for number in range(MOMENTS):
        after = script[BEFORE + number * BETWEEN :][:BETWEEN]
        moment, took = _timed(env.snapshot)
        snapshots.append(took)
        first = _play(env, after)
        if "snapshot" in first.info:
            yield {"refused": first.info["snapshot"]}
            return
        restores.append(_timed(lambda moment=moment: env.restore(moment))[1])
        same += _play(env, after).seen == first.seen
    yield {"snapshot": percentile(snapshots, 50), "restore": percentile(restores, 50), "restored": same / MOMENTS}


def _with_pad(env_id: str) -> Generator[dict[str, Any]]:
    """Look whether it has a gamepad open that there is."""
    with tempfile.TemporaryDirectory() as folder:
        # Wine's prefix has a link to the whole machine in it.
        runtime = shutil.copytree(FOLDER, Path(folder) / FOLDER.name, ignore=shutil.ignore_patterns(PREFIX))
        (runtime / PREFIX).symlink_to(FOLDER / PREFIX)
        for path in runtime.glob("programs/*.toml"):
            path.write_text(path.read_text().replace("[program]\n", "[program]\npads = 1\n"))
        os.environ["PLURIVERSE_RUNTIMES"] = str(runtime)
        with _opened(env_id, "realtime") as env:
            env.reset(seed=SEED)
            _play(env, _script(env, 10_000), PLAY_S)
            yield {"pad": any(map(OPEN_PAD.search, Path("/proc/net/unix").read_text().splitlines()))}


@contextlib.contextmanager
def _opened(env_id: str, clock: str) -> Generator[PluriverseEnv]:
    # Without the metadata block, which shows real time.
    crop = (0, 0, 800, 600 - HEIGHT)
    options: dict[str, Any] = {"clock": clock, "audio": clock == "lockstep", "frame_skip": SKIP, "crop": crop}
    env = PluriverseEnv(env_id, remotes="local:1", actions="events", **options)
    try:
        yield env
    finally:
        env.close()


def _script(env: PluriverseEnv, steps: int) -> list[list[Event]]:
    """Return steps in which keys are pressed and released at random, one at a time, and buttons where they matter."""
    chance = random.Random(SEED)
    spaces = env.core.spaces
    assert spaces is not None
    height, width, _ = env.core.pictures.shape
    held, buttons = None, 0
    script: list[list[Event]] = []
    for _ in range(steps):
        events: list[Event] = []
        if held is not None and chance.random() < 0.4:
            events.append(KeyEvent(held, False))
            held = None
        elif held is None and chance.random() < 0.4:
            held = chance.choice(spaces.keys)
            events.append(KeyEvent(held, True))
        if spaces.pointer and chance.random() < 0.2:
            buttons = 1 - buttons
            events.append(PointerEvent(chance.randrange(width), chance.randrange(height), buttons))
        script.append(events)
    return script


def _play(env: PluriverseEnv, script: Sequence[list[Event]], limit_s: float = float("inf")) -> Played:
    seen: list[str] = []
    heard: list[int] = []
    infos: dict[str, Any] = {}
    began = time.monotonic()
    for events in script:
        _, _, terminated, truncated, info = env.step(events)
        sound = env.core.result(0).sound
        heard.append(zlib.crc32(sound.tobytes()) if sound is not None and sound.any() else 0)
        infos |= info
        if info.get("lost"):
            raise PluriverseError(f"the remote was lost: {info['error']}")
        seen.append(f"{zlib.crc32(env.core.picture(0).tobytes())} {terminated} {truncated} {info.get('reason')}")
        if terminated or truncated or time.monotonic() > began + limit_s:
            break
    return Played(seen, heard, time.monotonic() - began, infos)


def _processor_percent() -> float:
    """Return what the program takes of a core while nobody steps it."""
    time.sleep(SETTLE_S)
    processes = [process for process in psutil.Process().children(recursive=True) if _has_clock(process)]
    before = sum(map(_ran_s, processes))
    time.sleep(STILL_S)
    return PERCENT * (sum(map(_ran_s, processes)) - before) / STILL_S


def _has_clock(process: psutil.Process) -> bool:
    try:
        return PAGE_VARIABLE in process.environ()
    except psutil.Error:
        return False


def _ran_s(process: psutil.Process) -> float:
    """Return for how long the threads of a process have run, finer than hundredths of seconds."""
    threads = Path(f"/proc/{process.pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def _timed(do: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result, and the milliseconds that it took."""
    began = time.perf_counter()
    result = do()
    return result, 1000 * (time.perf_counter() - began)


def _measured(env_id: str, frames: int) -> dict[str, Any]:
    """Measure a program in another process, and return what that said before it ended or its time was over."""
    command = [sys.executable, __file__, "--frames", str(frames), "--measure", env_id]
    found: dict[str, Any] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            said = process.communicate(timeout=PROGRAM_S)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[0]
            found["error"] = f"it was not done within {PROGRAM_S:g} s"
    for line in said.splitlines():
        found |= json.loads(line)
    if process.returncode > 0:
        found["error"] = f"its measurement ended with status {process.returncode}"
    return found


def main(
    only: Annotated[list[str] | None, typer.Option(help="One of the programs by its file's name.")] = None,
    frames: Annotated[int, typer.Option(help="How many frames of each are compared.")] = FRAMES,
    measure_one: Annotated[str, typer.Option("--measure", hidden=True)] = "",
) -> None:
    """Measure all programs, or some."""
    os.environ["PLURIVERSE_RUNTIMES"] = str(FOLDER)
    if measure_one:
        for found in measure(measure_one, frames):
            typer.echo(json.dumps(found))
        return
    paths = {path.stem: path for path in sorted(FOLDER.glob("programs/*.toml"))}
    for name in only or paths:
        found = _measured(tomllib.loads(paths[name].read_text())["env"]["id"], frames)
        typer.echo(f"{name}: {json.dumps(found)}")
        kept: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        kept[name] = found
        kept = {each: kept[each] for each in paths if each in kept}
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
