"""Whole scrapers: real processes, a real X server and program, and the daemon's keeper of programs at the other end."""

import contextlib
import os
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest
from pluriverse_protocol.reports import Done, Frame, Readings, Ready, Reward
from support import sessions
from support.leftovers import Leftovers
from support.process_tree import children
from support.scraped import MANIFEST, Scraped, scraping
from support.waiting import eventually

pytestmark = pytest.mark.display

COMMAND = MANIFEST["program"]["command"]


def mode(*words: str) -> dict[str, Any]:
    return {"command": [*COMMAND, *words]}


def programs() -> list[psutil.Process]:
    """The programs that run: what their keepers have started, without what those fork in turn, as to execute a tool."""
    before, running, after = (children(name) for name in ("scraper.keeper", "game.py", "scraper.keeper"))
    # Some end in between, or begin.
    keepers = {process.pid for process in (*before, *after)}
    return [process for process in running if parent(process) in keepers]


def parent(process: psutil.Process) -> int | None:
    with contextlib.suppress(psutil.Error):
        return process.ppid()
    return None


async def assert_truncated(scraped: Scraped, episode: int, reason: str) -> None:
    done = await scraped.until(Done, lambda done: done.episode == episode)
    assert (done.terminated, done.truncated) == (False, True)
    assert reason in done.reason


# ── episodes ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_each_point_on_the_screen_is_a_reward_and_the_end_is_told(tmp_path: Path) -> None:
    leftovers = Leftovers()
    async with scraping(tmp_path) as scraped:
        episode = await scraped.ready()
        for points in range(1, 6):
            await scraped.press("Right")
            await eventually(lambda points=points: scraped.earned(episode) == points)
        # With the time of what was seen.
        first = next(report for report in scraped.said(Readings) if report.readings.get("score", {}).get("raw") == 0.05)
        assert (first.episode, first.readings["score"]["state"]) == (episode, "unsettled")
        assert first.at == scraped.said(Reward)[0].at
        await scraped.until(Readings, lambda report: set(report.readings) == set(MANIFEST["sources"]))
        await scraped.until(Frame, lambda frame: frame.frames > 20)
        assert all(before.frames <= after.frames for before, after in pairwise(scraped.said(Frame)))
        await scraped.press("Right", "x")
        done = await scraped.until(Done)
        assert (done.terminated, done.truncated, done.reason) == (True, False, "lost")
        assert scraped.earned(episode) == 6
    leftovers.assert_none()


async def test_restart_begins_each_episode_with_a_fresh_home_and_nothing_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in sessions.VARIABLES.items():
        monkeypatch.setenv(name, value)
    runtime = {"lang": "fr_FR.UTF-8", "tz": "Asia/Tokyo"}
    start = [{"restore": "game.py", "to": "saves/copy"}, *MANIFEST["reset"]["start"]]
    changed = {"runtime": runtime, "program": {"env": {"GDK_SCALE": "1"}}, "reset": {"start": start}}
    async with scraping(tmp_path, **changed) as scraped:
        await scraped.ready()
        [before] = scraped.homes()
        assert (before / "settings").read_text() == "easy"
        assert (before / "saves" / "copy").read_text() == (tmp_path / "runtime" / "game.py").read_text()
        await scraped.press("Right", "Right")
        again = await scraped.ready()
        [after] = scraped.homes()
        assert after != before
        assert (after / "starts").read_text() == "started\n"
        await scraped.press("Right")
        await eventually(lambda: scraped.earned(again) == 1)
        [program] = programs()
        told = program.environ()
    assert (told["LANG"], told["TZ"], told["GDK_SCALE"], told["HOME"]) == ("fr_FR.UTF-8", "Asia/Tokyo", "1", str(after))
    assert told["DBUS_SESSION_BUS_ADDRESS"] == f"unix:path={after}/.run/bus"
    assert not told.keys() & (sessions.VARIABLES.keys() - {"LANG", "TZ", "GDK_SCALE", "DBUS_SESSION_BUS_ADDRESS"})


async def test_keys_lead_the_running_program_to_the_next_episode(tmp_path: Path) -> None:
    steps = [{"keys": ["Return"], "until": "playing > 0.9 and score == 0", "every_s": 0.2}]
    async with scraping(tmp_path, reset={"by": "keys", "start": [], "steps": steps}) as scraped:
        await scraped.ready()
        await scraped.press("Right", "Right", "Right", "x")
        await scraped.until(Done)
        again = await scraped.ready()
        assert (scraped.homes()[0] / "starts").read_text() == "started\n"
        await scraped.press("Right")
        await eventually(lambda: scraped.earned(again) == 1)


async def test_where_keys_fail_the_program_is_started_anew(tmp_path: Path) -> None:
    # Return does nothing while it plays.
    steps = [{"keys": ["Return"], "until": "playing > 0.9 and score == 0", "timeout_s": 0.5}]
    async with scraping(tmp_path, reset={"by": "keys", "start": [], "steps": steps}) as scraped:
        first = await scraped.ready()
        [before] = scraped.homes()
        await scraped.press("Right")
        await eventually(lambda: scraped.earned(first) == 1)
        await scraped.ready()
        assert scraped.homes() != [before]


async def test_program_that_takes_its_time_to_end_is_never_run_beside_the_next(tmp_path: Path) -> None:
    async with scraping(tmp_path, program=mode("deaf")) as scraped:
        await scraped.ready()
        counts: list[int] = []

        def is_ready() -> bool:
            counts.append(len(programs()))
            return bool(scraped.said(Ready, lambda ready: ready.episode == episode))

        # The second request comes while the program of before is being ended for the first.
        scraped.begin()
        episode = scraped.begin()
        await eventually(is_ready)
        assert max(counts) == 1


async def test_what_was_written_before_an_episode_is_not_read_in_it(tmp_path: Path) -> None:
    sources = {
        **MANIFEST["sources"],
        "old": {"from": "log", "pattern": "^old"},
        "scored": {"from": "log", "pattern": "^score"},
    }
    rewards = [{"source": "old", "give": "event"}, {"source": "scored", "give": "event", "scale": 0.5}]
    async with scraping(tmp_path, sources=sources, rewards=rewards, program=mode("chatty")) as scraped:
        episode = await scraped.ready()
        await scraped.press("Right")
        await eventually(lambda: scraped.earned(episode))
        assert scraped.earned(episode) == 0.5


# ── programs that end ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_program_that_ends_truncates_its_episode(tmp_path: Path) -> None:
    async with scraping(tmp_path) as scraped:
        episode = await scraped.ready()
        await scraped.press("q")
        await assert_truncated(scraped, episode, "the program ended: exit status 7")
        await scraped.ready()


async def test_exit_that_a_condition_names_is_an_outcome(tmp_path: Path) -> None:
    sources = {**MANIFEST["sources"], "exit": {"from": "process", "read": "exit"}}
    async with scraping(tmp_path, sources=sources, episode={"done": {"given up": "exit == 7"}}) as scraped:
        await scraped.ready()
        await scraped.press("q")
        done = await scraped.until(Done)
        assert (done.terminated, done.reason) == (True, "given up")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"program": mode("die")}, "the program ended before its episode began: exit status 1"),
        ({"program": {"command": ["no-such-game"]}}, "no-such-game"),
        ({"program": {**mode("hide"), "ready": {"timeout_s": 0.5}}}, "no window on the screen after 0.5 s"),
        (
            {"reset": {"start": [{"click": [5, 5], "until": "playing > 2", "timeout_s": 0.3}]}},
            "step 1 (click [5, 5]): 'playing > 2' did not become true within 0.3 s: playing is 0",
        ),
    ],
    ids=["dies", "isn't there", "no window", "step fails"],
)
async def test_program_that_does_not_begin_is_why_the_scraper_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, changed: dict[str, Any], reason: str
) -> None:
    async with scraping(tmp_path, **changed) as scraped:
        scraped.begin()
        lost = await scraped.lost()
        assert reason in lost.reason
        assert lost.cause == "process"
        # What it printed comes by another way than the reason.
        if "exit status 1" in reason:
            await eventually(lambda: "dying at once\n" in caplog.text)


# ── programs that do harm ───────────────────────────────────────────────────────────────────────────────────────────


async def test_program_over_its_limits_truncates_its_episode_and_leaves_nothing(tmp_path: Path) -> None:
    leftovers = Leftovers()
    async with scraping(tmp_path, program={"limits": {"processes": 20}}) as scraped:
        episode = await scraped.ready()
        await scraped.press("b")
        await assert_truncated(scraped, episode, "the program started more than 20 processes")
        await eventually(lambda: not children("game.py"))
        await scraped.ready()
        assert not scraped.losses
    leftovers.assert_none()


async def test_program_that_kills_its_keeper_ends_the_scraper_and_itself(tmp_path: Path) -> None:
    async with scraping(tmp_path) as scraped:
        await scraped.ready()
        await scraped.press("k")
        assert "killed its supervisor" in (await scraped.lost()).reason
        await eventually(lambda: not children("game.py"))


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
async def test_program_ends_with_a_scraper_that_is_ended(tmp_path: Path, signum: signal.Signals) -> None:
    async with scraping(tmp_path, program=mode("orphan")) as scraped:
        await scraped.ready()
        [home] = scraped.homes()
        assert scraped.program.pid is not None
        # What the scraper leaves behind goes to whoever has adopted it, and is told by its working directory.
        game = [child.pid for child in children("game.py")]
        os.kill(scraped.program.pid, signum)
        await eventually(lambda: not any(map(psutil.pid_exists, game)) and not home.exists())
        for left in (tmp_path / "private").glob("program/*/Xauthority"):
            left.unlink()
            left.parent.rmdir()


# ── warm spares ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_spare_that_is_ready_is_shown_at_once(tmp_path: Path) -> None:
    leftovers = Leftovers()
    async with scraping(tmp_path, reset={"spares": 1}) as scraped:
        first = await scraped.ready()
        await scraped.press("Right")
        await eventually(lambda: scraped.earned(first) == 1)
        await eventually(lambda: len(scraped.homes()) == 2)
        spare = max(scraped.homes(), key=lambda home: home.stat().st_ctime)
        await eventually((spare / "starts").exists)
        second = await scraped.ready()
        # The keys of the screen now go to what was the spare, which has scored nothing before.
        await scraped.press("Right", "Right")
        await eventually(lambda: scraped.earned(second) == 2)
        await scraped.press("x")
        await scraped.until(Done, lambda done: done.episode == second)
        assert (scraped.earned(first), scraped.earned(second)) == (1, 2)
        await eventually(lambda: spare in scraped.homes() and len(scraped.homes()) == 2)
    leftovers.assert_none()


async def test_spare_that_has_ended_is_never_shown(tmp_path: Path) -> None:
    async with scraping(tmp_path, reset={"spares": 1}) as scraped:
        await scraped.ready()
        [shown] = [home for home in scraped.homes() if (home / "played").exists()]
        await eventually(lambda: len(scraped.homes()) == 2)
        [spare] = set(scraped.homes()) - {shown}
        await eventually((spare / "played").exists)
        children("game.py")[-1].kill()
        await eventually(lambda: not spare.exists())
        episode = await scraped.ready()
        await scraped.press("Right")
        await eventually(lambda: scraped.earned(episode) == 1)
