"""The games of skill: each is played in a whole remote, to a reward or an end where that comes soon."""

from __future__ import annotations

import pytest
from pluriverse_server.manifest.spaces import keysym
from support.free_games import Played, playing
from support.waiting import DEADLINE_S, eventually

# What is waited for below, and for the start, may take longer together than a test may otherwise.
pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(360), pytest.mark.nightly]

# Ten shots take six seconds, and a rally as long as the computer and chance like it.
LONG_S = 60.0


async def plays_on_and_is_reset(game: Played, **beginning: float) -> None:
    """It draws, by itself and when keys are pressed, and each episode begins with these readings."""
    for _ in range(2):
        await eventually(lambda: all(game.reading(name) == value for name, value in beginning.items()))
        await game.changes()
        await game.reset()
    await eventually(lambda: all(game.reading(name) == value for name, value in beginning.items()))


async def test_bubbles_that_are_all_shot_upwards_come_down() -> None:
    async with playing("FrozenBubble") as game:
        while not game.remote.status()["last_episodes"]:
            for down in (True, False):
                # Held until it is seen to be, or the game might not have looked at the key in between.
                game.viewer.key(keysym("Up"), down)
                await game.changes()
        last = game.remote.status()["last_episodes"][-1]
        assert last["reason"] == "the bubbles have come down"
        assert last["reward"] == 0 or last["reward"] >= 3
        await game.running()
        await eventually(lambda: game.reading("score") == 0)


async def test_a_point_of_slime_volley_pays_whoever_has_made_it() -> None:
    async with playing("SlimeVolley") as game:
        # The second begins without a score on the screen as well, and pays for its first point all the same.
        for _ in range(2):
            # Who stays where the ball is served keeps it up for ever.
            game.viewer.key(keysym("Left"), True)
            await eventually(lambda: game.remote.status()["episode_reward"] != 0, LONG_S)
            game.viewer.key(keysym("Left"), False)
            score = (game.reading("points") or 0) - (game.reading("against") or 0)
            assert game.remote.status()["episode_reward"] == score in (1, -1)
            await game.reset()


async def test_kobo_deluxe_waits_for_the_first_shot_and_is_swapped_for_its_spare() -> None:
    async with playing("KoboDeluxe") as game:
        await game.press("Control_L")
        await plays_on_and_is_reset(game, score=0, ships=5, stage=1)


async def test_chromium_bsu_plays_on_by_itself_and_is_reset_through_its_menu() -> None:
    async with playing("ChromiumBsu") as game:
        await plays_on_and_is_reset(game, score=0)
        await eventually(lambda: game.reading("menu") is False, DEADLINE_S)


async def test_powermanga_pays_for_each_second_and_takes_what_hits_take() -> None:
    async with playing("Powermanga") as game:
        await plays_on_and_is_reset(game, energy=0.2)
        assert (await game.reward())["reward"] > 0
