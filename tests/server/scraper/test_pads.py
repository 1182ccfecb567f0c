"""Programs find gamepads where there are none, and what agents do with these reaches them."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import zlib
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from pluriverse_protocol.events import Event, JoystickEvent
from pluriverse_protocol.messages import AgentRestore, RestoreReply
from pluriverse_protocol.pads import NAMES
from pluriverse_protocol.reports import Joystick, Ready, Reward
from pluriverse_server.scraper.pads import FOLDER, LIBRARY, MAX_OPEN, Pads, environment
from support import pads as program
from support.scraped import Scraped
from support.scraped_steps import COUNTER, Agent, begun, stepping
from support.waiting import until

A_OF_TWO, X_OF_TWO = NAMES[1][6], NAMES[1][0]

# It waits for the second pad, scores as its first button goes down, and draws what is held and how far X is tilted.
LISTENS = (
    COUNTER.replace("import random", "import random, select, struct")
    .replace("drawn = 0", "drawn = held = x = 0\npad = os.open('/dev/input/event1', os.O_NONBLOCK)")
    .replace(
        "        drawn += 1\n",
        """        drawn += 1
        if select.select([pad], [], [], 0)[0]:
            for _, _, kind, code, value in struct.iter_unpack("llHHi", os.read(pad, 24 * 64)):
                score += (kind, code, value) == (1, 0x130, 1)
                held = value if (kind, code) == (1, 0x130) else held
                x = value if (kind, code) == (3, 0) else x
        fill(40, 0, 20, 20, held and 0xFFFFFF)
        fill(60, 0, 20, 20, 0x8000 + x)
""",
    )
    .replace("time.sleep(0.01)", "select.select([pad], [], [], 0.01)")
)


class Playing:
    """A program that prints what its pads are like."""

    def __init__(self, pads: Pads, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        self.pads = pads
        self.process = process
        self._output = process.stdout
        self._printed = b""
        os.set_blocking(self._output.fileno(), False)

    def sees(self, *wanted: list[float]) -> None:
        """Wait until it has printed this."""

        def seen() -> list[list[float]] | None:
            self.pads.look(1.0)
            self._printed += self._output.read() or b""
            lines = self._printed.split(b"\n")
            return json.loads(lines[-2]) if len(lines) > 1 else None

        until(seen, lambda state: state == [*wanted])

    def tilt(self, **values: float) -> None:
        """Have inputs of pads do this, by the middles of their names."""
        self.pads.apply([JoystickEvent(f"Joystick{name}Event", value) for name, value in values.items()], 1.0)


@contextlib.contextmanager
def playing(home: Path, library: str, count: int, **values: float) -> Generator[Playing]:
    """A program with so many pads, which are like this before it opens them."""
    (home / ".run").mkdir()
    own = {"HOME": str(home), "LD_PRELOAD": str(LIBRARY), "SDL_VIDEODRIVER": "dummy", **environment(home, count)}
    with contextlib.closing(Pads(home, count)) as pads:
        command = [sys.executable, program.__file__, library]
        process = subprocess.Popen(command, env={**os.environ, **own}, stdout=subprocess.PIPE)
        try:
            game = Playing(pads, process)
            game.tilt(**values)
            yield game
        finally:
            process.kill()
            process.communicate()


def state(**values: float) -> list[float]:
    """What a program sees of a pad; a trigger that nobody pulls is at the end of its way."""
    names = [name.removeprefix("Joystick").removesuffix("Event") for name in NAMES[0]]
    return [{"AxisZ": -1.0, "AxisRz": -1.0, **values}.get(name, 0.0) for name in names]


@pytest.mark.parametrize("library", program.LIBRARIES)
def test_programs_find_two_pads_and_see_how_they_are_held(tmp_path: Path, library: str) -> None:
    # SDL 1.2 takes a trigger for half pulled until it moves.
    triggers = {"AxisZ": 0.5, "AxisRz": 1.0, "2AxisZ": 1.0, "2AxisRz": 1.0}
    with playing(tmp_path, library, 2, Button0=1.0, **triggers) as game:
        game.sees(state(Button0=1.0, AxisZ=0.0, AxisRz=1.0), state(AxisZ=1.0, AxisRz=1.0))
        game.tilt(**dict.fromkeys(triggers, 0.0), AxisX=-1.0, Button0=0.0, Button11=1.0)
        game.tilt(**{"2AxisRy": 0.5, "2Button15": 1.0})
        game.sees(state(AxisX=-1.0, Button11=1.0), state(AxisRy=0.5, Button15=1.0))


def test_a_program_that_reads_too_little_sees_the_last_state(tmp_path: Path) -> None:
    with playing(tmp_path, "js", 1) as game:
        game.sees(state())
        game.process.send_signal(signal.SIGSTOP)
        # Far more than its socket holds.
        for number in range(20_001):
            game.tilt(Button0=number % 2)
        game.tilt(Button1=1.0)
        game.process.send_signal(signal.SIGCONT)
        game.sees(state(Button1=1.0))


def test_a_program_that_opens_pads_again_and_again_gets_no_more(tmp_path: Path) -> None:
    (tmp_path / ".run").mkdir()
    with contextlib.closing(Pads(tmp_path, 1)) as pads, contextlib.ExitStack() as opened:
        ends = [opened.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(MAX_OPEN + 1)]
        for end in ends:
            end.connect(f"{tmp_path / FOLDER}/event0")
            pads.look(0.0)
        assert len(pads.opened) == MAX_OPEN
        assert ends[-1].recv(1) == b""
        opened.close()
        pads.look(0.0)
        assert not pads.opened


def test_a_program_that_closes_a_pad_without_having_read_has_closed_it(tmp_path: Path) -> None:
    (tmp_path / ".run").mkdir()
    with contextlib.closing(Pads(tmp_path, 1)) as pads:
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(f"{tmp_path / FOLDER}/js0")
            pads.look(0.0)
            assert end.recv(1, socket.MSG_PEEK)
        pads.look(0.0)
        assert not pads.opened


@contextlib.asynccontextmanager
async def listening(folder: Path) -> AsyncGenerator[Scraped]:
    async with stepping(folder, program={"clock": ["realtime", "lockstep"], "pads": 2}) as scraped:
        (folder / "runtime" / "game.py").write_text(LISTENS)
        yield scraped


def tilts(number: int) -> list[Event]:
    """A press and a release within a frame, what is held for some, and a stick that always moves."""
    events = [JoystickEvent(X_OF_TWO, number % 9 / 10)]
    if number % 5 == 2:
        events += [JoystickEvent(A_OF_TWO, 1.0), JoystickEvent(A_OF_TWO, 0.0)]
    return [*events, JoystickEvent(A_OF_TWO, 1.0)] if number % 10 == 7 else [*events]


async def played(agent: Agent, frames: int) -> list[tuple[int, float]]:
    """Play so many frames; return a checksum of each picture, and what it earned."""
    seen: list[tuple[int, float]] = []
    for number in range(frames):
        reply, pixels = await agent.play(*tilts(number))
        seen.append((zlib.crc32(pixels.tobytes()), reply.reward))
    return seen


@pytest.mark.display
async def test_what_follows_on_a_snapshot_with_a_held_button_is_the_same_in_every_world(tmp_path: Path) -> None:
    async with listening(tmp_path) as scraped:
        agent = await begun(scraped)
        await agent.first()
        _, held = await agent.play(JoystickEvent(A_OF_TWO, 1.0), JoystickEvent(X_OF_TWO, 1.0), frames=2)
        moment = await agent.snapshot(name="held")
        assert moment is not None
        follows = await played(agent, 30)
        # From the third time on, a world beside is there already.
        for _ in range(5):
            assert (await agent.restore(moment) == held).all()
            assert await played(agent, 30) == follows
        beside = Agent(scraped, slot=1)
        await beside.begin(seed=7)
        beside.send(AgentRestore(moment), beside.episode)
        heard = await asyncio.to_thread(beside.hear)
        assert isinstance(heard.message, RestoreReply), heard.message
        assert (heard.pixels == held).all()
        assert await played(beside, 30) == follows


@pytest.mark.display
async def test_episodes_begin_with_pads_at_rest_and_are_the_same_each_time(tmp_path: Path) -> None:
    async with listening(tmp_path) as scraped:
        agent = await begun(scraped)
        first = await agent.first()
        seen = await played(agent, 40)
        # Three of the twelve presses come while it is held; and so it ends.
        assert sum(reward for _, reward in seen) == pytest.approx(9)
        await scraped.ready(seed=7, clock="lockstep")
        assert ((await agent.first()).pixels == first.pixels).all()
        assert await played(agent, 40) == seen


@pytest.mark.display
async def test_in_real_time_joystick_events_reach_a_program_that_declares_pads(tmp_path: Path) -> None:
    async with listening(tmp_path) as scraped:
        await scraped.ready()
        assert scraped.said(Ready)[0].joystick
        scraped.program.send(Joystick(A_OF_TWO, 1.0))
        assert (await scraped.until(Reward)).reward == pytest.approx(1)
