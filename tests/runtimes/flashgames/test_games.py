"""Flash games played over VNC, and what they pay by their rules."""

import hashlib
import shutil
import subprocess
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from support.pages import PageRemote, page_remote, short_folder
from support.rfb import RfbClient
from support.served import PASSWORD

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

RUNTIME: Final = Path(__file__).parents[3] / "runtimes/flashgames"
LEFT, UP, RIGHT, SPACE, RETURN = 0xFF51, 0xFF52, 0xFF53, 0x20, 0xFF0D

# The lane of each car, one's own being 1 at the start; lamps as (column, row) which, clicked once each, put out all.
RACER_SEED, LANES = 73, (1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 2, 0, 1, 1, 1, 2, 2, 2, 1, 2)
PUZZLE_SEED, LIT = 2**62 - 2**20, 12
SOLUTION = ((0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 1), (2, 2), (2, 4), (3, 1))

# Each press of a key pays what Math.random says; it has no ExternalInterface.
DICE = """
class Dice {
  public static var sum = 0;
  public static var begun = 0;
  static function main() {
    final stage = flash.Lib.current.stage;
    stage.addEventListener(flash.events.KeyboardEvent.KEY_DOWN, (event:flash.events.KeyboardEvent) -> {
      if (event.keyCode == 13) begun++; else sum += 1 + Std.int(Math.random() * 1e6);
    });
    stage.addEventListener(flash.events.MouseEvent.CLICK, _ -> begun += 10);
  }
}
"""

GAME = """
[[games]]
id = "flashgames.{title}-v0"
title = "{title}"
swf = "{swf}"
width = 300
height = 200
fps = 30
time_limit_s = 60
"""

OWN_GAMES = (
    GAME.format(title="Dice", swf="dice.swf")
    + 'sha256 = "{sha256}"\nscore = {{ static = "Dice.sum" }}\n'
    + 'start = [{{ key = "Enter" }}, {{ click = [50, 50] }}, {{ key = "Enter" }}]\n'
    + 'over = {{ static = "Dice.begun", is = 13 }}\n'
    + GAME.format(title="Missing", swf="missing.swf")
    + 'score = {{ external = "getScore" }}\n'
    + GAME.format(title="Other", swf="dice.swf")
    + f'sha256 = "{"0" * 64}"\nscore = {{{{ external = "getScore" }}}}\n'
)


@pytest.fixture(scope="module")
def runtime() -> Iterator[Path]:
    """A copy of the runtime with a folder of movies of one's own."""
    assert (RUNTIME / "vendor/swf").is_dir(), f"first run: python {RUNTIME / 'vendor.py'}"
    with short_folder() as folder:
        copy = folder / "flashgames"
        shutil.copytree(RUNTIME, copy, ignore=shutil.ignore_patterns("swf", "games"))
        shutil.copytree(RUNTIME / "vendor/swf", copy / "vendor/swf")
        own = copy / "swf"
        own.mkdir()
        (folder / "Dice.hx").write_text(DICE)
        command = ["haxe", "-cp", str(folder), "-main", "Dice", "-swf", str(own / "dice.swf")]
        subprocess.run([*command, "-swf-header", "300:200:30:404040"], check=True)
        sha256 = hashlib.sha256((own / "dice.swf").read_bytes()).hexdigest()
        (own / "games.toml").write_text(OWN_GAMES.format(sha256=sha256))
        yield copy


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remote(runtime: Path) -> AsyncGenerator[PageRemote]:
    async with page_remote(runtime) as played:
        yield played


@pytest.fixture
def viewer(remote: PageRemote) -> Iterator[RfbClient]:
    with RfbClient("127.0.0.1", remote.vnc_port, PASSWORD) as client:
        yield client


def click(viewer: RfbClient, x: int, y: int) -> None:
    for mask in (0, 1, 0):
        viewer.pointer(x, y, mask)


# ── Racer ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_race_pays_a_point_for_each_car_until_the_crash(remote: PageRemote, viewer: RfbClient) -> None:
    # Changes the lane before each of the first three cars that are in its own, and before no other.
    lane, passed, changes = 1, 0, 0
    described = await remote.begin("flashgames.Racer-v0", RACER_SEED)
    assert described["picture"] == [0, 0, 400, 400]
    assert described["fps"] == 30
    while True:
        if LANES[passed] == lane and changes < 3:
            changes += 1
            viewer.press(RIGHT if lane == 0 else LEFT)
            lane = 1 if lane == 0 else lane - 1
        body = await remote.agent.hear_reward()
        passed += int(body["reward"])
        if body["done"]:
            break
        assert body["reward"] == 1
    crash = next(car for car in range(passed, len(LANES)) if LANES[car] == lane)
    assert (passed, body["terminated"], body["info"]["reason"]) == (crash, True, "the game is over")
    assert changes == 3


# ── Puzzle: read by the wrapper ─────────────────────────────────────────────────────────────────────────────────────


async def test_solved_puzzle_pays_for_every_lamp_that_was_lit(remote: PageRemote, viewer: RfbClient) -> None:
    await remote.begin("flashgames.Puzzle-v0", PUZZLE_SEED)
    for column, row in SOLUTION:
        click(viewer, column * 72 + 36, 40 + row * 72 + 36)
    total, last = await remote.earned()
    assert (total, last["terminated"]) == (LIT, True)


# ── movies of one's own ─────────────────────────────────────────────────────────────────────────────────────────────


async def rolled(remote: PageRemote, viewer: RfbClient, seed: int) -> list[float]:
    await remote.begin("flashgames.Dice-v0", seed)
    rewards: list[float] = []
    for _ in range(3):
        viewer.press(SPACE)
        rewards.append((await remote.agent.hear_reward())["reward"])
    return rewards


async def test_random_numbers_of_a_movie_that_knows_no_seeds_are_those_of_the_seed(
    remote: PageRemote, viewer: RfbClient
) -> None:
    first = await rolled(remote, viewer, 1)
    assert await rolled(remote, viewer, 1) == first
    assert await rolled(remote, viewer, 2) != first


async def test_start_presses_and_clicks_and_the_end_is_told_by_a_public_static(
    remote: PageRemote, viewer: RfbClient
) -> None:
    # Two keys and a click begin it, which makes 12; the thirteenth ends it.
    await remote.begin("flashgames.Dice-v0", 1)
    viewer.press(RETURN)
    _, last = await remote.earned()
    assert last["terminated"] is True


async def test_missing_movie_is_named_and_the_other_games_go_on(remote: PageRemote, runtime: Path) -> None:
    await remote.begin("flashgames.Missing-v0", 1)
    reason = f"flashgames.Missing-v0: there is no file {runtime / 'swf/missing.swf'}; put the movie there"
    assert await remote.text() == reason
    assert await remote.truncated() == reason
    await remote.begin("flashgames.Puzzle-v0", 3)


async def test_other_movie_than_the_catalogue_means_is_refused_with_both_checksums(
    remote: PageRemote, runtime: Path
) -> None:
    await remote.begin("flashgames.Other-v0", 1)
    reason = await remote.truncated()
    assert reason.startswith(f"flashgames.Other-v0: {runtime / 'swf/dice.swf'} has the SHA-256 ")
    assert "0" * 16 in reason
