"""Round trips of ``v0.control.ping`` while Pong runs at 60 fps, watched by a VNC client, with this agent connected.

``python bench/ping.py PORT`` is what they are compared with: a bare aiohttp WebSocket server that echoes.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from subprocess import PIPE, Popen
from typing import Final

from aiohttp import WSMsgType, web
from desktops import python_environment
from remote import Playing, our_pong, playing_agent
from report import Effort, Figures, Line, Measurement, Target, percentile
from support.agent import Agent, connected
from support.ports import free_port
from viewer import watching

# Milliseconds of a round trip, and how many of them the server says that it took.
Trip = tuple[float, float]

# Random, so that pings fall anywhere between two frames.
PAUSE_S: Final = (0.005, 0.025)

# The first ones wake what was never used.
WARM_UP: Final = 20


def run(effort: Effort) -> Figures:
    """Milliseconds. The echo server is asked beside the same game, so that both find the machine equally busy."""
    count = effort.of(1000, 300)
    with our_pong() as playing, watching(playing.vnc_port, playing.password), _echo() as port:
        ours, echo = asyncio.run(_ping_both(playing, port, count))
    trips, daemon, echoes = [trip for trip, _ in ours], [inside for _, inside in ours], [trip for trip, _ in echo]
    return {
        "ours_p50": percentile(trips, 50),
        "ours_p99": percentile(trips, 99),
        "daemon_p99": percentile(daemon, 99),
        "echo_p50": percentile(echoes, 50),
        "echo_p99": percentile(echoes, 99),
    }


async def _ping_both(playing: Playing, port: int, count: int) -> tuple[list[Trip], list[Trip]]:
    async with playing_agent(playing) as agent, connected(port, None) as echo:
        ours: list[Trip] = []
        plain: list[Trip] = []
        for index in range(WARM_UP + count):
            for peer, trips in ((agent, ours), (echo, plain)):
                await asyncio.sleep(random.uniform(*PAUSE_S))
                trip = await ping_once(peer, f"bench-{index}")
                if index >= WARM_UP:
                    trips.append(trip)
        return ours, plain


async def ping_once(peer: Agent, message_id: str) -> Trip:
    """From before the ping is written until its answer has been read."""
    headers = {"message_id": message_id, "sent_at": time.time()}
    ping = json.dumps({"method": "v0.control.ping", "headers": headers, "body": {}})
    began = time.perf_counter()
    await peer.socket.send(ping)
    # Rewards come between; the echo brings the ping itself, with the same id.
    while message_id not in (answer := await peer.socket.recv(decode=True)):
        pass
    trip = 1000 * (time.perf_counter() - began)
    return trip, 1000 * json.loads(answer)["headers"].get("parent_runtime", 0.0)


@contextmanager
def _echo() -> Generator[int]:
    port = free_port()
    process = Popen([sys.executable, __file__, str(port)], env=python_environment(), stdout=PIPE)
    assert process.stdout is not None
    try:
        if not process.stdout.readline():
            raise OSError(f"the echo server ended with status {process.wait()}")
        yield port
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def _serve_echo(port: int) -> None:
    async def answer(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(compress=False)
        await socket.prepare(request)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                await socket.send_str(message.data)
        return socket

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    print("listening", flush=True)
    await asyncio.Event().wait()


ECHO: Final = "a bare aiohttp echo"

MEASUREMENT: Final = Measurement(
    "ping",
    (
        Line("ping round trip during Pong, p50", "ms", "ours_p50", None, "echo_p50", ECHO),
        Line("ping round trip during Pong, p99", "ms", "ours_p99", Target(2), "echo_p99", ECHO),
        Line("of that from the daemon's receipt to its reply, p99", "ms", "daemon_p99"),
    ),
    run,
)


if __name__ == "__main__":
    asyncio.run(_serve_echo(int(sys.argv[1])))
