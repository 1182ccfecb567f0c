import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pluriverse_protocol.limits import MAX_REPORT_BYTES
from pluriverse_protocol.reports import (
    Joystick,
    Observation,
    Ready,
    Report,
    Reset,
    Reward,
    Stop,
    Text,
    decode_request,
    encode_line,
)
from pluriverse_server.process import StartError
from pluriverse_server.sources.reports import MAX_LOGGED_COMPLAINTS, ReportSocket
from support.waiting import DEADLINE_S, eventually

HUNG_UP = "the program closed the connection"


class Heard:
    """What a socket's listener is told, and the socket."""

    def __init__(self, path: Path) -> None:
        self.connects = 0
        self.reports: list[Report] = []
        self.reasons: list[str] = []
        self.socket = ReportSocket(path, self._connected, self.reports.append, self.reasons.append)

    def _connected(self) -> None:
        self.connects += 1

    async def until_reports(self, count: int) -> list[Report]:
        await eventually(lambda: len(self.reports) >= count)
        return self.reports

    async def until_hung_up(self) -> str:
        await eventually(lambda: self.reasons)
        assert not self.socket.connected
        return self.reasons[-1]


class Caller:
    """A program's end of the socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @property
    async def hung_up_on(self) -> bool:
        """Whether the daemon ends the conversation, all that it said before having been read."""
        with contextlib.suppress(ConnectionResetError):
            await asyncio.wait_for(self.reader.read(), DEADLINE_S)
        return self.reader.at_eof()


@asynccontextmanager
async def listening(tmp_path: Path) -> AsyncGenerator[Heard]:
    heard = Heard(tmp_path / "program.sock")
    await heard.socket.start()
    try:
        yield heard
    finally:
        await heard.socket.stop()


@asynccontextmanager
async def calling(heard: Heard) -> AsyncGenerator[Caller]:
    reader, writer = await asyncio.open_unix_connection(heard.socket.path, limit=MAX_REPORT_BYTES)
    try:
        yield Caller(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def test_reports_are_heard_in_order_and_requests_come_back(tmp_path: Path) -> None:
    largest = Text(1, "x" * (MAX_REPORT_BYTES - len(encode_line(Text(1, "")))))
    said = [Ready(1), Reward(1, 2.0), largest, Text(1, "\u00e9")]
    async with listening(tmp_path) as heard:
        # Without a program requests go nowhere.
        heard.socket.send(Stop())
        async with calling(heard) as program:
            # In pieces, and the last line isn't finished.
            for line in [*map(encode_line, said), encode_line(Ready(2))[:-1]]:
                program.writer.write(line[:9])
                await program.writer.drain()
                program.writer.write(line[9:])
            await heard.until_reports(len(said))
            assert heard.connects == 1
            assert heard.socket.connected
            for request in (Reset(2, "toy", 7, 60.0), Stop()):
                heard.socket.send(request)
                assert decode_request(await program.reader.readline()) == request
        assert await heard.until_hung_up() == HUNG_UP
        assert heard.reports == said


async def test_malformed_lines_are_counted_survived_and_not_logged_without_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [b"", b"nonsense", b"{}", b"\xff\x00", b'{"report": "ready"}', b"[" * 10_000, encode_line(Stop()).strip()]
    async with listening(tmp_path) as heard, calling(heard) as program:
        program.writer.write(b"\n".join(lines * 100) + b"\n" + encode_line(Ready(1)))
        assert await heard.until_reports(1) == [Ready(1)]
        assert heard.socket.malformed_reports == 100 * len(lines)
        assert len(caplog.messages) == MAX_LOGGED_COMPLAINTS
        assert all(len(message) < 300 for message in caplog.messages)


async def test_line_that_never_ends_is_hung_up_on_and_the_next_program_may_come(tmp_path: Path) -> None:
    async with listening(tmp_path) as heard:
        async with calling(heard) as program:
            program.writer.write(b"x" * (MAX_REPORT_BYTES + 1))
            assert await heard.until_hung_up() == f"the program's report was over {MAX_REPORT_BYTES} bytes"
            assert await program.hung_up_on
        async with calling(heard) as program:
            program.writer.write(encode_line(Ready(1)))
            assert await heard.until_reports(1) == [Ready(1)]
        await eventually(lambda: len(heard.reasons) == 2)
        assert heard.reasons[1] == HUNG_UP


async def test_second_program_is_turned_away_and_the_first_never_notices(tmp_path: Path) -> None:
    async with listening(tmp_path) as heard, calling(heard) as first:
        await eventually(lambda: heard.connects)
        async with calling(heard) as second:
            assert await second.hung_up_on
        first.writer.write(encode_line(Ready(1)))
        assert await heard.until_reports(1) == [Ready(1)]
        assert heard.connects == 1
        assert heard.reasons == []


async def test_busy_program_is_asked_for_the_newest_of_many_episodes_and_not_blamed(tmp_path: Path) -> None:
    async with listening(tmp_path) as heard, calling(heard) as program:
        transport = program.writer.transport
        assert isinstance(transport, asyncio.ReadTransport)
        transport.pause_reading()
        await eventually(lambda: heard.connects)
        heard.socket.send(Joystick("JoystickAxisXEvent", 1.0))
        for episode in range(5000):
            heard.socket.send(Reset(episode, "toy", 7, 60.0))
        heard.socket.send(Joystick("JoystickAxisXEvent", 0.5))
        transport.resume_reading()
        asked = [decode_request(await program.reader.readline())]
        while asked[-1] != Joystick("JoystickAxisXEvent", 0.5):
            asked.append(decode_request(await program.reader.readline()))
        assert asked[-2] == Reset(4999, "toy", 7, 60.0)
        assert Reset(4998, "toy", 7, 60.0) not in asked
        # The first are those that the kernel took before it was busy.
        assert len(asked) < 500
        assert heard.reasons == []


async def test_hanging_up_lets_the_next_program_in_and_is_not_told_as_the_programs_doing(tmp_path: Path) -> None:
    async with listening(tmp_path) as heard, calling(heard) as old:
        await eventually(lambda: heard.connects)
        heard.socket.hang_up()
        assert not heard.socket.connected
        async with calling(heard) as new:
            await eventually(lambda: heard.connects == 2)
            assert await old.hung_up_on
            old.writer.write(encode_line(Ready(1)))
            new.writer.write(encode_line(Ready(2)))
            assert await heard.until_reports(1) == [Ready(2)]
        assert await heard.until_hung_up() == HUNG_UP
        assert len(heard.reasons) == 1


async def test_stop_hangs_up_and_leaves_no_socket_and_a_stale_one_is_replaced(tmp_path: Path) -> None:
    server = await asyncio.start_unix_server(lambda _reader, writer: writer.close(), tmp_path / "program.sock")
    server.close()
    heard = Heard(tmp_path / "program.sock")
    await heard.socket.start()
    async with calling(heard) as program:
        program.writer.write(encode_line(Observation(1, json.loads("[1]"))))
        assert await heard.until_reports(1) == [Observation(1, [1])]
        await heard.socket.stop()
        assert await program.hung_up_on
    assert not heard.socket.path.exists()
    await heard.socket.stop()
    heard = Heard(tmp_path / ("x" * 120) / "program.sock")
    heard.socket.path.parent.mkdir()
    with pytest.raises(StartError, match=r"program\.sock could not be started: AF_UNIX path too long"):
        await heard.socket.start()
