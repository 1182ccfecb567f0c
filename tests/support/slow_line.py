"""A line that is slow: a TCP proxy that hands everything on a while later, both ways."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Generator

CHUNK = 65536


@contextlib.contextmanager
def slow_line(port: int, delay_s: float) -> Generator[int]:
    """The port of a proxy to ``port`` of this machine, each way ``delay_s`` seconds longer."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="slow line")
    thread.start()
    stop = asyncio.Event()
    listening: asyncio.Future[int] = asyncio.Future(loop=loop)
    serving = asyncio.run_coroutine_threadsafe(_serve(port, delay_s, listening, stop), loop)
    try:
        yield asyncio.run_coroutine_threadsafe(_result(listening), loop).result(60)
    finally:
        loop.call_soon_threadsafe(stop.set)
        serving.result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _result(future: asyncio.Future[int]) -> int:
    return await future


async def _serve(port: int, delay_s: float, listening: asyncio.Future[int], stop: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as tasks:

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                writer.close()
                return
            ways = [
                asyncio.create_task(_carry(reader, far_writer, delay_s)),
                asyncio.create_task(_carry(far_reader, writer, delay_s)),
            ]
            ended = asyncio.create_task(stop.wait())
            await asyncio.wait([*ways, ended], return_when=asyncio.FIRST_COMPLETED)
            for task in (*ways, ended):
                task.cancel()
            await asyncio.wait([*ways, ended])
            for end in (writer, far_writer):
                end.close()

        def called(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tasks.create_task(answer(reader, writer))

        server = await asyncio.start_server(called, "127.0.0.1", 0)
        listening.set_result(server.sockets[0].getsockname()[1])
        await stop.wait()
        server.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float) -> None:
    loop = asyncio.get_running_loop()
    while data := await reader.read(CHUNK):
        loop.call_later(delay_s, writer.write, data)
    await asyncio.sleep(delay_s)
