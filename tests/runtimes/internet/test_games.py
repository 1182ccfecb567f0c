"""The pages played over VNC, and what they pay compared with models of their rules."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from support.nightly import nightly_but
from support.pages import PageRemote, page_remote
from support.rfb import RfbClient
from support.served import PASSWORD

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

RUNTIME: Final = Path(__file__).parents[3] / "runtimes/internet"
KEYS: Final = {"left": 0xFF51, "up": 0xFF52, "right": 0xFF53, "down": 0xFF54}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remote() -> AsyncGenerator[PageRemote]:
    async with page_remote(RUNTIME) as played:
        yield played


@pytest.fixture
def viewer(remote: PageRemote) -> Iterator[RfbClient]:
    with RfbClient("127.0.0.1", remote.vnc_port, PASSWORD) as client:
        yield client


def mulberry32(seed: int) -> Callable[[], float]:
    state = (seed & 0xFFFFFFFF) ^ (seed >> 32)

    def draw() -> float:
        nonlocal state
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        mixed = ((state ^ (state >> 15)) * (state | 1)) & 0xFFFFFFFF
        mixed ^= (mixed + ((mixed ^ (mixed >> 7)) * (mixed | 61))) & 0xFFFFFFFF
        return (mixed ^ (mixed >> 14)) / 2**32

    return draw


# ── 2048 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Board:
    """2048, as four rows of four."""

    def __init__(self, seed: int) -> None:
        self.draw = mulberry32(seed)
        self.rows = [[0] * 4 for _ in range(4)]
        self.score = 0
        self.add()
        self.add()

    def add(self) -> None:
        empty = [(row, column) for row in range(4) for column in range(4) if not self.rows[row][column]]
        row, column = empty[math.floor(self.draw() * len(empty))]
        self.rows[row][column] = 2 if self.draw() < 0.9 else 4

    def pushed(self, way: str) -> tuple[list[list[int]], int]:
        lines = [list(line) for line in zip(*self.rows, strict=True)] if way in ("up", "down") else self.rows
        results = [merged(line[::-1] if way in ("right", "down") else line) for line in lines]
        lines = [line[::-1] if way in ("right", "down") else line for line, _ in results]
        rows = [list(line) for line in zip(*lines, strict=True)] if way in ("up", "down") else lines
        return rows, sum(points for _, points in results)

    def move(self, way: str) -> bool:
        """Whether anything moved."""
        rows, points = self.pushed(way)
        if rows == self.rows:
            return False
        self.rows = rows
        self.score += points
        self.add()
        return True


def merged(line: list[int]) -> tuple[list[int], int]:
    numbers, out, points = [number for number in line if number], list[int](), 0
    while numbers:
        number = numbers.pop(0)
        if numbers and numbers[0] == number:
            number += numbers.pop(0)
            points += number
        out.append(number)
    return out + [0] * (4 - len(out)), points


def moves_of_a_whole_game(seed: int) -> tuple[list[str], int]:
    board, moves = Board(seed), list[str]()
    while way := next((way for way in ("left", "down", "right", "up") if board.move(way)), None):
        moves.append(way)
    return moves, board.score


@pytest.mark.parametrize("seed", nightly_but([2**40 + 7], [1, 2**40 + 7]))
async def test_whole_game_of_2048_pays_what_its_merges_add_up_to(
    remote: PageRemote, viewer: RfbClient, seed: int
) -> None:
    moves, score = moves_of_a_whole_game(seed)
    described = await remote.begin("internet.2048-v0", seed)
    assert [choice["name"] for choice in described["spaces"]["discrete"]] == ["LEFT", "RIGHT", "UP", "DOWN"]
    for way in moves:
        viewer.press(KEYS[way])
    total, last = await remote.earned()
    assert total == score > 500
    assert last["terminated"] is True
    assert last["info"]["reason"] == "the game is over"


# ── Meteors ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_pages_keep_to_their_corner_of_the_screen(remote: PageRemote, viewer: RfbClient) -> None:
    described = await remote.begin("internet.Meteors-v0", 1)
    assert described["picture"] == [0, 0, 480, 480]
    assert described["spaces"]["pointer"] is True
    viewer.wait_for_pixel(479, 479, (0x0B, 0x10, 0x26))
    viewer.wait_for_pixel(480, 479, (0x22, 0x22, 0x22))
