"""A small program in lockstep under the daemon's keeper of programs, and the agent that steps it."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray
from pluriverse_protocol.events import Event, KeyEvent
from pluriverse_protocol.kinds import Handle
from pluriverse_protocol.messages import AgentBegin, AgentRestore, AgentSnapshot, RestoreReply, SnapshotReply, StepReply
from pluriverse_protocol.step_channel import View
from pluriverse_server.manifest.spaces import keysym
from pluriverse_server.scraper.worlds import TEMPLATE_NAME
from support.scraped import DRAWS, Scraped, scraping
from support.step_channels import Heard, StepChannelAgent
from support.waiting import eventually

# It sleeps for a hundredth of a second between two looks, and draws how often it did.
COUNTER = (
    DRAWS
    + """
import random

window.map()
chance = random.Random()
drawn = 0


while True:
    score, over = 0, False
    while not over:
        while display.pending_events():
            event = display.next_event()
            if event.type == X.KeyPress:
                name = display.keycode_to_keysym(event.detail, 0)
                score += name == 0xFF53
                over = name == ord("x")
                if name == ord("q"):
                    print("that was all")
                    raise SystemExit(7)
                while name == ord("f"):
                    if os.fork() == 0:
                        time.sleep(60)
                        raise SystemExit
                while name == ord("y"):
                    pass
        fill(0, 0, 20, 20, 0x00FF00)
        fill(20, 0, 20, 20, 0xFF0000 if over else 0)
        fill(0, 40, 200, 10, 0)
        fill(0, 40, 10 * score, 10, 0xFFFFFF)
        fill(chance.randrange(300), 60 + drawn % 100, 5, 5, chance.randrange(1 << 24))
        drawn += 1
        display.flush()
        time.sleep(0.01)
    time.sleep(1)
"""
)


class Agent(StepChannelAgent):
    """The agent's end of a step channel to a scraper."""

    def __init__(self, scraped: Scraped, slot: int = 0, view: View | None = None) -> None:
        ours, theirs = socket.socketpair()
        scraped.program.step_channels.hand_over(theirs, slot, view)
        theirs.close()
        super().__init__(ours)
        self._steps = 0

    async def first(self) -> Heard:
        """The first frame of the next episode."""
        return await asyncio.to_thread(self.hear_first)

    async def begin(self, seed: int | None = None) -> Heard:
        """Begin an episode in a slot, and return its first frame."""
        self.send(AgentBegin(seed))
        return await self.first()

    async def play(self, *events: Event, frames: int = 1) -> tuple[StepReply, NDArray[np.uint8]]:
        """Step, and return the answer with its picture."""
        self._steps += 1
        self.step(self._steps, frames, events)
        return await asyncio.to_thread(self.hear_step, self._steps)

    async def snapshot(self, *drop: Handle, name: str | None = None) -> Handle | None:
        """Have this moment kept; return its handle, if it is."""
        self.send(AgentSnapshot(drop, name), self.episode)
        message = (await asyncio.to_thread(self.hear)).message
        assert isinstance(message, SnapshotReply), message
        return message.handle

    async def restore(self, handle: Handle) -> NDArray[np.uint8]:
        """Go back to a moment, and return its picture."""
        self.send(AgentRestore(handle), self.episode)
        heard = await asyncio.to_thread(self.hear)
        assert isinstance(heard.message, RestoreReply), heard.message
        return heard.pixels


@contextlib.asynccontextmanager
async def stepping(folder: Path, **tables: dict[str, Any]) -> AsyncGenerator[Scraped]:
    """A runtime in lockstep, on a screen of its own."""
    changed: dict[str, Any] = {
        "program": {"clock": ["realtime", "lockstep"]},
        "reset": {"by": "restart", "start": []},
        "rewards": [{"source": "score", "scale": 20}],
        **tables,
    }
    async with scraping(folder, **changed) as scraped:
        (folder / "runtime" / "game.py").write_text(COUNTER)
        yield scraped


async def begun(scraped: Scraped, seed: int = 7, view: View | None = None) -> Agent:
    """Begin an episode in lockstep, and open a step channel."""
    await scraped.ready(seed=seed, clock="lockstep")
    await eventually(lambda: scraped.program.step_channels.connected)
    return Agent(scraped, view=view)


def game_of(scraped: Scraped) -> psutil.Process:
    scraper = psutil.Process(scraped.program.pid)
    found = [child for child in scraper.children(recursive=True) if child.cmdline()[1:] == ["game.py"]]
    (game,) = [child for child in found if child.name() != TEMPLATE_NAME]
    return game


def key(name: str) -> Sequence[KeyEvent]:
    return KeyEvent(keysym(name), True), KeyEvent(keysym(name), False)
