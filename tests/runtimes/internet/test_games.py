"""The pages played over VNC, and what they pay by their rules."""

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from support.pages import PageRemote, page_remote
from support.rfb import RfbClient
from support.served import PASSWORD

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

RUNTIME: Final = Path(__file__).parents[3] / "runtimes/internet"
LEFT, UP, RIGHT, DOWN = 0xFF51, 0xFF52, 0xFF53, 0xFF54


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remote() -> AsyncGenerator[PageRemote]:
    async with page_remote(RUNTIME) as played:
        yield played


@pytest.fixture
def viewer(remote: PageRemote) -> Iterator[RfbClient]:
    with RfbClient("127.0.0.1", remote.vnc_port, PASSWORD) as client:
        yield client


# Pressed so often in turn for this seed, they fill the board; what merged meanwhile adds up to this.
TURN: Final = (LEFT, DOWN, RIGHT, UP)
SEED, PRESSES, SCORE = 2**40 + 7, 139, 1332


async def test_whole_game_of_2048_pays_what_its_merges_add_up_to(remote: PageRemote, viewer: RfbClient) -> None:
    described = await remote.begin("internet.2048-v0", SEED)
    assert [choice["name"] for choice in described["spaces"]["discrete"]] == ["LEFT", "RIGHT", "UP", "DOWN"]
    for number in range(PRESSES):
        viewer.press(TURN[number % 4])
    total, last = await remote.earned()
    assert total == SCORE
    assert last["terminated"] is True
    assert last["info"]["reason"] == "the game is over"


async def test_pages_keep_to_their_corner_of_the_screen(remote: PageRemote, viewer: RfbClient) -> None:
    described = await remote.begin("internet.Meteors-v0", 1)
    assert described["picture"] == [0, 0, 480, 480]
    assert described["spaces"]["pointer"] is True
    viewer.wait_for_pixel(479, 479, (0x0B, 0x10, 0x26))
    viewer.wait_for_pixel(480, 479, (0x22, 0x22, 0x22))
