"""Real programs that run by a clock of ours, in all of which time is what it says."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
import pytest
from pluriverse_protocol.events import KeyEvent
from pluriverse_server.display.injector import Injector
from pluriverse_server.lockstep import Advance, PreloadedClock
from pluriverse_server.x11.connection import open_display
from pluriverse_server.x11.pixels import Pixels
from support.process_tree import end
from support.xvfb import bare_xvfb

pytestmark = [pytest.mark.slow, pytest.mark.display]

Compile = Callable[..., str]
Start = Callable[..., subprocess.Popen[bytes]]

DESKTOP: Final = Path(__file__).parents[3] / "runtimes/desktop"
FRAME_S: Final = 1 / 60
START_S: Final = 60.0
SIZE: Final = (800, 600)


def play_out(clock: PreloadedClock, seconds: float = 20.0) -> None:
    """Let the clock go on until its program has ended."""
    assert clock.await_program(START_S)
    for _ in range(round(seconds / FRAME_S)):
        answer = clock.advance(FRAME_S)
        if answer is Advance.ENDED:
            return
        assert answer is Advance.DONE
    pytest.fail(f"the program did not end in {seconds} s")


def test_every_wait_takes_its_time_of_the_clock(
    clock: PreloadedClock, compiled: Compile, start: Start, tmp_path: Path
) -> None:
    start(clock.command([compiled("waits.c")]))
    play_out(clock)
    lines = (tmp_path / "output").read_text().splitlines()
    took = {what: int(ms) for what, _, ms in (line.rpartition(" ") for line in lines)}
    assert len(took) == 27
    # One thread signals with the mutex held, which it keeps for another tenth.
    expected = {what: 200 if what == "another thread's signal" else 100 for what in took}
    assert {what: ms for what, ms in took.items() if abs(ms - expected[what]) > 2} == {}


def test_what_is_chance_elsewhere_follows_from_the_seed(compiled: Compile, start: Start, tmp_path: Path) -> None:
    program = compiled("chance.c")
    said: list[str] = []
    for number, seed in enumerate((5, 5, 6)):
        (folder := tmp_path / str(number)).mkdir()
        with PreloadedClock(folder, seed=seed, frame_time=FRAME_S) as clock:
            start(clock.command([program]))
            play_out(clock)
        said.append((tmp_path / "output").read_text())
    assert said[0] == said[1]
    before, after = said[0].split(), said[2].split()
    assert [a != b for a, b in zip(before, after, strict=True)] == [False, True, True, True, False]


def test_who_asks_for_the_time_and_for_random_numbers_is_counted_where_that_is_wanted(
    compiled: Compile, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compiled("chance.c")
    for number, wanted in enumerate(("", "1")):
        (folder := tmp_path / str(number)).mkdir()
        monkeypatch.setenv("PLURIVERSE_ASKED", wanted)
        with PreloadedClock(folder, seed=5, frame_time=FRAME_S) as clock:
            start(clock.command([program]))
            play_out(clock)
            asked = {what: times for what, times in clock.asked().items() if what.endswith("by chance")}
        expected = {"getrandom by chance": 1, "/dev/urandom by chance": 1, "time by chance": 1}
        assert asked == (expected if wanted else {})


def test_program_stands_still_between_steps_and_takes_no_cpu(
    clock: PreloadedClock, compiled: Compile, start: Start, tmp_path: Path
) -> None:
    program = compiled('#include <stdio.h>\n#include <unistd.h>\nint main() { while (puts(".") > 0) usleep(10000); }')
    process = start(clock.command(["stdbuf", "-o0", program]))
    assert clock.await_program(START_S)
    for _ in range(60):
        assert clock.advance(FRAME_S) is Advance.DONE
    printed = (tmp_path / "output").stat().st_size
    used = psutil.Process(process.pid).cpu_times()
    time.sleep(0.5)
    assert (tmp_path / "output").stat().st_size == printed
    assert psutil.Process(process.pid).cpu_times()[:2] == used[:2]
    assert clock.elapsed == pytest.approx(1, abs=1e-6)


def test_all_that_takes_turns_shares_a_processor_and_the_x_server_gets_its_own_back(
    clock: PreloadedClock, compiled: Compile, start: Start
) -> None:
    ours = os.sched_getaffinity(0)
    program = start(clock.command([compiled("int main() { for (;;) usleep(1000); }")]))
    server = start(["sleep", "60"])
    clock.watch(server.pid)
    assert clock.await_program(START_S)
    assert clock.advance(FRAME_S) is Advance.DONE
    assert len(os.sched_getaffinity(program.pid)) == 1
    assert os.sched_getaffinity(server.pid) == os.sched_getaffinity(program.pid)
    clock.close()
    assert os.sched_getaffinity(server.pid) == os.sched_getaffinity(0) == ours


def test_program_that_computes_for_too_long_is_late_and_makes_up_for_it(
    clock: PreloadedClock, compiled: Compile, start: Start
) -> None:
    program = compiled(
        "#include <signal.h>\n#include <unistd.h>\nvolatile int over;\nvoid end(int s) { over = 1; }\n"
        "int main() { signal(SIGUSR1, end); while (!over); sleep(1); }"
    )
    process = start(clock.command([program]))
    assert clock.await_program(START_S)
    while clock.advance(FRAME_S, patience_s=0.1) is not Advance.LATE:
        continue
    before = clock.elapsed
    assert clock.advance(0.25, patience_s=0.1) is Advance.LATE
    assert clock.elapsed == before
    os.kill(process.pid, 10)
    assert clock.advance(0.25) is Advance.DONE
    assert clock.elapsed > before + 0.5


def test_program_that_has_ended_or_was_killed_says_so(clock: PreloadedClock, start: Start) -> None:
    process = start(clock.command(["sleep", "1000"]))
    assert clock.await_program(START_S)
    assert clock.advance(FRAME_S) is Advance.DONE
    process.kill()
    process.wait()
    assert clock.advance(2000) is Advance.ENDED


def test_children_of_a_killed_program_are_waited_for(clock: PreloadedClock, start: Start, tmp_path: Path) -> None:
    start(clock.command(["sh", "-c", "(sleep 1; echo done) & exit 0"]))
    play_out(clock)
    assert (tmp_path / "output").read_text() == "done\n"
    assert clock.elapsed == pytest.approx(1, abs=0.1)


def test_static_program_is_told_from_one_that_has_the_library(
    clock: PreloadedClock, compiled: Compile, start: Start
) -> None:
    loop = "#include <unistd.h>\nint main() { for (;;) usleep(1000); }"
    dynamic = start(clock.command([compiled(loop)]))
    assert clock.await_program(START_S)
    assert clock.rules([dynamic.pid])
    dynamic.kill()
    static = start(clock.command([compiled(loop, "-static")]))
    until = time.monotonic() + START_S
    while psutil.Process(static.pid).name() != "source" and time.monotonic() < until:
        time.sleep(0.01)
    assert not clock.rules([static.pid])


# -- games -------------------------------------------------------------------------------------------------------------

XTERM: Final = ["xterm", "-fa", "DejaVu Sans Mono:pixelsize=20:antialias=false", "-geometry", "66x25+0+0", "-e"]
RETURN, LEFT, UP, RIGHT, SPACE = 0xFF0D, 0xFF51, 0xFF52, 0xFF53, 0x20


@dataclass(frozen=True)
class Game:
    """A program, what is pressed at which frame before play begins, and the keys to play with."""

    command: Sequence[str]
    keys: Sequence[int]
    home: str | None = None
    lead: Sequence[tuple[int, int]] = ()
    begins: int = 60


# One with a window and one in a terminal; tests/runtimes/desktop has all that are shipped.
GAMES: Final = {
    "slimevolley": Game(
        ["sh", "-c", "cd && HOME=. exec /usr/games/slimevolley"],
        (LEFT, RIGHT, UP),
        "slimevolley/home",
        [(120, RETURN), (180, RETURN), (240, RETURN)],
        300,
    ),
    "moon-buggy": Game([*XTERM, "/usr/games/moon-buggy", "-n"], (SPACE, ord("a"))),
}


@pytest.mark.parametrize("name", GAMES)
def test_same_keys_give_the_same_pixels(name: str, start: Start, tmp_path: Path) -> None:
    game = GAMES[name]
    first, second = (play(game, start, tmp_path / "home") for _ in range(2))
    assert len(set(first)) > 20
    assert first == second


def play(game: Game, start: Start, home: Path, frames: int = 240) -> list[bytes]:
    """Return a hash of each frame of a game with random keys."""
    shutil.copytree(DESKTOP / game.home, home) if game.home else home.mkdir(parents=True)
    chance = random.Random(1)
    hashes: list[bytes] = []
    # Keys that repeat do so in the server's own time.
    with (
        bare_xvfb(*SIZE, "-r") as (display, server),
        PreloadedClock(home, seed=1, frame_time=FRAME_S) as clock,
    ):
        injector = Injector(display, home / "none")
        connection = open_display(display)
        pixels = Pixels(connection, SIZE[0] * SIZE[1])
        clock.watch(server)
        environment = {"SDL_AUDIODRIVER": "dummy", "SDL_VIDEO_CENTERED": "1", "DISPLAY": display, "HOME": str(home)}
        process = start(clock.command(list(game.command)), **environment)
        assert clock.await_program(START_S)
        held = 0
        for frame in range(game.begins + frames):
            for at, key in game.lead:
                if frame in (at, at + 6):
                    injector.apply([KeyEvent(key, frame == at)])
            if frame >= game.begins and frame % 8 == 0:
                injector.apply([KeyEvent(held, False), KeyEvent(held := chance.choice(game.keys), True)])
            assert clock.advance(FRAME_S, patience_s=30) is Advance.DONE
            picture = pixels.get(connection.screen().root.id, 0, 0, *SIZE)
            hashes.append(hashlib.blake2b(picture, digest_size=8).digest())
        assert clock.rules([process.pid])
        injector.close()
        pixels.close()
        connection.close()
        end(process)
    shutil.rmtree(home)
    return hashes
