"""Scraped programs in lockstep, with the daemon's and the agent's ends of a step channel."""

import asyncio
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import psutil
import pytest
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.reports import Done, Frame, Readings, Ready, Reset, Reward
from pluriverse_protocol.step_channel import View
from pluriverse_server.home import HELD_HOME
from pluriverse_server.lockstep import Advance
from pluriverse_server.manifest.spaces import keysym
from pluriverse_server.scraper.lockstep import HANGS, ScrapedSteps
from pluriverse_server.scraper.pace import SteppedPace
from pluriverse_server.scraper.stepped import Stepped
from support.scraped import HEIGHT, MANIFEST, WIDTH
from support.scraped_steps import begun, game_of, key, stepping
from support.waiting import eventually

pytestmark = pytest.mark.display

FPS = 60


async def test_steps_earn_what_their_frames_do_and_the_same_seed_gives_the_same_pixels(tmp_path: Path) -> None:
    pictures: list[list[bytes]] = []
    rewards: list[list[float]] = []
    rows: list[set[bool]] = []
    async with stepping(tmp_path) as scraped:
        for seed, view in ((7, None), (7, View(changes=True)), (8, None)):
            # No more than what differs comes, or all.
            agent = await begun(scraped, seed, view)
            arrived = await agent.first()
            rows.append(set())
            assert arrived.pixels.shape == (HEIGHT, WIDTH, 3)
            seen, earned = [arrived.pixels.tobytes()], list[float]()
            for number in range(30):
                reply, pixels = await agent.play(*(key("Right") if number == 10 else ()))
                seen.append(pixels.tobytes())
                earned.append(reply.reward)
                rows[-1].add(reply.rows is None)
            pictures.append(seen)
            rewards.append(earned)
    assert rows == [{True}, {False}, {True}]
    # The game looks for keys each hundredth of a second, and a score counts once it was read twice.
    assert sum(rewards[0][10:13]) == pytest.approx(1)
    assert rewards[0] == rewards[1] == rewards[2]
    assert len(set(pictures[0])) > 25
    assert pictures[0] == pictures[1]
    assert pictures[0] != pictures[2]


async def test_an_episode_is_the_same_as_the_first_of_its_remote_and_as_a_later_one_of_another(tmp_path: Path) -> None:
    pictures: list[list[bytes]] = []
    seen: list[bytes] = []
    for number, seeds in enumerate(((3, 7), (7,))):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with stepping(folder) as scraped:
            game = folder / "runtime" / "game.py"
            # It draws how many events of any kind there were: a fresh X server tells of its keyboard at the first key.
            game.write_text(
                game.read_text().replace("event = display.next_event()", "event = display.next_event(); score += 1")
            )
            for seed in seeds:
                agent = await begun(scraped, seed=seed)
                first = (await agent.first()).pixels.tobytes()
                seen = [first, *[(await agent.play(*key("Right")))[1].tobytes() for _ in range(10)]]
            pictures.append(seen)
    assert pictures[0] == pictures[1]
    assert len(set(pictures[0])) == 11


async def test_program_gets_a_session_bus_in_its_own_time(tmp_path: Path) -> None:
    async with stepping(tmp_path, program={"clock": ["realtime", "lockstep"], "dbus": True}) as scraped:
        game = tmp_path / "runtime" / "game.py"
        asks = "from jeepney.io.blocking import open_dbus_connection\nnames = [open_dbus_connection().unique_name]\n"
        game.write_text(asks + game.read_text().replace("score += name == 0xFF53", "score += len(names)"))
        agent = await begun(scraped)
        first = (await agent.first()).pixels
        moment = await agent.snapshot()
        assert moment is not None
        _, pressed = await agent.play(*key("Right"))
        assert not np.array_equal(pressed, first)
        assert np.array_equal(await agent.restore(moment), first)
        _, again = await agent.play(*key("Right"))
        assert np.array_equal(again, pressed)


async def test_what_an_agent_has_left_shows_in_no_picture_of_the_next_episode(tmp_path: Path) -> None:
    pictures: list[list[bytes]] = []
    async with stepping(tmp_path) as scraped:
        game = tmp_path / "runtime" / "game.py"
        # It draws which modifiers are down, and where the pointer is.
        game.write_text(
            game.read_text().replace(
                "score += name == 0xFF53", "fill(event.state % 256, 150 + event.root_x % 16, 9, 9, 0xFFFFFF)"
            )
        )
        agent = await begun(scraped, seed=1)
        for episode in range(2):
            if episode:
                # The one before leaves all that it can.
                await agent.play(*key("Caps_Lock"), *key("Num_Lock"), KeyEvent(keysym("Shift_L"), True))
                await agent.play(PointerEvent(3, 4, 1))
                await scraped.ready(seed=1, clock="lockstep")
            seen: list[bytes] = []
            await agent.first()
            for number in range(12):
                events = {2: key("a"), 5: key("b"), 8: key("Left")}.get(number, ())
                _, pixels = await agent.play(*events)
                seen.append(pixels[140:].tobytes())
            pictures.append(seen)
    assert pictures[0] == pictures[1]
    assert len(set(pictures[0])) > 1


async def test_key_that_is_held_repeats_by_the_programs_time_also_from_a_snapshot_on(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await begun(scraped)
        await agent.first()
        right, shift = (KeyEvent(keysym(name), True) for name in ("Right", "Shift_L"))

        async def earned(*events: KeyEvent, frames: int) -> float:
            """Return the reward of these frames after ``events``, and of what is seen once all keys are up."""
            first, _ = await agent.play(*events, frames=frames)
            second, _ = await agent.play(KeyEvent(right.keysym, False), KeyEvent(shift.keysym, False), frames=10)
            return first.reward + second.reward

        reply, _ = await agent.play(right, frames=FPS // 2)
        assert reply.reward == pytest.approx(1)
        moment = await agent.snapshot()
        assert moment is not None
        # Of a second, one press after 0.66 s, and one each 0.04 s from then on.
        assert await earned(frames=FPS // 2) == pytest.approx(9)
        await agent.restore(moment)
        # A modifier ends nothing, unlike another key, even when that is up again.
        assert await earned(shift, frames=FPS // 2) == pytest.approx(9)
        await agent.restore(moment)
        assert await earned(*key("a"), frames=FPS // 2) == pytest.approx(0)


async def test_end_of_an_episode_comes_with_its_step_and_the_next_one_is_played(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await begun(scraped)
        await agent.first()
        reply, _ = await agent.play(*key("x"), frames=5)
        assert (reply.done, reply.terminated, reply.truncated) == (True, True, False)
        assert reply.info["reason"] == "lost"
        agent.step(9)
        assert "over" in await asyncio.to_thread(agent.hear_error)
        await scraped.ready(clock="lockstep")
        await agent.first()
        assert not (await agent.play())[0].done


async def test_time_limit_counts_the_programs_time(tmp_path: Path) -> None:
    async with stepping(tmp_path, time_limit={"seconds": 0.5}) as scraped:
        agent = await begun(scraped)
        await agent.first()
        await asyncio.sleep(0.7)
        reply, _ = await agent.play(frames=29)
        assert not reply.done
        # The daemon knows from these that the agent isn't idle.
        assert (await scraped.until(Frame)).frames
        reply, _ = await agent.play(frames=2)
        assert reply.truncated
        assert reply.info["reason"] == "time limit"


@pytest.mark.parametrize("leaves", ["", "os.fork() or time.sleep(600)"])
async def test_program_that_ends_in_a_step_truncates_the_episode_with_its_status_and_last_words(
    tmp_path: Path, leaves: str
) -> None:
    async with stepping(tmp_path) as scraped:
        game = tmp_path / "runtime" / "game.py"
        game.write_text(
            game.read_text().replace('print("that was all")', f'print("that was all", flush=True); {leaves}')
        )
        agent = await begun(scraped)
        await agent.first()
        reply, _ = await agent.play(*key("q"), frames=5)
        assert reply.truncated
        assert reply.info["reason"] == "the program ended: exit status 7; it printed last: that was all"


async def test_program_that_forks_without_end_in_a_step_truncates_the_episode_and_the_next_is_fine(
    tmp_path: Path,
) -> None:
    program = {"clock": ["realtime", "lockstep"], "limits": {"processes": 20}}
    async with stepping(tmp_path, program=program) as scraped:
        agent = await begun(scraped)
        await agent.first()
        reply, _ = await agent.play(*key("f"))
        while not reply.done:
            reply, _ = await agent.play()
        assert reply.truncated
        assert reply.info["reason"] == "the program started more than 20 processes"
        await scraped.ready(clock="lockstep")
        await agent.first()
        reply, _ = await agent.play()
        assert not reply.done, reply.info


@pytest.mark.nightly
async def test_episode_of_a_program_that_never_waits_is_truncated_with_the_reason(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await begun(scraped)
        await agent.first()
        reply, _ = await agent.play(*key("y"), frames=100)
        assert reply.truncated
        assert reply.info["reason"] == "the program computed for 30 s without waiting"
        await scraped.ready(clock="lockstep")
        await agent.first()
        assert not (await agent.play())[0].done


def test_step_in_which_a_program_never_waits_cuts_its_episode() -> None:
    clock, play = Mock(elapsed=0.0), Mock()
    play.pressed.return_value = ()
    clock.advance.return_value = Advance.LATE
    play.pace = SteppedPace(60.0, clock)
    play.rules.cut.return_value = [Done(1, truncated=True, reason=HANGS)]
    outcome = ScrapedSteps(play, Reset(1, "a", 7, 60.0), Mock()).play((), 2)
    assert (outcome.truncated, outcome.reason) == (True, HANGS)
    play.break_off.assert_called_once_with(HANGS)


def test_what_was_found_of_a_program_before_it_went_back_is_not_held_against_it() -> None:
    play = Mock(first_process=8)
    Stepped.exceeded(play, "too much", 7)
    play.break_off.assert_not_called()
    Stepped.exceeded(play, "too much", 8)
    play.break_off.assert_called_once_with("too much")


async def test_home_has_the_same_name_each_time_where_addresses_are_to_be_the_same(tmp_path: Path) -> None:
    command = ["sh", "-c", f"(cd; pwd -P >where); exec {sys.executable} game.py"]
    program = {"clock": ["realtime", "lockstep"], "command": command, "same_addresses": True}
    async with stepping(tmp_path, program=program) as scraped:
        await begun(scraped)
        game = game_of(scraped)
        assert game.environ()["HOME"] == str(HELD_HOME)
        where = Path(f"/proc/{game.pid}/fd/{HELD_HOME.name}/where")
        assert await asyncio.to_thread(where.read_text) == f"{HELD_HOME}\n"


async def test_program_without_its_clock_is_frozen_between_steps_and_says_so(tmp_path: Path) -> None:
    command = ["env", "-u", "LD_PRELOAD", sys.executable, "game.py"]
    program = {"clock": ["realtime", "lockstep"], "command": command, "home": "home"}
    async with stepping(tmp_path, program=program) as scraped:
        agent = await begun(scraped)
        assert (await scraped.until(Ready)).info == {"lockstep": "frozen"}
        await agent.first()
        _, before = await agent.play()
        # It does nothing more, but is only stopped on its next turn.
        await eventually(lambda: game_of(scraped).status() == psutil.STATUS_STOPPED)
        _, after = await agent.play(frames=10)
        assert not np.array_equal(before, after)


@pytest.mark.slow
async def test_a_score_that_rolls_is_earned_once_it_has_settled_at_the_same_step_each_time(tmp_path: Path) -> None:
    sources = {**MANIFEST["sources"], "score": {**MANIFEST["sources"]["score"], "settles": "0.2 s"}}
    earned: list[dict[int, float]] = []
    async with stepping(tmp_path, sources=sources) as scraped:
        agent = await begun(scraped)
        for _ in range(2):
            if earned:
                await scraped.ready(clock="lockstep")
            await agent.first()
            replies = [(await agent.play(*(key("Right") if number in (10, 14, 18) else ())))[0] for number in range(40)]
            earned.append({number: reply.reward for number, reply in enumerate(replies) if reply.reward})
            reward = scraped.said(Reward)[-1]
            # An episode begins once its score has settled; the first point is drawn eleven frames later.
            begun_at = next(said.at for said in scraped.said(Readings) if _settled(said, reward.episode))
            assert begun_at is not None
            assert reward.at == pytest.approx(begun_at + 11 / 60, abs=1e-3)
    assert list(earned[0].values()) == [pytest.approx(3)]
    # Three points within nine frames, and twelve frames in which nothing changes.
    assert 30 <= next(iter(earned[0])) <= 33
    assert earned[0] == earned[1]


def _settled(said: Readings, episode: int) -> bool:
    return said.episode == episode and said.readings.get("score", {}).get("value") == 0
