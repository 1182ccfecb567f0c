import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pluriverse_protocol.errors import LocalProtocolError, MalformedReport
from pluriverse_protocol.reports import Frame, Report, Reset, Reward, decode_report, encode_line
from pluriverse_server.scraper import daemon_connection as module
from pluriverse_server.scraper.daemon_connection import SOCKET_VARIABLE, DaemonConnection


@contextlib.asynccontextmanager
async def connected(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[tuple[DaemonConnection, asyncio.StreamReader, asyncio.StreamWriter]]:
    streams: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    path = folder / "socket"

    def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        streams.put_nowait((reader, writer))

    server = await asyncio.start_unix_server(take, path)
    monkeypatch.setenv(SOCKET_VARIABLE, str(path))
    connection = await DaemonConnection.open()
    reader, writer = await streams.get()
    yield connection, reader, writer
    writer.close()
    connection.close()
    server.close()


async def test_requests_come_in_order_and_end_with_the_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected(tmp_path, monkeypatch) as (connection, _, writer):
        requests = [Reset(episode, "env", 7, 60.0) for episode in (1, 2)]
        writer.write(b"".join(map(encode_line, requests)) + b"nonsense\n")
        assert [await connection.request(), await connection.request()] == requests
        with pytest.raises(MalformedReport):
            await connection.request()
        writer.close()
        assert await connection.request() is None


async def test_daemon_that_is_behind_gets_rewards_and_no_more_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_UNSENT_BYTES", 10_000)
    async with connected(tmp_path, monkeypatch) as (connection, reader, _):
        sent = 20_000
        for number in range(sent):
            connection.send(Frame(1, number))
        connection.send(Frame(1, sent), Reward(1, 5.0))
        said: list[Report] = []
        while not said or not isinstance(said[-1], Reward):
            said.append(decode_report(await reader.readline()))
        assert len(said) < sent


async def test_what_json_cannot_carry_is_an_error_and_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected(tmp_path, monkeypatch) as (connection, reader, _):
        with pytest.raises(LocalProtocolError):
            connection.send(Frame(1, 1), Reward(1, float("inf")))
        connection.send(Frame(1, 2))
        assert decode_report(await reader.readline()) == Frame(1, 2)
