"""TCP lines of this machine that can go silent, as a network does that loses everything for a while."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Generator, Iterable
from typing import Final

HOST: Final = "127.0.0.1"
CHUNK: Final = 65536


class _Line:
    """One port, and the connections through it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.carries = asyncio.Event()
        self.carries.set()

    async def listen(self) -> asyncio.Server:
        """Listen on a port of its own."""
        return await asyncio.start_server(self._called, HOST, 0)

    async def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held = bytearray()
        if not self.carries.is_set() and not await self._hold(reader, held):
            writer.close()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(HOST, self._port)
        except OSError:
            writer.close()
            return
        far_writer.write(held)
        await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))

    async def _hold(self, reader: asyncio.StreamReader, held: bytearray) -> bool:
        """Wait until the line carries; return False if the caller, whom nobody has heard, has gone before."""

        async def hold() -> None:
            with contextlib.suppress(OSError):
                while data := await reader.read(CHUNK):
                    held.extend(data)

        holding, carrying = asyncio.create_task(hold()), asyncio.create_task(self.carries.wait())
        await asyncio.wait({holding, carrying}, return_when=asyncio.FIRST_COMPLETED)
        stayed = not holding.done()
        for task in (holding, carrying):
            task.cancel()
        await asyncio.gather(holding, carrying, return_exceptions=True)
        return stayed

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError):
                while data := await reader.read(CHUNK):
                    await self.carries.wait()
                    writer.write(data)
                    await writer.drain()
            # That a peer has hung up isn't heard through a silent line, either.
            await self.carries.wait()
        finally:
            writer.close()


class Relay:
    """Lines to several ports; made by ``relaying``."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="relay")
        self._lines: dict[int, _Line] = {}
        self._servers: list[asyncio.Server] = []
        self.ports: dict[int, int] = {}
        """The port of the line to each port."""

    def silence(self, ports: Iterable[int], *, silent: bool) -> None:
        """Carry nothing to and from these ports from now on, or carry again what was held back and all that follows."""
        for port in ports:
            carries = self._lines[port].carries
            self._loop.call_soon_threadsafe(carries.clear if silent else carries.set)

    def start(self, ports: Iterable[int]) -> None:
        """Listen."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(ports), self._loop).result()

    def stop(self) -> None:
        """Hang up everywhere."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self, ports: Iterable[int]) -> None:
        for port in ports:
            line = self._lines[port] = _Line(port)
            server = await line.listen()
            self._servers.append(server)
            self.ports[port] = server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        for server in self._servers:
            server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.contextmanager
def relaying(ports: Iterable[int]) -> Generator[Relay]:
    """Lines to these ports of this machine."""
    relay = Relay()
    relay.start(ports)
    try:
        yield relay
    finally:
        relay.stop()
