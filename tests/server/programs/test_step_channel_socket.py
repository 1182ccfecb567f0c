"""Where programs take step channels from the daemon, with a program's end of the socket."""

import asyncio
import contextlib
import socket
import stat
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest
from pluriverse_protocol.step_channel import HANDOVER_BYTES, View, unpack_handover
from pluriverse_server.process import StartError
from pluriverse_server.programs.step_channel_socket import NO_PROGRAM, StepChannelSocket
from support.waiting import eventually


@pytest.fixture
async def step_channels(tmp_path: Path) -> AsyncIterator[StepChannelSocket]:
    made = StepChannelSocket(tmp_path / "step_channels.sock")
    made.start()
    yield made
    made.stop()
    assert not made.path.exists()


@contextlib.asynccontextmanager
async def program(step_channels: StepChannelSocket) -> AsyncGenerator[socket.socket]:
    """A program that has connected, and that the daemon has noticed."""
    with socket.socket(socket.AF_UNIX) as end:
        end.settimeout(60)
        end.connect(str(step_channels.path))
        await eventually(lambda: step_channels.connected)
        yield end


def taken(end: socket.socket) -> socket.socket | None:
    """The step channel that a program takes; None: the daemon closed the connection."""
    _, descriptors, _, _ = socket.recv_fds(end, HANDOVER_BYTES, 1)
    return socket.socket(fileno=descriptors[0]) if descriptors else None


async def test_a_step_channel_stays_open_with_the_program_when_the_daemon_has_closed_it(
    step_channels: StepChannelSocket,
) -> None:
    async with program(step_channels) as end:
        mine, theirs = socket.socketpair()
        with mine:
            step_channels.hand_over(theirs)
            theirs.close()
            step_channel = taken(end)
            assert step_channel is not None
            with step_channel:
                mine.sendall(b"step")
                assert step_channel.recv(10) == b"step"


async def test_a_slot_and_a_view_come_with_a_step_channel(step_channels: StepChannelSocket) -> None:
    async with program(step_channels) as end:
        for slot, view in ((0, None), (3, View((1, 2, 30, 40), (84, 83), grey=True)), (255, View(grey=True))):
            mine, theirs = socket.socketpair()
            with mine, theirs:
                step_channels.hand_over(theirs, slot, view)
                data, descriptors, _, _ = socket.recv_fds(end, HANDOVER_BYTES, 1)
                assert unpack_handover(data) == (slot, view)
                socket.socket(fileno=descriptors[0]).close()


async def test_without_a_program_there_is_no_step_channel(step_channels: StepChannelSocket) -> None:
    mine, theirs = socket.socketpair()
    with mine, theirs:
        with pytest.raises(ConnectionError, match=NO_PROGRAM):
            step_channels.hand_over(theirs)
        async with program(step_channels):
            assert step_channels.connected
        # It isn't known to be gone until it is needed.
        with pytest.raises(ConnectionError, match=NO_PROGRAM):
            step_channels.hand_over(theirs)
        assert not step_channels.connected


async def test_a_new_program_takes_the_place_of_the_last(step_channels: StepChannelSocket) -> None:
    async with program(step_channels) as first:
        with socket.socket(socket.AF_UNIX) as second:
            second.connect(str(step_channels.path))
            assert await asyncio.to_thread(taken, first) is None
            mine, theirs = socket.socketpair()
            with mine, theirs:
                step_channels.hand_over(theirs)
                step_channel = taken(second)
                assert step_channel is not None
                step_channel.close()


async def test_a_step_channel_is_taken_back_by_a_word_without_one(step_channels: StepChannelSocket) -> None:
    # Without a program there is nothing to take back.
    step_channels.take_back()
    async with program(step_channels) as end:
        step_channels.take_back()
        assert socket.recv_fds(end, HANDOVER_BYTES, 1)[:2] == (bytes(HANDOVER_BYTES), [])
        step_channels.hang_up()
        assert not step_channels.connected
        assert taken(end) is None
    step_channels.take_back()
    assert not step_channels.connected


async def test_a_place_that_cannot_be_had_is_told(tmp_path: Path, step_channels: StepChannelSocket) -> None:
    assert stat.S_IMODE(step_channels.path.stat().st_mode) == 0o660
    for path in (step_channels.path, tmp_path / "nowhere" / "step_channels.sock", tmp_path / ("x" * 200)):
        with pytest.raises(StartError, match="the socket"):
            StepChannelSocket(path).start()
    assert step_channels.path.exists()
