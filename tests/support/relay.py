"""A line that can fail: a TCP relay that can fall silent both ways, or drop what goes over it."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncGenerator, Callable, Generator
from typing import TypeVar

from anyio.from_thread import start_blocking_portal

CHUNK = 65536


class Relay:
    """Carries connections to ``target``, a port of this machine, each way ``delay_s`` seconds longer."""

    def __init__(self, target: int, *, delay_s: float = 0.0) -> None:
        self.target = target
        self.delay_s = delay_s
        self.loop = asyncio.get_running_loop()
        self.port = 0
        self.calls = 0
        self._carries = asyncio.Event()
        self._carries.set()
        self._refuses = False
        self._ends: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def fall_silent(self) -> None:
        """Carry nothing any more: what is sent meanwhile waits, as TCP has it; new connections get no answer."""
        self.loop.call_soon_threadsafe(self._carries.clear)

    def drop(self) -> None:
        """Reset all connections, and each new one at once."""
        self._refuses = True
        self.loop.call_soon_threadsafe(self._drop)

    def carry(self) -> None:
        self._refuses = False
        self.loop.call_soon_threadsafe(self._carries.set)

    def _drop(self) -> None:
        for end in self._ends:
            reset(end)

    async def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.calls += 1
        if self._refuses:
            reset(writer)
            return
        await self._carries.wait()
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        await self.begin(reader, writer, far_writer)
        ends = {writer, far_writer}
        self._ends |= ends
        ways = [
            asyncio.create_task(self._carry(reader, far_writer)),
            asyncio.create_task(self._carry(far_reader, writer)),
        ]
        self._tasks.update(ways)
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        self._ends -= ends
        for end in ends:
            end.close()
        await asyncio.wait(ways)
        self._tasks.difference_update(ways)

    async def begin(self, near: asyncio.StreamReader, back: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        """Do what comes before bytes are carried: nothing."""

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(CHUNK):
                await self._carries.wait()
                if self.delay_s:
                    self.loop.call_later(self.delay_s, writer.write, data)
                else:
                    writer.write(data)
                    await writer.drain()
        await asyncio.sleep(self.delay_s)


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN."""
    end: socket.socket = writer.get_extra_info("socket")
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


_R = TypeVar("_R", bound=Relay)


@contextlib.asynccontextmanager
async def relaying_by(make: Callable[[], _R]) -> AsyncGenerator[_R]:
    relay = make()
    server = await asyncio.start_server(relay._called, "127.0.0.1", 0)  # pyright: ignore[reportPrivateUsage]
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()
        relay.drop()
        relay.carry()
        await asyncio.sleep(0)  # drop's turn
        await asyncio.gather(*relay._tasks)  # pyright: ignore[reportPrivateUsage]


def relaying(target: int) -> contextlib.AbstractAsyncContextManager[Relay]:
    return relaying_by(lambda: Relay(target))


@contextlib.contextmanager
def beside(*relayings: contextlib.AbstractAsyncContextManager[_R]) -> Generator[list[_R]]:
    """Relays on a loop of their own, for tests that have none."""
    with start_blocking_portal() as portal, contextlib.ExitStack() as stack:
        yield [stack.enter_context(portal.wrap_async_context_manager(each)) for each in relayings]


def relaying_beside(*targets: int) -> contextlib.AbstractContextManager[list[Relay]]:
    """Relays to ports of this machine, on a loop of their own."""
    return beside(*map(relaying, targets))
