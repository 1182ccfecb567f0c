"""Measures what a guest with a token, or with none, can do to the agent beside it.

``python bench/attacks.py KIND SECONDS VNC REWARDER`` is such a guest of a remote on this machine, a process of its own,
so that the agent waits for nothing of it but the processors.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import psutil
from desktops import python_environment
from doors import DOORS, GUESSERS, ask, guess_once, ping_until
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.lease import Lease, claim
from pluriverse_protocol.rfb.messages import framebuffer_update_request, set_pixel_format
from pluriverse_protocol.rfb.web_stream import WebStream
from processes import DAEMON, MIB, parts_of_remote
from remote import PONG, Playing, playing_agent
from report import Figures, percentile
from support.agent import connected, credentials
from support.remotes import on_machine
from support.rfb import RfbClient, RfbError
from websockets.exceptions import WebSocketException

HOST: Final = "127.0.0.1"
OBSERVER: Final = "an-observers-own-token"
AGENT: Final = "an-agents-own-token"
TOKENS: Final = f"observer eye {OBSERVER}\nagent robot {AGENT}\n"

# What a remote's observers may be, from one address.
MANY: Final = 60
FEW: Final = 4

# How long the agent's lease lasts, and how often it is renewed, and its token used elsewhere.
LEASE_S: Final = 15.0
RENEW_S: Final = 1.0

# For how long the agent pings that comes after one who only reset.
AFTERWARDS_S: Final = 5.0

PICTURE: Final = framebuffer_update_request(0, 0, 4096, 4096, incremental=False)
PING: Final = bytes((0x89, 0x80 | 100)) + bytes(104)


def attacked(kind: str, seconds: float) -> Figures:
    """Milliseconds of the agent's pings beside it, MiB that the daemon is larger afterwards, and what died of it."""
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder, "tokens")
        tokens.write_text(TOKENS)
        tokens.chmod(0o600)
        with on_machine("--env", PONG, "--tokens", str(tokens)) as remote:
            playing = Playing(remote.vnc_port, remote.password, parts_of_remote(remote.process.pid), remote.port)
            return asyncio.run(_measure(kind, seconds, playing))


async def _measure(kind: str, seconds: float, playing: Playing) -> Figures:
    daemon = playing.parts[DAEMON]
    refused: list[str] = []
    if kind == "resets":
        # There is one agent: who resets is it.
        before = daemon.memory_info().rss
        attack = await _begin(kind, seconds, playing)
        await attack.wait()
        async with connected(playing.rewarder_port or 0, playing.password) as agent:
            until = time.monotonic() + AFTERWARDS_S
            pings = await ping_until(agent, lambda: time.monotonic() > until)
    else:
        lease = claim(Address(HOST, playing.vnc_port, playing.rewarder_port or 0, AGENT), LEASE_S)
        over = asyncio.Event()
        using = asyncio.gather(
            _use(lease.renew, over, refused),
            _use(lambda: _open_screen(lease), over, refused),
        )
        async with playing_agent(replace(playing, password=lease.address.password)) as agent:
            before = daemon.memory_info().rss
            attack = await _begin(kind, seconds, playing)
            ended = asyncio.create_task(attack.wait())
            pings = await ping_until(agent, ended.done)
            over.set()
            await using
    deaths = re.findall(r"^pluriverse_deaths_total\{.*\} (.+)$", ask(playing, "GET", "/metrics"), re.MULTILINE)
    return {
        "ping_p50": percentile(pings, 50),
        "ping_p99": percentile(pings, 99),
        "grown": (daemon.memory_info().rss - before) / MIB,
        "died": sum(map(float, deaths)) + (not psutil.pid_exists(daemon.pid)),
        "refused": len(refused),
    }


async def _use(use: Callable[[], None], over: asyncio.Event, refused: list[str]) -> None:
    """Do once more and again what the agent's token is good for, until it is over; note why it was refused."""
    while not over.is_set():
        try:
            await asyncio.to_thread(use)
        except (OSError, RemoteUnavailable, RfbError) as error:
            refused.append(str(error))
        await asyncio.sleep(RENEW_S)


def _open_screen(lease: Lease) -> None:
    RfbClient(HOST, lease.address.vnc_port or 0, lease.address.password).close()


async def _begin(kind: str, seconds: float, playing: Playing) -> asyncio.subprocess.Process:
    command = [sys.executable, __file__, kind, str(seconds), str(playing.vnc_port), str(playing.rewarder_port)]
    return await asyncio.create_subprocess_exec(*command, env=python_environment())


# ── guests, each in a thread, until they are hung up on ──────────────────────────────────────────────────────────────


def _ask_for_pictures(vnc: int, _: int, until: float) -> None:
    with RfbClient(HOST, vnc, OBSERVER) as client:
        while time.monotonic() < until:
            client.send((set_pixel_format() + PICTURE) * 10)


def _read_nothing(vnc: int, _: int, until: float) -> None:
    with RfbClient(HOST, vnc, OBSERVER):
        time.sleep(max(0.0, until - time.monotonic()))


def _ping(_: int, rewarder: int, until: float) -> None:
    with socket.create_connection((HOST, rewarder)) as connection:
        head = [
            "GET /vnc HTTP/1.1",
            f"Host: {HOST}:{rewarder}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Version: 13",
            f"Authorization: {credentials(OBSERVER)}",
        ]
        connection.sendall("\r\n".join([*head, "", ""]).encode())
        connection.sendall(WebStream(masks=True).wrap(b"RFB 003.008\n\x01\x01") + PICTURE)
        while time.monotonic() < until:
            connection.sendall(PING * 100)


def _reset(_: int, rewarder: int, until: float) -> None:
    async def reset() -> None:
        async with connected(rewarder, AGENT) as agent:
            hearing = asyncio.create_task(agent.hear_end())
            while time.monotonic() < until and not hearing.done():
                await agent.reset(PONG)
            hearing.cancel()

    asyncio.run(reset())


def _guess(vnc: int, rewarder: int, until: float) -> None:
    there = Playing(vnc, None, {}, rewarder)
    while time.monotonic() < until:
        for port in DOORS.values():
            guess_once(port, there)


ATTACKS: Final[dict[str, tuple[Callable[[int, int, float], None], int]]] = {
    "pictures": (_ask_for_pictures, FEW),
    "silence": (_read_nothing, MANY),
    "pings": (_ping, 1),
    "resets": (_reset, 1),
    "guesses": (_guess, GUESSERS),
}


def _attack(kind: str, seconds: float, vnc: int, rewarder: int) -> None:
    guest, count = ATTACKS[kind]
    until = time.monotonic() + seconds

    def attack() -> None:
        while time.monotonic() < until:
            with contextlib.suppress(OSError, RfbError, WebSocketException):
                guest(vnc, rewarder, until)
            time.sleep(0.1)

    threads = [threading.Thread(target=attack) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    _attack(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
