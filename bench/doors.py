"""Measures what strangers can do at a remote's ports: connections that are held, floods, and guesses of the password.

``python bench/doors.py SECONDS PORT…`` floods ports of this machine; it is a process of its own, so that the agent that
is measured meanwhile waits for nothing of it but the processors.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import re
import resource
import socket
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from desktops import python_environment
from ping import ping_once
from processes import DAEMON, parts_of_remote
from remote import Playing, our_pong, playing_agent
from report import Figures, percentile
from support.agent import Agent, connected, credentials
from support.rfb import RfbClient, RfbError
from websockets.exceptions import WebSocketException

HOST: Final = "127.0.0.1"

# Idle connections on each port at which an agent tries to get in.
STEPS: Final = (250, 500, 1000, 1500, 2000)

# What the daemon is left with: what many systems give a process at first.
DESCRIPTORS: Final = 1024

# An agent that isn't in by then is locked out.
GET_IN_S: Final = 5.0

PING_PAUSE_S: Final = 0.02

# Connections that the flood holds at once, and how many it opens at the same moment.
FLOOD: Final = 1500
FLOOD_AT_ONCE: Final = 48

GUESSERS: Final = 8
GUESS_S: Final = 30.0
WRONG: Final = "wrongpwd"


def flooded(seconds: float) -> Figures:
    """Idle connections at which an agent gets in; milliseconds of its pings, and connections a second, in a flood."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with our_pong() as playing:
        playing.parts[DAEMON].rlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
        held = _hold(playing)
        before = {name: process.pid for name, process in playing.parts.items()}
        opened, pings = asyncio.run(_ping_in_flood(playing, seconds))
        now = parts_of_remote(playing.parts[DAEMON].pid)
        died = sum(name not in now or now[name].pid != pid for name, pid in before.items())
    return {
        "held": held,
        "opened": opened,
        "ping_p50": percentile(pings, 50),
        "ping_p99": percentile(pings, 99),
        "died": died,
    }


def guessed(seconds: float) -> Figures:
    """Wrong passwords a second that one address has compared, on each port."""
    figures: Figures = {}
    for name, port in DOORS.items():
        # What one port remembers of an address may slow it down on the next.
        with our_pong() as playing:
            figures[name] = _guess(port, playing, seconds)
    return figures


# ── connections ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _hold(playing: Playing) -> int:
    """Open more and more idle connections; return how many on each port there were when an agent last got in."""
    held = 0
    with contextlib.ExitStack() as stack:
        for count in STEPS:
            for port in (playing.vnc_port, playing.rewarder_port):
                for _ in range(count - held):
                    connection = stack.enter_context(socket.socket())
                    connection.settimeout(GET_IN_S)
                    with contextlib.suppress(OSError):
                        connection.connect((HOST, port))
            if not asyncio.run(_gets_in(playing)):
                break
            held = count
    return held


async def _gets_in(playing: Playing) -> bool:
    assert playing.rewarder_port is not None
    try:
        async with asyncio.timeout(GET_IN_S), connected(playing.rewarder_port, playing.password) as agent:
            await agent.assert_alive()
            viewer = await asyncio.to_thread(RfbClient, HOST, playing.vnc_port, playing.password)
            viewer.close()
    except (OSError, TimeoutError, RfbError, WebSocketException):
        return False
    return True


async def _ping_in_flood(playing: Playing, seconds: float) -> tuple[float, list[float]]:
    command = [sys.executable, __file__, str(seconds), str(playing.vnc_port), str(playing.rewarder_port)]
    async with playing_agent(playing) as agent:
        flood = await asyncio.create_subprocess_exec(*command, env=python_environment(), stdout=asyncio.subprocess.PIPE)
        printing = asyncio.create_task(flood.communicate())
        pings = await ping_until(agent, printing.done)
        printed, _ = await printing
    return float(printed or 0) / seconds, pings


async def ping_until(agent: Agent, over: Callable[[], bool]) -> list[float]:
    """Milliseconds of each of an agent's pings until it is over."""
    trips: list[float] = []
    while not over():
        trips.append((await ping_once(agent, f"flood-{len(trips)}"))[0])
        await asyncio.sleep(PING_PAUSE_S)
    return trips


async def _flood(seconds: float, ports: Sequence[int]) -> int:
    """Open connections as fast as they come for some seconds, and say nothing on them; return how many."""
    loop = asyncio.get_running_loop()
    until = time.monotonic() + seconds
    open_ones: list[asyncio.Transport] = []
    opened = 0

    async def open_many(port: int) -> None:
        nonlocal opened
        while time.monotonic() < until:
            try:
                async with asyncio.timeout(GET_IN_S):
                    transport, _ = await loop.create_connection(asyncio.Protocol, HOST, port)
            except (OSError, TimeoutError):
                await asyncio.sleep(0.01)
                continue
            opened += 1
            open_ones.append(transport)
            if len(open_ones) > FLOOD:
                open_ones.pop(0).abort()

    async with asyncio.TaskGroup() as group:
        for port in ports:
            for _ in range(FLOOD_AT_ONCE // len(ports)):
                group.create_task(open_many(port))
    for transport in open_ones:
        transport.abort()
    return opened


# ── guesses ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _guess(port: Callable[[Playing], None], playing: Playing, seconds: float) -> float:
    """Guess with several connections at once; return how many guesses a second were compared with the password.

    Those that are refused unread look the same from outside, so that the remote's own count is taken.
    """
    until = time.monotonic() + seconds
    before = _compared(playing)

    def guess_on(_: int) -> None:
        while time.monotonic() < until:
            guess_once(port, playing)

    with ThreadPoolExecutor(GUESSERS) as pool:
        list(pool.map(guess_on, range(GUESSERS)))
    return (_compared(playing) - before) / seconds


def guess_once(port: Callable[[Playing], None], playing: Playing) -> None:
    """Guess at a port, which may refuse in any way."""
    with contextlib.suppress(OSError, RfbError, WebSocketException, http.client.HTTPException):
        port(playing)


def _compared(playing: Playing) -> float:
    """Return how many wrong passwords the remote has compared."""
    pattern = r"^pluriverse_wrong_passwords_total\{.*\} (.+)$"
    counts = re.findall(pattern, _get(playing, "/metrics"), re.MULTILINE)
    assert counts, "the remote doesn't count wrong passwords"
    return sum(float(count) for count in counts)


def _guess_vnc(playing: Playing) -> None:
    RfbClient(HOST, playing.vnc_port, WRONG).close()


def _guess_rewarder(playing: Playing, path: str = "/") -> None:
    port = playing.rewarder_port
    assert port is not None

    async def guess() -> None:
        async with connected(port, WRONG, path=path) as agent:
            await agent.hear_end()

    asyncio.run(guess())


def _guess_viewer(playing: Playing) -> None:
    _get(playing, f"/viewer/access?password={WRONG}")


def _guess_screen(playing: Playing) -> None:
    _guess_rewarder(playing, "/vnc")


def _guess_lease(playing: Playing) -> None:
    ask(playing, "POST", "/lease", credentials(WRONG))


def _guess_bearer(playing: Playing) -> None:
    ask(playing, "POST", "/restart", f"Bearer {WRONG}")


DOORS: Final[dict[str, Callable[[Playing], None]]] = {
    "vnc": _guess_vnc,
    "rewarder": _guess_rewarder,
    "viewer": _guess_viewer,
    "lease": _guess_lease,
    "bearer": _guess_bearer,
    "screen": _guess_screen,
}


def _get(playing: Playing, path: str) -> str:
    return ask(playing, "GET", path)


def ask(playing: Playing, method: str, path: str, authorization: str | None = None) -> str:
    """Send a request to the rewarder port; return the answer's body."""
    headers = {} if authorization is None else {"Authorization": authorization}
    connection = http.client.HTTPConnection(HOST, playing.rewarder_port, timeout=GUESS_S)
    try:
        connection.request(method, path, headers=headers)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


if __name__ == "__main__":
    print(asyncio.run(_flood(float(sys.argv[1]), [int(word) for word in sys.argv[2:]])), flush=True)
