"""When spares are made and taken; the plays are stand-ins."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

import pytest
from pluriverse_server.scraper.play import Play
from pluriverse_server.scraper.player import Broken
from pluriverse_server.scraper.spares import Spares
from support.waiting import eventually


class Standing:
    """A play that is ready until it is told to fall, and takes its time to stop until it may."""

    def __init__(self) -> None:
        self.fall = asyncio.Event()
        self.may_stop = asyncio.Event()
        self.stopping = asyncio.Event()

    async def rest(self) -> None:
        await self.fall.wait()

    async def stop(self) -> None:
        self.stopping.set()
        await self.may_stop.wait()


def making(made: list[Standing], error: Exception | None = None) -> Callable[[bool], Awaitable[Play]]:
    """Makes plays; with ``error`` none of those that are wanted background."""

    async def make(background: bool) -> Play:
        if background and error is not None:
            raise error
        made.append(Standing())
        made[-1].may_stop.set()
        return cast("Play", made[-1])

    return make


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("error", [Broken("no window"), RuntimeError("can't start new thread")])
async def test_where_no_spare_can_be_made_another_play_is_made_when_it_is_needed(error: Exception) -> None:
    made: list[Standing] = []
    spares = Spares(1, making(made, error))
    spares.fill()
    async with asyncio.timeout(60):
        play = await spares.take()
    assert [play] == made
    await spares.close()


async def test_nothing_is_made_any_more_once_it_is_closed() -> None:
    made: list[Standing] = []
    spares = Spares(1, making(made))
    spares.fill()
    await eventually(lambda: made)
    [spare] = made
    spare.may_stop.clear()
    spare.fall.set()
    await spare.stopping.wait()
    await spares.close()
    spare.may_stop.set()
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
    assert made == [spare]
