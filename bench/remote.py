"""The remote that is measured, playing Pong with one agent, and the same game on the plain stack."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

from desktops import plain_x0, program_on
from processes import PROGRAM, Parts, named, parts_of_remote
from support.agent import Agent, connected
from support.remotes import on_machine

PONG: Final = "gym-core.PongDeterministic-v3"


@dataclass(frozen=True)
class Playing:
    """A game that is on a screen, by whatever means, and the processes that it takes."""

    vnc_port: int
    password: str | None
    parts: Parts
    rewarder_port: int | None = None


@contextmanager
def our_pong() -> Generator[Playing]:
    """A remote of ours at its first episode of Pong."""
    with on_machine("--env", PONG) as remote:
        yield Playing(remote.vnc_port, remote.password, parts_of_remote(remote.process.pid), remote.port)


@contextmanager
def plain_pong() -> Generator[Playing]:
    """The plain stack: Gymnasium's Pong in a pygame window on Xvfb, with X0tigervnc as it comes."""
    with plain_x0() as desktop, program_on(desktop, "plain_pong.py") as program:
        yield Playing(desktop.vnc_port, None, {**named(desktop.servers), PROGRAM: program})


@asynccontextmanager
async def playing_agent(playing: Playing) -> AsyncGenerator[Agent]:
    """The agent of a remote, in an episode of Pong that it asked for."""
    assert playing.rewarder_port is not None
    async with connected(playing.rewarder_port, playing.password) as agent:
        await agent.reset(PONG)
        await agent.hear_method("v0.reply.env.reset")
        await agent.hear_method("v0.env.describe", env_state="running")
        yield agent


async def hear_all(agent: Agent) -> None:
    """Take in what the remote says, for ever; nothing is kept."""
    async for text in agent.socket:
        json.loads(text)
