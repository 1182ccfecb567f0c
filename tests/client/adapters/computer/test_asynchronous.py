import asyncio
import time
from contextlib import AsyncExitStack

import pytest
from pluriverse.adapters.computer import AsyncComputer, Press, Type, Wait
from pluriverse.errors import Closed
from support.leftovers import Leftovers

pytestmark = pytest.mark.display

POLE = "gym-core.CartPole-v0"
PONG = "gym-core.PongNoFrameskip-v3"


@pytest.mark.slow
async def test_eight_act_at_once() -> None:
    leftovers = Leftovers()
    async with AsyncExitStack() as stack:
        computers = [AsyncComputer(PONG, "local:1") for _ in range(8)]
        await asyncio.gather(*map(stack.enter_async_context, computers))
        await asyncio.gather(*(computer.begin(seed=3) for computer in computers))
        began = time.monotonic()
        answers = await asyncio.gather(*(computer.do(Wait(2.0)) for computer in computers))
        # One after the other they would take 16 s.
        assert 2 <= time.monotonic() - began < 8
        assert [answer.over for answer in answers] == [False] * 8
    leftovers.assert_none()


async def test_calls_on_one_computer_come_one_after_the_other_and_tell_what_they_do(address: str) -> None:
    async with AsyncComputer(PONG, address, clock="lockstep") as pong:
        await pong.begin(seed=3)
        answers = await asyncio.gather(pong.do(Type("m")), pong.do(Press((0xFF52,), seconds=1.0)), pong.look())
        assert answers[0].message.startswith("The environment doesn't use the keys m")
        assert answers[2].pixels.shape == (210, 160, 3)
        assert pong.computer.passed_s == pytest.approx(1.05, abs=0.1)
    with pytest.raises(Closed, match="within async with"):
        await pong.look()


async def test_a_task_that_is_cancelled_breaks_off_what_it_does(address: str) -> None:
    async with AsyncComputer(PONG, address) as pong:
        await pong.begin()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await pong.do(Wait(100.0))
        # It would wait for the other's end.
        async with asyncio.timeout(20):
            await pong.begin(env=POLE)
