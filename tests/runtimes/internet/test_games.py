"""The pages played over VNC, and what they pay compared with models of their rules."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any, Final

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


# ── Minesweeper ─────────────────────────────────────────────────────────────────────────────────────────────────────

SIDE: Final = 9
CONTROL: Final = 0xFFE3


def mines(seed: int) -> set[int]:
    """The squares with mines, row by row."""
    draw, found = mulberry32(seed), list[int]()
    while len(found) < 10:
        square = math.floor(draw() * SIDE**2)
        if square not in found:
            found.append(square)
    return set(found)


def opens(square: int, mined: set[int], is_open: set[int]) -> None:
    """Add to ``is_open`` what a click opens: without a mine nearby, all around, too."""
    if square in is_open:
        return
    is_open.add(square)
    row, column = divmod(square, SIDE)
    around = [
        (row + down) * SIDE + column + right
        for down in (-1, 0, 1)
        for right in (-1, 0, 1)
        if 0 <= row + down < SIDE and 0 <= column + right < SIDE
    ]
    if not mined.intersection(around):
        for other in around:
            opens(other, mined, is_open)


def click(viewer: RfbClient, square: int) -> None:
    row, column = divmod(square, SIDE)
    at = (80 + 40 * column, 93 + 40 * row)
    viewer.pointer(*at)
    viewer.pointer(*at, mask=1)
    viewer.pointer(*at)


@pytest.mark.parametrize("seed", nightly_but([2**40 + 7], [1, 2**40 + 7]))
async def test_minesweeper_pays_for_each_square_that_opens_until_all_safe_ones_have(
    remote: PageRemote, viewer: RfbClient, seed: int
) -> None:
    await remote.begin("internet.Minesweeper-v0", seed)
    mined, is_open, body = mines(seed), set[int](), dict[str, Any]()
    for square in range(SIDE**2):
        if square in mined or square in is_open:
            continue
        before = len(is_open)
        opens(square, mined, is_open)
        click(viewer, square)
        body = (await remote.agent.hear_method("v0.env.reward"))["body"]
        assert body["reward"] == len(is_open) - before
    assert (body["terminated"], body["info"]["reason"]) == (True, "all safe squares are open")


async def test_mine_ends_minesweeper_without_a_reward_and_a_flag_keeps_it_shut(
    remote: PageRemote, viewer: RfbClient
) -> None:
    await remote.begin("internet.Minesweeper-v0", 3)
    first, second, *_ = sorted(mines(3))
    viewer.key(CONTROL, True)
    click(viewer, first)
    viewer.key(CONTROL, False)
    for square in (first, second):
        click(viewer, square)
    total, last = await remote.earned()
    assert total == 0
    assert last["info"]["reason"] == "a mine was opened"


# ── Meteors ─────────────────────────────────────────────────────────────────────────────────────────────────────────

# A key that is pressed when an episode begins has arrived after so many steps at the latest, on a busy machine too.
LATE: Final = 100
MAX_STEPS: Final = 8 * 60


def meteors(seed: int, target: float | None, late: int) -> tuple[int, int]:
    """Score and length of a game in which the ship makes for ``target`` from step ``late`` on."""
    draw = mulberry32(seed)
    x, score, steps, following = 240.0, 0, 0, 30
    falling: list[list[float]] = []
    while True:
        steps += 1
        steer = 0.0 if target is None or steps <= late else min(max((target - x) / 5, -1), 1)
        x = min(max(x + 5 * steer, 12), 468)
        if steps == following:
            following = steps + max(8, 24 - steps // 180)
            crystal = draw() < 0.4
            radius = 9 if crystal else 10 + math.floor(draw() * 20)
            at = radius + draw() * (480 - 2 * radius)
            falling.append([crystal, radius, at, -radius, 2 + 2 * draw() + steps / 1800])
        hit = False
        for thing in falling:
            thing[3] += thing[4]
        falling = [thing for thing in falling if thing[3] < 480 + thing[1]]
        for thing in list(falling):
            crystal, radius, at, y, _ = thing
            if (at - x) ** 2 + (y - 440) ** 2 < (radius + 12) ** 2:
                if crystal:
                    falling.remove(thing)
                    score += not hit
                hit = hit or not crystal
        if hit:
            return score, steps


def seed_for(target: float | None) -> tuple[int, int]:
    """A seed of a short game that pays something, and that whatever the moment at which the key or button arrives."""
    for seed in range(3000):
        score, steps = meteors(seed, target, 0)
        if score < 2 or steps > MAX_STEPS:
            continue
        if all(meteors(seed, target, late) == (score, steps) for late in range(LATE)):
            return seed, score
    raise AssertionError("no such seed")


async def test_ship_makes_for_the_pointer_while_its_button_is_held(remote: PageRemote, viewer: RfbClient) -> None:
    seed, score = seed_for(120.0)
    await remote.begin("internet.Meteors-v0", seed)
    viewer.pointer(120, 200, 1)
    total, _ = await remote.earned()
    viewer.pointer(120, 200)
    assert total == score


async def test_pages_keep_to_their_corner_of_the_screen(remote: PageRemote, viewer: RfbClient) -> None:
    described = await remote.begin("internet.Meteors-v0", 1)
    assert described["picture"] == [0, 0, 480, 480]
    assert described["spaces"]["pointer"] is True
    viewer.wait_for_pixel(479, 479, (0x0B, 0x10, 0x26))
    viewer.wait_for_pixel(480, 479, (0x22, 0x22, 0x22))
