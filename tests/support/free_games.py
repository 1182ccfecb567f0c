"""A game of the runtime ``desktop`` in a whole remote, with an agent and a viewer on it."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pluriverse_server.manifest.spaces import keysym
from pluriverse_server.remote.remote import Remote
from support import in_process
from support.agent import Agent, Message
from support.leftovers import Leftovers
from support.rfb import RfbClient
from support.served import PASSWORD
from support.waiting import DEADLINE_S, LOOK_S, eventually

RUNTIME: Final = Path(__file__).parents[2] / "runtimes" / "desktop"


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

    async def reset(self) -> None:
        await self.agent.hear_reply(await self.agent.reset(self.env_id, leaving=self.agent.last_episode))
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
    leftovers, env_id = Leftovers(), f"desktop.{title}-v0"
    async with in_process.playing(RUNTIME, env_id) as (remote, agent):
        with await asyncio.to_thread(RfbClient, "127.0.0.1", remote.settings.vnc_port, PASSWORD) as viewer:
            game = Played(env_id, remote, agent, viewer)
            await game.running()
            yield game
    leftovers.assert_none()
