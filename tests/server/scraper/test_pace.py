import asyncio
from itertools import pairwise

import pytest
from pluriverse_server.scraper.pace import Pace
from support.waiting import assert_cancelled_after


async def test_cycles_are_a_frame_apart_while_nothing_is_drawn() -> None:
    loop = asyncio.get_running_loop()
    pace = Pace(100, asyncio.Event())
    began = loop.time()
    for _ in range(10):
        await pace.next()
    # The grid began with the pace, so that the first comes within a frame.
    assert loop.time() - began >= 0.088
    assert pace.frames - pace.late_frames == 10


async def test_what_is_drawn_is_looked_at_before_the_frame_is_over() -> None:
    drawn = asyncio.Event()
    pace = Pace(1, drawn)
    await pace.next()
    asyncio.get_running_loop().call_later(0.01, drawn.set)
    async with asyncio.timeout(0.95):
        await pace.next()


@pytest.mark.parametrize("turns", range(4))
async def test_cancelling_is_never_lost_however_close_to_a_cycle(turns: int) -> None:
    drawn = asyncio.Event()
    pace = Pace(5, drawn)
    await pace.next()
    cycle = asyncio.create_task(pace.next())
    # In the second half of its frame it waits for that.
    await asyncio.sleep(0.15)
    drawn.set()
    await assert_cancelled_after(turns, cycle)


async def test_cycles_are_never_closer_than_half_a_frame() -> None:
    loop = asyncio.get_running_loop()
    drawn = asyncio.Event()
    drawn.set()
    pace = Pace(50, drawn)
    await pace.next()
    times = [loop.time()]
    for _ in range(5):
        await pace.next()
        times.append(loop.time())
    assert all(after - before >= 0.0095 for before, after in pairwise(times))


async def test_frames_without_a_cycle_are_late() -> None:
    pace = Pace(100, asyncio.Event())
    await pace.next()
    await asyncio.sleep(0.055)
    await pace.next()
    assert pace.late_frames >= 4
    assert pace.frames - pace.late_frames == 2
    pace.begin()
    assert (pace.frames, pace.late_frames) == (0, 0)
