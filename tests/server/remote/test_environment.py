"""What agents hear of episodes, over the wire, with a real program that does what the test tells it."""

import asyncio
import itertools
import os
import resource
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from pluriverse_protocol.env_spaces import Choice, Spaces, parse
from pluriverse_protocol.reports import (
    Delivered,
    Done,
    Frame,
    Observation,
    Ready,
    Report,
    Reset,
    Reward,
    SlotFrames,
    Text,
    Watched,
)
from pluriverse_protocol.steady_clock import SteadyClock
from pluriverse_server.display import Screen
from pluriverse_server.episode import Output, Send
from pluriverse_server.manifest.runtime import Manifest
from pluriverse_server.remote import environment
from pluriverse_server.remote.environment import PROBES
from support.agent import Agent, Message
from support.served import playing, serving
from support.waiting import eventually


def told(message: Message) -> tuple[Any, ...]:
    """What matters of a message for the order at an episode's end."""
    body, episode_id = message["body"], message["headers"].get("episode_id")
    match message["method"]:
        case "v0.env.describe":
            return ("describe", body["env_state"], episode_id)
        case "v0.env.reward":
            return ("reward", body["reward"], body["done"], episode_id)
        case other:
            return (other, episode_id)


async def hear_told(agent: Agent, count: int) -> list[tuple[Any, ...]]:
    """The next ``count`` messages, heartbeats left out."""
    heard: list[tuple[Any, ...]] = []
    while len(heard) < count:
        message = told(await agent.hear())
        if message[:3] != ("reward", 0.0, False):
            heard.append(message)
    return heard


async def test_end_of_an_episode_is_told_in_the_order_that_agents_rely_on(tmp_path: Path) -> None:
    async with playing(tmp_path) as (_, agent, process):
        await agent.hear_method("v0.env.describe", env_state="running")
        process.report(Reward(1, 1.0), Reward(1, 2.0), Done(1, 4.0, reason="lost a life"), Reward(1, 8.0))
        reset = await process.begin()
        process.report(Reward(reset.episode, 16.0))
        assert await hear_told(agent, 6) == [
            ("reward", 1.0, False, "1"),
            ("reward", 2.0, False, "1"),
            ("reward", 4.0, True, "1"),
            ("describe", "resetting", "2"),
            ("describe", "running", "2"),
            ("reward", 16.0, False, "2"),
        ]
        last = next(message for message in agent.heard if message["body"].get("done"))
        assert last["body"]["terminated"] is True
        assert last["body"]["truncated"] is False
        assert last["body"]["info"]["reason"] == "lost a life"


async def test_reset_passes_environment_seed_and_fps_to_the_program(tmp_path: Path) -> None:
    async with playing(tmp_path) as (_, agent, process):
        await agent.reset("toy.Second-v0", seed=5, fps=12)
        assert await process.request() == Reset(2, "toy.Second-v0", 5, 12.0)
        described = await agent.hear_method("v0.env.describe", env_id="toy.Second-v0")
        assert described["body"]["fps"] == 12.0


async def test_options_are_described_and_stay_in_force_until_a_reset_says_otherwise(tmp_path: Path) -> None:
    env_id, defaults = "toy.Options-v0", {"level": 1, "hard": False}
    async with playing(tmp_path) as (served, agent, process):
        await agent.reset(env_id, options={"level": 3})
        described = await agent.hear_method("v0.env.describe", env_id=env_id)
        assert described["body"]["options"]["level"] == {"type": "integer", "default": 1, "maximum": 9}
        assert "options" in described["body"]["capabilities"]
        asked = await process.begin()
        assert asked.options == {"level": 3, "hard": False}
        process.report(Done(asked.episode))
        assert (await process.begin()).options == {"level": 3, "hard": False}
        for options, expected in (
            (None, {"level": 3, "hard": False}),
            ({"hard": True}, {"level": 1, "hard": True}),
            (dict[str, Any](), defaults),
        ):
            await agent.reset(env_id, leaving=str(served.episode_id), options=options)
            assert (await process.begin()).options == expected
        await agent.reset(env_id, options={"level": 9})
        await process.begin()
        for other, expected in (("toy.Second-v0", {}), (env_id, defaults)):
            await agent.reset(other)
            assert (await process.begin()).options == expected


async def test_options_that_there_are_none_of_are_refused_and_nothing_is_reset(tmp_path: Path) -> None:
    async with playing(tmp_path) as (served, agent, _):
        for env_id in ("toy.Options-v0", "toy.First-v0"):
            reply = await agent.hear_reply(await agent.reset(env_id, options={"levle": 1}))
            assert reply["method"] == "v0.reply.error"
            assert f"{env_id}: unknown option 'levle'" in reply["body"]["message"]
        assert served.episode_id == 1


async def test_what_a_program_knows_at_its_first_frame_comes_with_the_running_description(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.agent() as agent:
        process = await served.toy.process()
        asked = await process.request_reset()
        jump = Spaces((Choice("jump", (ord("z"),)),))
        process.report(Ready(asked.episode, spaces=jump, info={"lives": 3}))
        described = (await agent.hear_method("v0.env.describe", env_state="running"))["body"]
        assert described["info"] == {"lives": 3}
        assert parse(described["spaces"]) == jump
        assert served.service.permitted is not None
        assert served.service.permitted.keys == {ord("z"), *PROBES}
        assert served.vnc_proxy.permitted == served.service.permitted
        async with served.agent(observer=True) as later:
            newcomer = await later.hear_method("v0.env.describe", env_state="running")
            assert parse(newcomer["body"]["spaces"]) == jump
            assert "info" not in newcomer["body"]


async def test_reset_without_an_environment_and_an_episode_begins_another_of_the_present_one(tmp_path: Path) -> None:
    async with playing(tmp_path) as (_, agent, process):
        await agent.reset("toy.Second-v0")
        await process.begin()
        await agent.hear_method("v0.env.describe", env_state="running", env_id="toy.Second-v0")
        for episode, headers in enumerate(({}, {"episode_id": None}, {"episode_id": "1.2"}), 3):
            message_id = await agent.send("v0.env.reset", {"env_id": None, "seed": None}, **headers)
            reply = await agent.hear_reply(message_id)
            assert reply["headers"]["episode_id"] == str(episode)
            assert (await process.request_reset()).env == "toy.Second-v0"
            process.report(Ready(episode))
            await agent.hear_method("v0.env.describe", env_state="running")


async def test_text_and_observations_carry_their_episode(tmp_path: Path) -> None:
    async with playing(tmp_path) as (_, agent, process):
        process.report(Text(1, "press the button"), Observation(1, [0.5, {"deep": None}]), Text(99, "of another"))
        text = await agent.hear_method("v0.env.text")
        observation = await agent.hear_method("v0.env.observation")
        assert (text["body"]["text"], text["headers"]["episode_id"]) == ("press the button", "1")
        assert (observation["body"]["observation"], observation["headers"]["episode_id"]) == (
            [0.5, {"deep": None}],
            "1",
        )
        assert "of another" not in str(agent.heard)


async def test_reward_says_when_its_frame_was_on_the_screen_and_how_many_there_were(tmp_path: Path) -> None:
    async with playing(tmp_path) as (served, agent, process):
        process.report(Frame(1, 600, 7, at=123.25), SlotFrames(1, 25), Reward(1, 1.0, at=123.5))
        body = (await agent.hear_method("v0.env.reward", reward=1.0))["body"]
        assert body["frame_at"] == 123.5
        assert body["info"] == {
            "rewarder.lag.observation.timestamp": 123.5,
            "rewarder.frames": 600,
            "rewarder.late_frames": 7,
        }
        assert b"pluriverse_frames_total 625.0" in served.service.render_metrics()


# ── deaths ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_killed_program_truncates_its_episode_and_the_next_begins(tmp_path: Path) -> None:
    async with playing(tmp_path) as (served, agent, process):
        process.report(Reward(1, 1.0))
        await agent.hear_method("v0.env.reward", reward=1.0)
        os.kill(process.pid, signal.SIGKILL)
        last = await agent.hear_method("v0.env.reward", done=True)
        assert (last["body"]["terminated"], last["body"]["truncated"]) == (False, True)
        assert "SIGKILL" in last["body"]["info"]["reason"]
        assert await hear_told(agent, 1) == [("describe", "resetting", "2")]
        another = await served.toy.process()
        assert another.pid != process.pid
        await another.begin()
        await agent.hear_method("v0.env.describe", env_state="running")


async def test_program_that_freezes_truncates_its_episode(tmp_path: Path) -> None:
    async with playing(tmp_path, toy_options={"frozen_after_s": 0.3}) as (served, agent, process):
        process.report(Frame(1, 1))
        await eventually(lambda: served.service.status()["frames"] == 1)
        os.kill(process.pid, signal.SIGSTOP)
        last = await agent.hear_method("v0.env.reward", done=True)
        assert "froze" in last["body"]["info"]["reason"]
        await (await served.toy.process()).begin()


async def test_program_that_no_descriptors_are_left_for_is_started_once_there_are(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path) as served:
        first = await served.running()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            os.kill(first.pid, signal.SIGKILL)
            await eventually(lambda: caplog.text.count("Too many open files") >= 2)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        process = await served.toy.process()
        assert (await process.begin()).episode == 2
        await eventually(lambda: served.service.status()["env_state"] == "running")
        # Only the death counts.
        assert b'pluriverse_deaths_total{part="program"} 1.0' in served.service.render_metrics()


# ── lockstep ────────────────────────────────────────────────────────────────────────────────────────────────────────

BOTH_CLOCKS = {"clock": '["realtime", "lockstep"]'}


async def test_clocks_are_described_where_there_are_several(tmp_path: Path) -> None:
    async with playing(tmp_path, toy_options=BOTH_CLOCKS) as (served, agent, process):
        body = (await agent.hear())["body"]
        assert (body["clock"], body["clocks"]) == ("realtime", ["realtime", "lockstep"])
        assert (body["frame_time"], body["lockstep"]) == (1 / 50, "exact")
        await agent.reset("toy.First-v0", clock="lockstep", fps=10)
        assert (await process.begin()).clock == "lockstep"
        body = (await agent.hear_method("v0.env.describe", env_state="running", clock="lockstep"))["body"]
        assert (body["clock"], body["frame_time"]) == ("lockstep", 0.1)
        status = served.service.status()
        assert (status["clock"], status["clocks"]) == ("lockstep", ["realtime", "lockstep"])


async def test_lockstep_is_refused_where_there_is_none(tmp_path: Path) -> None:
    async with playing(tmp_path) as (served, agent, _):
        body = (await agent.hear())["body"]
        assert not {"clocks", "frame_time", "lockstep"} & body.keys()
        reply = await agent.hear_reply(await agent.reset("toy.Second-v0", clock="lockstep"))
        assert reply["method"] == "v0.reply.error"
        assert reply["body"]["message"] == "toy.Second-v0 supports real time only"
        assert served.episode_id == 1
        reply = await agent.hear_reply(await agent.reset("toy.First-v0", clock="realtime"))
        assert reply["method"] == "v0.reply.env.reset"


async def test_lockstep_lasts_until_a_reset_does_not_ask_for_it(tmp_path: Path) -> None:
    async with serving(tmp_path, toy_options=BOTH_CLOCKS) as served:
        process = await served.running()
        async with served.agent() as agent:
            await agent.reset("toy.First-v0", clock="lockstep")
            asked = await process.begin()
            assert asked.clock == "lockstep"
            await agent.hear_method("v0.env.describe", env_state="running", clock="lockstep")
            process.report(Done(asked.episode))
            assert (await process.begin()).clock == "lockstep"
            await agent.reset("toy.First-v0", leaving=str(served.episode_id))
            assert (await process.begin()).clock is None
            await agent.reset("toy.First-v0", clock="lockstep")
            assert (await process.begin()).clock == "lockstep"
        # The next agent knows nothing of it.
        async with served.agent() as agent:
            await agent.reset("toy.First-v0")
            assert (await process.begin()).clock is None
            await agent.hear_method("v0.env.describe", env_state="running", clock="realtime")


async def test_program_in_lockstep_is_told_who_watches_as_that_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path, toy_options=BOTH_CLOCKS) as served, served.agent() as agent:
        clients: set[object] = {"somebody"}
        monkeypatch.setattr(served.vnc_proxy, "clients", clients)
        process = await served.running()
        # In real time it draws anyway.
        served.service.watchers_changed()
        await agent.reset("toy.First-v0", clock="lockstep")
        await process.begin()
        assert await process.request() == Watched(True)
        assert not served.service.is_at_rest
        clients.clear()
        for _ in range(3):
            served.service.watchers_changed()
        assert await process.request() == Watched(False)
        assert served.service.is_at_rest
        # Who has gone again before it was told.
        clients.add("somebody")
        served.service.watchers_changed()
        clients.clear()
        await agent.reset("toy.First-v0", leaving=str(served.episode_id))
        assert isinstance(await process.request(), Reset)
        process.report(Ready(served.episode_id))
        await eventually(lambda: not served.service.is_at_rest)


async def test_no_timer_of_the_daemon_ends_an_episode_in_lockstep_nor_says_that_nothing_was_earned(
    tmp_path: Path,
) -> None:
    async with playing(tmp_path, toy_options=BOTH_CLOCKS) as (served, agent, process):
        await agent.reset("toy.Short-v0", clock="lockstep")
        asked = await process.begin()
        assert asked.time_limit_s == 0.3
        described = await agent.hear_method("v0.env.describe", env_state="running", env_id="toy.Short-v0")
        assert described["body"]["time_limit"] == 0.3
        await asyncio.sleep(1.2)
        await agent.assert_alive()
        assert served.episode_id == asked.episode
        last = [each["method"] for each in agent.heard if each["headers"].get("episode_id") == str(asked.episode)][-1]
        assert last == "v0.env.describe"
        await agent.reset("toy.Short-v0")
        assert (await process.begin()).time_limit_s is None
        last = await agent.hear_method("v0.env.reward", done=True)
        while last["headers"]["episode_id"] != "3":
            last = await agent.hear_method("v0.env.reward", done=True)
        assert last["body"]["info"]["reason"] == "time limit"


@pytest.mark.display
async def test_in_lockstep_nothing_is_started_for_an_episode_that_gives_way_to_one_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, screen: Screen
) -> None:
    monkeypatch.setattr(environment, "ASKED_S", 60.0)
    async with playing(tmp_path, toy_options=BOTH_CLOCKS) as (served, agent, process):
        monkeypatch.setattr(Manifest, "has_scraper", True)
        await served.service.take_screen(screen.display, screen.xauthority)
        await agent.reset("toy.Short-v0", clock="lockstep")
        second = await process.begin()
        process.report(Ready(second.episode), Done(second.episode))
        await agent.hear_method("v0.env.reward", done=True)
        await agent.reset("toy.Short-v0", clock="lockstep", seed=7)
        assert (await process.begin()).episode == second.episode + 2
        monkeypatch.setattr(environment, "ASKED_S", 0.0)
        process.report(Ready(second.episode + 2), Done(second.episode + 2))
        # One that nobody asks for begins by itself.
        assert (await process.begin()).episode == served.episode_id == second.episode + 3
        await served.service.leave_screen()


# ── who listens ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_listeners_hear_each_report_before_what_follows_of_it(tmp_path: Path) -> None:
    heard: list[Report | Output] = []
    async with playing(tmp_path) as (served, agent, process):
        served.service.report_listeners.append(heard.append)
        served.service.output_listeners.append(heard.append)
        process.report(Reward(1, 2.0, 5.0))
        await agent.hear_method("v0.env.reward", reward=2.0)
    report, output = heard[:2]
    assert report == Reward(1, 2.0, 5.0)
    assert isinstance(output, Send)


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
async def test_clock_that_is_set_makes_no_episode_long_and_no_reward_late(tmp_path: Path, step_s: float) -> None:
    set_by = 0.0
    async with serving(tmp_path) as served, served.agent() as agent:
        clock = SteadyClock(lambda: time.time() + set_by, time.monotonic)
        served.service._clock = clock  # pyright: ignore[reportPrivateUsage]
        process = await served.running()
        dated = time.time()
        set_by = step_s
        # Drawn before the clock was set, and after it.
        process.report(Reward(1, 1.0, at=dated), Reward(1, 2.0, at=time.time() + set_by))
        await agent.hear_method("v0.env.reward", reward=2.0)
        status = served.service.status()
        assert 0 <= status["reward_lag_ms"] < 60_000
        assert status["episode_seconds"] < 60
        process.report(Done(1))
        await process.begin()
        assert served.service.status()["last_episodes"][0]["seconds"] < 60


async def test_agents_hear_of_a_quiet_environment_at_least_once_a_second(tmp_path: Path) -> None:
    async with playing(tmp_path) as (_, agent, _):
        await agent.hear_method("v0.env.describe", env_state="running")
        sent_at = [(await agent.hear_method("v0.env.reward"))["headers"]["sent_at"] for _ in range(3)]
        gaps = [later - earlier for earlier, later in itertools.pairwise(sent_at)]
        assert all(0 < gap <= 1.0 for gap in gaps), gaps


async def test_sync_environment_is_answered_once_a_step_and_never_in_between(tmp_path: Path) -> None:
    async with playing(tmp_path) as (_, agent, process):
        await agent.reset("toy.Sync-v0")
        await process.begin()
        await agent.hear_method("v0.env.describe", env_id="toy.Sync-v0", env_state="running")
        heard_before = len(agent.heard)
        for reward in (0.0, 1.0, 0.0):
            process.report(Reward(2, reward))
            message = await agent.hear_method("v0.env.reward")
            assert message["body"]["reward"] == reward
            assert await process.request() == Delivered(2, message["headers"]["sent_at"])
        process.report(Done(2, 3.0))
        await agent.hear_method("v0.env.describe", env_state="resetting")
        rewards = [m["body"]["reward"] for m in agent.heard[heard_before:] if m["method"] == "v0.env.reward"]
        assert rewards == [0.0, 1.0, 0.0, 3.0]
