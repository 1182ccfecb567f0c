"""Every task is begun, begun again, and left to its own clock."""

import json
import subprocess
import sys
from typing import Any

import pytest
from support.nightly import nightly_but
from support.wob import HASTY_SEED, RUNTIME, TASK, Player

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

SEED = 7

ENTRIES: list[dict[str, Any]] = json.loads(
    subprocess.run([sys.executable, str(RUNTIME / "catalogue.py")], capture_output=True, check=True).stdout
)

# Those whose pages change by themselves, so that no two looks at them are alike.
LIVELY = {
    "chase-circle",
    "click-pie",
    "click-pie-nodelay",
    "drag-cube",
    "hover-shape",
    "moving-items",
    "simon-says",
    "stock-market",
}


TASKS = [entry for entry in ENTRIES if entry["decay"]]
EACH_DAY = TASKS[:: len(TASKS) // 9]


@pytest.mark.parametrize("entry", nightly_but(EACH_DAY, TASKS), ids=lambda entry: entry["id"])
async def test_a_task_is_the_same_for_the_same_seed_and_ends_by_its_own_clock(
    player: Player, entry: dict[str, Any]
) -> None:
    await player.begin(entry["id"], SEED)
    text, outline = player.text, player.outline()
    assert text
    await player.begin(entry["id"], SEED)
    assert player.text == text
    if entry["page"].split("/")[-1].removesuffix(".html") not in LIVELY:
        assert player.outline() == outline
    await player.begin(entry["id"], HASTY_SEED)
    end = await player.end()
    assert (end["reward"], end["terminated"], end["truncated"]) == (-1.0, True, False)


async def test_a_task_is_where_the_clicks_of_old_agents_go(player: Player) -> None:
    await player.begin("wob.mini.ClickButtonNoDecay-v0", SEED)
    assert player.picture == TASK
    await player.begin("wob.flight.AlaskaAuto-v0", SEED)
    assert player.picture[:2] == (0, 0)


async def test_another_task_in_each_episode_is_chosen_by_the_seed(player: Player) -> None:
    texts: list[str] = []
    for seed in (1, 2, 3, 1):
        await player.begin("wob.MiniWorldOfBits-v0", seed)
        texts.append(player.text)
    assert texts[0] == texts[-1]
    assert len(set(texts)) == 3
