"""Where programs take lanes from the daemon, with a program's end of the socket."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import stat
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest
from pluriverse_protocol.lane import HANDOVER_BYTES, View, unpack_handover
from pluriverse_server.process import StartError
from pluriverse_server.programs.lane_socket import NO_PROGRAM, LaneSocket
from support.waiting import eventually


@pytest.fixture
async def lanes(tmp_path: Path) -> AsyncIterator[LaneSocket]:
    made = LaneSocket(tmp_path / "lanes.sock")
    made.start()
    yield made
    made.stop()
    assert not made.path.exists()


@contextlib.asynccontextmanager
async def program(lanes: LaneSocket) -> AsyncGenerator[socket.socket]:
    """A program that has connected, and that the daemon has noticed."""
    with socket.socket(socket.AF_UNIX) as end:
        end.settimeout(60)
        end.connect(str(lanes.path))
        await eventually(lambda: lanes.connected)
        yield end


def taken(end: socket.socket) -> socket.socket | None:
    """The lane that a program takes; None: the daemon has hung up."""
    _, descriptors, _, _ = socket.recv_fds(end, HANDOVER_BYTES, 1)
    return socket.socket(fileno=descriptors[0]) if descriptors else None


async def test_a_lane_stays_open_with_the_program_when_the_daemon_has_closed_it(lanes: LaneSocket) -> None:
    async with program(lanes) as end:
        mine, theirs = socket.socketpair()
        with mine:
            lanes.hand_over(theirs)
            theirs.close()
            lane = taken(end)
            assert lane is not None
            with lane:
                mine.sendall(b"step")
                assert lane.recv(10) == b"step"


async def test_a_slot_and_a_view_come_with_a_lane(lanes: LaneSocket) -> None:
    async with program(lanes) as end:
        for slot, view in ((0, None), (3, View((1, 2, 30, 40), (84, 83), grey=True)), (255, View(grey=True))):
            mine, theirs = socket.socketpair()
            with mine, theirs:
                lanes.hand_over(theirs, slot, view)
                data, descriptors, _, _ = socket.recv_fds(end, HANDOVER_BYTES, 1)
                assert unpack_handover(data) == (slot, view)
                socket.socket(fileno=descriptors[0]).close()


async def test_without_a_program_there_is_no_lane(lanes: LaneSocket) -> None:
    mine, theirs = socket.socketpair()
    with mine, theirs:
        with pytest.raises(ConnectionError, match=NO_PROGRAM):
            lanes.hand_over(theirs)
        async with program(lanes):
            assert lanes.connected
        # It isn't known to be gone until it is needed.
        with pytest.raises(ConnectionError, match=NO_PROGRAM):
            lanes.hand_over(theirs)
        assert not lanes.connected


async def test_a_new_program_takes_the_place_of_the_last(lanes: LaneSocket) -> None:
    async with program(lanes) as first:
        with socket.socket(socket.AF_UNIX) as second:
            second.connect(str(lanes.path))
            assert await asyncio.to_thread(taken, first) is None
            mine, theirs = socket.socketpair()
            with mine, theirs:
                lanes.hand_over(theirs)
                lane = taken(second)
                assert lane is not None
                lane.close()


async def test_a_lane_is_taken_back_by_a_word_without_one(lanes: LaneSocket) -> None:
    # Without a program there is nothing to take back.
    lanes.take_back()
    async with program(lanes) as end:
        lanes.take_back()
        assert socket.recv_fds(end, HANDOVER_BYTES, 1)[:2] == (bytes(HANDOVER_BYTES), [])
        lanes.hang_up()
        assert not lanes.connected
        assert taken(end) is None
    lanes.take_back()
    assert not lanes.connected


async def test_a_place_that_cannot_be_had_is_told(tmp_path: Path, lanes: LaneSocket) -> None:
    assert stat.S_IMODE(lanes.path.stat().st_mode) == 0o660
    for path in (lanes.path, tmp_path / "nowhere" / "lanes.sock", tmp_path / ("x" * 200)):
        with pytest.raises(StartError, match="the socket"):
            LaneSocket(path).start()
    assert lanes.path.exists()
