"""A game of the runtime ``desktop`` in a whole remote, with an agent and a viewer on it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pluriverse_server.manifest.spaces import keysym
from pluriverse_server.remote.remote import Remote
from pluriverse_server.settings import Settings
from support.agent import Agent, Message, connected
from support.leftovers import Leftovers
from support.ports import free_port
from support.rfb import RfbClient
from support.served import PASSWORD
from support.waiting import DEADLINE_S, LOOK_S, eventually

RUNTIME: Final = Path(__file__).parents[2] / "runtimes" / "desktop"

# A game is started, and perhaps a second one as its spare, while other tests take the machine's time.
START_DEADLINE_S: Final = 60.0


@dataclass
class Played:
    env_id: str
    remote: Remote
    agent: Agent
    viewer: RfbClient

    def reading(self, name: str) -> Any:
        """What a source says now; None before it was read."""
        return self.remote.status()["readings"].get(name, {}).get("value")

    async def running(self) -> Message:
        return await self.agent.hear_method("v0.env.describe", env_id=self.env_id, env_state="running")

    async def press(self, key: str) -> None:
        await self.agent.press(keysym(key))

    async def reward(self) -> dict[str, Any]:
        """The body of the next message that pays something or ends the episode."""
        heard = await self.agent.hear_until(
            lambda m: m["method"] == "v0.env.reward" and bool(m["body"]["reward"] or m["body"]["done"])
        )
        return heard["body"]

    async def reset(self) -> None:
        leaving = [m["headers"]["episode_id"] for m in self.agent.heard if "episode_id" in m["headers"]][-1]
        await self.agent.hear_reply(await self.agent.reset(self.env_id, leaving=leaving))
        await self.running()

    async def changes(self, deadline_s: float = DEADLINE_S) -> None:
        """Until the viewer has seen a picture that differs from the one that it has now."""
        before = self.viewer.framebuffer.copy()

        def changed() -> bool:
            self.viewer.update(LOOK_S)
            return bool((self.viewer.framebuffer != before).any())

        await eventually(changed, deadline_s)


@contextlib.asynccontextmanager
async def playing(title: str) -> AsyncGenerator[Played]:
    """Play ``desktop.TITLE-v0`` from its first episode on."""
    leftovers = Leftovers()
    env_id, port, vnc_port = f"desktop.{title}-v0", free_port(), free_port()
    remote = Remote(Settings(RUNTIME, env_id, vnc_port=vnc_port, rewarder_port=port, password=PASSWORD))
    started = asyncio.Event()
    running = asyncio.create_task(remote.run(lambda _: started.set()))
    try:
        await asyncio.wait_for(started.wait(), START_DEADLINE_S)
        await eventually(lambda: remote.status()["env_state"] == "running", START_DEADLINE_S)
        async with connected(port, PASSWORD) as agent:
            with await asyncio.to_thread(RfbClient, "127.0.0.1", vnc_port, PASSWORD) as viewer:
                game = Played(env_id, remote, agent, viewer)
                await game.running()
                yield game
    finally:
        remote.stop()
        await asyncio.gather(running, return_exceptions=True)
    leftovers.assert_none()
