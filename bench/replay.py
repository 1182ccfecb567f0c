"""A server of replayed screens: each that connects gets the same recorded stream, and a rewarder beside it.

``python bench/replay.py FILE FPS`` prints its VNC port and its rewarder's, waits for a line on its standard input, and
then plays to all who are connected until that closes. The remote's clock is the one that the recording was made with.
"""

from __future__ import annotations

import asyncio
import itertools
import pickle
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Final, NoReturn

import painted
from desktops import HEIGHT, WIDTH, python_environment
from pluriverse_protocol import Headers, decode_from_agent, encode
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.messages import Describe, Ping, PingReply, Reset, ResetReply, Reward, ServerMessage
from pluriverse_protocol.rfb.handshake import VERSION, VERSION_BYTES
from pluriverse_protocol.rfb.pixel_format import BGRX
from streams import GAME, Recorded
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

FPS: Final = 60
NAME: Final = b"replayed"

# gym-core says once a second what was earned, and at once where something was.
REWARD_S: Final = 1.0

STOP_S: Final = 5.0

# A vector connects to all of its remotes at once.
BACKLOG: Final = 1024

# The moments within a frame's time at which remotes draw.
PHASES: Final = 16

# A client that leaves so much unread isn't sent more.
BEHIND_BYTES: Final = 256 * 1024

RUNNING: Final = Describe(
    GAME,
    "running",
    FPS,
    width=WIDTH,
    height=HEIGHT,
    metadata_encoding={"type": "pixels", "x": painted.X, "y": painted.Y},
    picture=(0, 0, 160, 210),
    spaces=Spaces(discrete=(Choice("NOOP", ()), Choice("RIGHT", (0xFF53,)), Choice("LEFT", (0xFF51,)))),
)


@dataclass
class Replay:
    """A running server. ``start`` makes it play."""

    vnc_port: int
    rewarder_port: int
    process: subprocess.Popen[str]

    def remotes(self, n: int) -> str:
        """The address of ``n`` remotes, which are all this one."""
        return "vnc://" + ",".join([f"127.0.0.1:{self.vnc_port}+{self.rewarder_port}"] * n)

    def start(self) -> None:
        """Play to all who are connected."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@contextmanager
def replaying(recorded: Recorded, fps: int = FPS) -> Generator[Replay]:
    """A server in a process of its own, for as long as the context lasts; it plays ``fps`` updates a second."""
    with tempfile.NamedTemporaryFile(prefix="bench-") as file:
        Path(file.name).write_bytes(pickle.dumps(recorded))
        process = subprocess.Popen(
            [sys.executable, __file__, file.name, str(fps)],
            env=python_environment(),
            stdin=PIPE,
            stdout=PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            ports = process.stdout.readline().split()
            if len(ports) != 2:
                raise OSError(f"the replaying server ended with status {process.wait()}")
            yield Replay(int(ports[0]), int(ports[1]), process)
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


class Screen:
    """One VNC client that is played to."""

    def __init__(self, writer: asyncio.StreamWriter, updates: Iterable[bytes]) -> None:
        self._transport = writer.transport
        self._updates = iter(updates)

    def play(self) -> None:
        """Send the next update, if there is one; a client that is behind gets it later."""
        if self._transport.get_write_buffer_size() < BEHIND_BYTES:
            update = next(self._updates, None)
            if update is not None:
                self._transport.write(update)


class Server:
    """Both ports of all remotes."""

    def __init__(self, recorded: Recorded, fps: int) -> None:
        self._recorded = recorded
        self._fps = fps
        self._again = recorded.again() if recorded.loops else ()
        self._started = asyncio.Event()
        self._began = 0.0
        self._numbers = itertools.count()
        # Remotes draw at moments of their own; one timer for each moment is cheaper than one for each remote.
        self._screens: list[set[Screen]] = [set() for _ in range(PHASES)]

    def start(self) -> None:
        """Play."""
        self._began = time.time()
        self._started.set()

    async def screen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One VNC client: let it in, and play until it goes."""
        screens = self._screens[next(self._numbers) % PHASES]
        # It is cancelled when the server ends, and that is no failure.
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await _shake_hands(reader, writer)
            updates: Iterable[bytes] = self._recorded.updates
            if self._again:
                updates = itertools.chain(updates, itertools.cycle(self._again))
            screen = Screen(writer, updates)
            screens.add(screen)
            try:
                await _hear_out(reader)
            finally:
                screens.discard(screen)
        writer.close()

    async def play(self) -> NoReturn:
        """Play to all who are connected, once it has started."""
        await self._started.wait()
        loop = asyncio.get_running_loop()
        began = loop.time()
        for turn in itertools.count():
            await asyncio.sleep(max(0.0, began + turn / (self._fps * PHASES) - loop.time()))
            for screen in list(self._screens[turn % PHASES]):
                screen.play()
        raise AssertionError

    async def rewarder(self, socket: ServerConnection) -> None:
        """One agent: tell it what runs, answer, and reward it."""
        message_ids = itertools.count()
        episode_id = 1

        async def say(
            message: ServerMessage, parent: int | str | None = None, received_at: float | None = None
        ) -> None:
            headers = Headers(next(message_ids), self._now(), episode_id, parent, 0.0 if parent else None, received_at)
            await socket.send(encode(message, headers))

        async def reward() -> NoReturn:
            while True:
                await asyncio.sleep(REWARD_S)
                await say(Reward(1.0, False))

        with suppress(ConnectionClosed):
            await say(RUNNING)
            await self._started.wait()
            rewarding = asyncio.create_task(reward())
            async for data in socket:
                received_at = self._now()
                envelope = decode_from_agent(data)
                match envelope.message:
                    case Ping():
                        await say(PingReply(), envelope.headers.message_id, received_at)
                    case Reset():
                        episode_id += 1
                        await say(ResetReply(), envelope.headers.message_id)
                        await say(RUNNING)
                    case _:
                        pass
            rewarding.cancel()

    def _now(self) -> float:
        """The recording's clock."""
        return time.time() - self._began + self._recorded.began


async def _shake_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(VERSION % (3, 8))
    await reader.readexactly(VERSION_BYTES)
    writer.write(b"\x01\x01")
    await reader.readexactly(1)
    writer.write(bytes(4))
    await reader.readexactly(1)
    writer.write(struct.pack(">HH", WIDTH, HEIGHT) + BGRX.to_bytes() + struct.pack(">I", len(NAME)) + NAME)


async def _hear_out(reader: asyncio.StreamReader) -> None:
    """Requests, keys, answers to fences: the stream goes on whatever they are."""
    while await reader.read(1 << 16):
        pass


async def main(recorded: Recorded, fps: int) -> None:
    """Serve until standard input closes."""
    server = Server(recorded, fps)
    screens = await asyncio.start_server(server.screen, "127.0.0.1", 0, backlog=BACKLOG)
    async with serve(server.rewarder, "127.0.0.1", 0, compression=None, backlog=BACKLOG) as rewarders:
        ports = (next(iter(each.sockets)).getsockname()[1] for each in (screens, rewarders))
        print(*ports, flush=True)
        playing = asyncio.create_task(server.play())
        if await asyncio.to_thread(sys.stdin.readline):
            server.start()
            await asyncio.to_thread(sys.stdin.read)
        playing.cancel()


if __name__ == "__main__":
    asyncio.run(main(pickle.loads(Path(sys.argv[1]).read_bytes()), int(sys.argv[2])))  # noqa: S301 - the parent wrote it
