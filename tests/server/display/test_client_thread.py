import asyncio
import threading
from collections.abc import AsyncIterator

import pytest
from pluriverse_server.display.client_thread import ClientThread, open_in_thread
from pluriverse_server.x11.connection import DisplayLost
from support.waiting import assert_cancelled_after, eventually

# As for what never answers; what does, has all the time that it could need.
SHORT_S = 0.3
LONG_S = 30


class Freezing:
    """Blocks from ``freeze`` on, as what talks to a frozen X server does, until it is aborted."""

    def __init__(self) -> None:
        self.cut = threading.Event()
        self.calls: list[str] = []

    def note(self, call: str) -> None:
        self.calls.append(call)

    def freeze(self) -> None:
        self.cut.wait()
        raise DisplayLost("the connection was cut")

    def abort(self) -> None:
        self.cut.set()

    def close(self) -> None:
        self.note("close")


async def opened(deadline_s: float = LONG_S) -> ClientThread[Freezing]:
    return await open_in_thread("injector", Freezing, ":7", deadline_s=deadline_s)


@pytest.fixture
async def thread() -> AsyncIterator[ClientThread[Freezing]]:
    thread = await opened()
    yield thread
    await thread.close()


async def test_calls_that_overlap_are_done_in_order_and_return(thread: ClientThread[Freezing]) -> None:
    await asyncio.gather(*(thread.run(lambda client, call=call: client.note(call)) for call in "abc"))
    assert await thread.run(lambda client: client.calls) == ["a", "b", "c"]


async def test_what_freezes_is_cut_at_the_deadline() -> None:
    thread = await opened(SHORT_S)
    with pytest.raises(DisplayLost, match=r"has not answered the injector for 0\.3 s"):
        await thread.run(lambda client: client.freeze())
    assert thread.client.cut.is_set()
    await thread.close()


async def test_closed_once_it_does_nothing_more() -> None:
    thread = await opened()
    await thread.close()
    await thread.close()
    assert thread.client.calls == ["close"]
    with pytest.raises(DisplayLost, match="the injector was closed"):
        await thread.run(lambda client: client.note("more"))


async def test_it_is_closed_also_if_a_call_before_it_freezes() -> None:
    thread = await opened(SHORT_S)
    frozen = asyncio.create_task(thread.run(lambda client: client.freeze()))
    closing = asyncio.create_task(thread.close())
    with pytest.raises(DisplayLost):
        await frozen
    await closing
    await eventually(lambda: thread.client.calls == ["close"])


async def test_what_opens_after_the_deadline_is_closed_again() -> None:
    go_on, made = threading.Event(), Freezing()

    def make() -> Freezing:
        go_on.wait()
        return made

    with pytest.raises(DisplayLost, match=r"at :7 has not answered for 0\.3 s"):
        await open_in_thread("injector", make, ":7", open_s=SHORT_S)
    go_on.set()
    await eventually(lambda: made.calls == ["close"])


@pytest.mark.parametrize("turns", range(6))
async def test_cancelling_is_never_lost_however_close_to_the_answer(turns: int, thread: ClientThread[Freezing]) -> None:
    answered = threading.Event()
    running = asyncio.create_task(thread.run(lambda _: answered.set()))
    await asyncio.sleep(0)
    # The loop hears of the answer in one of its next turns.
    answered.wait()
    await assert_cancelled_after(turns, running)
