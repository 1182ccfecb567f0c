"""The vector's semantics, over real rewarder connections to programs that do what the test says."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pluriverse
import pytest
from msgspec.structs import replace
from pluriverse import steady
from pluriverse.env import connections as connections_module
from pluriverse.env.connections import RemoteConnection
from pluriverse.env.vector import VectorEnv
from pluriverse.errors import (
    ActionError,
    Closed,
    ConfigurationError,
    RemoteFailed,
    RemoteUnavailable,
    ResetNeeded,
)
from pluriverse.rewarder import connection as connection_module
from pluriverse.rewarder.result import PREFIX
from pluriverse.spaces import PEEK_REWARD
from pluriverse_protocol.limits import SEAT_KEPT_S
from pluriverse_protocol.reports import Done, Observation, Ready, Reward, Text
from pluriverse_protocol.steady_clock import SteadyClock
from pluriverse_server.daemon import sessions as sessions_module
from pluriverse_server.remote import environment as environment_module
from support.relay import Relay, relaying
from support.served import PASSWORD, Served, free_port, serving
from support.toy import Process
from support.waiting import DEADLINE_S, eventually

FIRST = "toy.First-v0"

Step = tuple[list[Any], list[float], list[bool], list[dict[str, Any]]]


class Bench:
    def __init__(self, env: VectorEnv, served: list[Served], programs: list[Process], relays: list[Relay]) -> None:
        self.env = env
        self.relays = relays
        self.served = served
        self.programs = programs
        self.episodes = [0] * env.n

    def step(self, *actions: list[Any]) -> Step:
        observation_n, reward_n, done_n, info = self.env.step(list(actions) or [[]] * self.env.n)
        return observation_n, reward_n, done_n, info["n"]

    async def step_until(self, condition: Callable[[Step], object]) -> Step:
        """Step until a step fits; nothing may have been earned by those before."""
        async with asyncio.timeout(DEADLINE_S):
            while not condition(result := self.step()):
                assert not any(result[1]), result
                assert not any(result[2]), result
                await asyncio.sleep(0.002)
            return result

    async def play_out(self) -> tuple[float, Any, dict[str, Any]]:
        """Step to the end of the only one's episode: what was earned, and the last observation and info."""
        earned = 0.0
        async with asyncio.timeout(DEADLINE_S):
            while True:
                (observation,), (reward,), (done,), (info,) = self.step()
                earned += reward
                if done:
                    return earned, observation, info
                await asyncio.sleep(0.002)

    async def begin(self, index: int = 0) -> None:
        """The program takes its reset and is ready, and the agent sees it."""
        self.episodes[index] = (await self.programs[index].begin()).episode
        await self.step_until(lambda step: step[0][index] is not None)

    def link(self, index: int) -> RemoteConnection:
        link = self.env._connections.by_index[index]  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess]
        assert link is not None
        return link

    async def reset(self) -> None:
        assert self.env.reset() == [None] * self.env.n
        for index in range(self.env.n):
            await self.begin(index)

    def report(self, *reports: Reward | Text | Observation | Done, index: int = 0) -> None:
        """Of the episode under way, whichever they name."""
        self.programs[index].report(*(replace(each, episode=self.episodes[index]) for each in reports))


@contextlib.asynccontextmanager
async def bench(
    folder: Path, n: int = 1, env_id: str | None = FIRST, *, relayed: bool = False, **options: Any
) -> AsyncGenerator[Bench]:
    async with contextlib.AsyncExitStack() as stack:
        served: list[Served] = []
        for index in range(n):
            (folder / str(index)).mkdir()
            served.append(await stack.enter_async_context(serving(folder / str(index))))
        programs = [await each.running() for each in served]
        relays = [await stack.enter_async_context(relaying(each.port)) for each in served] if relayed else []
        ports = [each.port for each in relays or served]
        places = ",".join(f"127.0.0.1:{free_port()}+{port}" for port in ports)
        env = VectorEnv(env_id)
        try:
            remotes = f"vnc://{places}?password={PASSWORD}"
            await asyncio.to_thread(lambda: env.configure(remotes=remotes, vision=False, **options))
            yield Bench(env, served, programs, relays)
        finally:
            await asyncio.to_thread(env.close)


async def test_reset_returns_nones_at_once_and_steps_are_masked_until_it_runs(tmp_path: Path) -> None:
    async with bench(tmp_path, 2) as b:
        assert (b.env.n, b.env.metadata["video.frames_per_second"]) == (2, 50.0)
        assert (b.env.action_space.width, b.env.action_space.height) == (320, 200)
        assert b.env.reset() == [None, None]
        observation_n, reward_n, done_n, info_n = b.step([("KeyEvent", "a", True)], [])
        assert (observation_n, reward_n, done_n) == ([None, None], [0.0, 0.0], [False, False])
        for info in info_n:
            assert info["mask.masked.action"] is True
            assert info["mask.masked.observation"] is True
            assert info["stats.reward.count"] == 0
        # One that is ready doesn't wait for the other.
        await b.begin(1)
        observation_n, _, _, info_n = b.step()
        assert observation_n == [None, {"vision": None, "text": []}]
        assert info_n[1]["env_status.env_state"] == "running"
        assert info_n[1]["env_status.episode_id"] == str(b.episodes[1])
        assert "mask.masked.action" not in info_n[1]


async def test_rewards_texts_and_observations_come_with_the_step_after_them(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.reset()
        b.report(Reward(0, 1.5), Text(0, "hello"), Observation(0, [1, 2]))
        (observation,), _, done_n, (info,) = await b.step_until(lambda step: step[1] == [1.5])
        while "observation" not in observation:
            await asyncio.sleep(0.002)
            (later,), *_ = b.step()
            observation = {**later, "text": [*observation["text"], *later["text"]]}
        assert observation == {"vision": None, "text": ["hello"], "observation": [1, 2]}
        assert (done_n, info["stats.reward.count"]) == ([False], 1)
        assert "stats.gauges.diagnostics.lag.rewarder_message" in info
        # A text is told once, a structured observation is the state of things.
        (again,), *_ = b.step()
        assert again == {"vision": None, "text": [], "observation": [1, 2]}


async def test_described_structured_observation_is_in_an_episodes_first_observation(tmp_path: Path) -> None:
    async with bench(tmp_path, env_id="toy.Numbers-v0") as b:
        b.env.reset()
        b.episodes[0] = (await b.programs[0].begin()).episode
        (observation,), *_ = await b.step_until(lambda step: step[3][0].get("env_status.env_state") == "running")
        assert observation is None
        b.report(Observation(0, [1, 2]))
        (observation,), *_ = await b.step_until(lambda step: step[0][0] is not None)
        assert observation == {"vision": None, "text": [], "observation": [1, 2]}


async def test_done_comes_with_the_old_reward_and_the_next_episode_begins_by_itself(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.reset()
        first = b.episodes[0]
        b.report(Reward(0, 1.0), Done(0, 2.0, reason="won"))
        total, observation, info = await b.play_out()
        assert total == 3.0
        assert (info["terminated"], info["truncated"], info["reason"]) == (True, False, "won")
        assert info["env_status.complete.episode_id"] == str(first)
        assert info["env_status.complete.env_state"] == "running"
        assert observation is None
        await b.begin()
        assert b.episodes[0] == first + 1
        assert b.step()[3][0]["env_status.episode_id"] == str(first + 1)


async def test_peek_sees_and_takes_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.reset()
        b.report(Reward(0, 1.0), Done(0, 1.0))
        b.episodes[0] = (await b.programs[0].begin()).episode
        async with asyncio.timeout(DEADLINE_S):
            while (peeked := b.step([PEEK_REWARD]))[3][0]["env_status.peek.episode_id"] != str(b.episodes[0]):
                assert (peeked[1], peeked[2]) == ([0.0], [False])
                await asyncio.sleep(0.002)
        assert peeked[3][0]["peek"] is True
        assert peeked[3][0]["env_status.episode_id"] == str(b.episodes[0] - 1)
        assert b.step()[1:3] == ([2.0], [True])


async def test_seeds_are_used_once_by_index(tmp_path: Path) -> None:
    async with bench(tmp_path, 2) as b:
        first: Any = np.int64(7)
        assert b.env.seed(first) == [7, 8]
        b.env.reset()
        seeds = [(await program.begin()).seed for program in b.programs]
        assert seeds == [7, 8]
        b.env.seed([None, 3])
        b.env.reset()
        assert (await b.programs[1].begin()).seed == 3
        with pytest.raises(ConfigurationError, match="1 seeds for 2"):
            b.env.seed([1])


async def test_options_go_with_every_reset_and_those_of_an_agent_before_with_none(tmp_path: Path) -> None:
    level: Any = np.int64(3)
    async with bench(tmp_path, env_id="toy.Options-v0", env_options={"level": level}) as b:
        for ask in (b.env.reset, lambda: b.env.reset_one(0, seed=5)):
            ask()
            asked = await b.programs[0].begin()
            assert asked.options == {"level": 3, "hard": False}

        def described() -> set[str]:
            said = b.env.described(0)
            return set() if said is None or said.options is None else set(said.options)

        # Until it is heard of, the environment is the one before.
        await eventually(lambda: described() == {"level", "hard"})
        await asyncio.to_thread(b.env.close)
        env = VectorEnv("toy.Options-v0")
        remotes = f"vnc://127.0.0.1:{free_port()}+{b.served[0].port}?password={PASSWORD}"
        await asyncio.to_thread(lambda: env.configure(remotes=remotes, vision=False))
        env.reset()
        assert (await b.programs[0].begin()).options == {"level": 1, "hard": False}
        await asyncio.to_thread(env.close)


async def test_refused_reset_is_raised_by_each_step_in_the_remotes_words(tmp_path: Path) -> None:
    async with bench(tmp_path, env_id="toy.Options-v0", env_options={"levle": 3}) as b:
        b.env.reset()
        for _ in range(2):
            with pytest.raises(ConfigurationError, match=r"refused the reset: .*unknown option 'levle'; known: level"):
                await b.step_until(lambda step: False)


async def test_remotes_that_would_pass_over_options_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment_module, "CAPABILITIES", ("fps", "seed"))
    with pytest.raises(ConfigurationError, match=r"env_options: the remote at .* is too old"):
        async with bench(tmp_path, env_options={"level": 1}):
            pass


async def test_actions_go_over_the_rewarder_where_there_is_no_screen(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        program = b.programs[0]
        b.env.reset()
        reset = await program.request_reset()
        program.report(Ready(reset.episode, joystick=True))
        await b.step_until(lambda step: step[0][0] is not None)
        b.step([("JoystickAxisXEvent", 0.5)])
        request = await program.request()
        assert (getattr(request, "event", None), getattr(request, "value", None)) == ("JoystickAxisXEvent", 0.5)


async def test_bad_action_raises_and_nothing_is_sent(tmp_path: Path) -> None:
    async with bench(tmp_path, 2) as b:
        with pytest.raises(ResetNeeded):
            b.step()
        await b.reset()
        b.report(Reward(0, 1.0), index=0)
        await asyncio.sleep(0.05)
        with pytest.raises(ActionError, match="action 1"):
            b.step([], [("KeyEvent", "no such key", True)])
        await b.step_until(lambda step: step[1] == [1.0, 0.0])


# ── remotes that break ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_remote_that_breaks_is_one_index_and_comes_back(tmp_path: Path) -> None:
    async with bench(tmp_path, 2) as b:
        await b.reset()
        b.report(Reward(0, 4.0))
        link = b.link(0)
        await eventually(lambda: b.served[0].service.status()["episode_reward"] == 4.0)
        # The daemon hangs up on its agent, but goes on: the agent comes back to it.
        agent = b.served[0].service.sessions.agent
        assert agent is not None
        await agent.close("the test cuts the line")
        await eventually(lambda: link.error)
        # Who only looks is told nothing of it.
        _, _, done_n, info_n = b.step([PEEK_REWARD], [PEEK_REWARD])
        assert not any(done_n)
        assert "error" not in info_n[0]
        observation_n, reward_n, done_n, info_n = await b.step_until(lambda step: step[2][0])
        assert (observation_n[0], reward_n, done_n) == (None, [4.0, 0.0], [True, False])
        assert "the test cuts the line" in info_n[0]["error"]
        assert (info_n[0]["terminated"], info_n[0]["truncated"]) == (False, True)
        assert info_n[0]["env_status.complete.episode_id"] == str(b.episodes[0])
        assert observation_n[1] is not None
        assert "error" not in info_n[1]
        _, _, done_n, info_n = b.step()
        assert done_n == [False, False]
        assert "error" not in info_n[0]
        await b.begin(0)


async def test_broken_remote_raises_where_it_is_not_to_be_replaced(tmp_path: Path) -> None:
    async with bench(tmp_path, 2, replace_on_crash=False) as b:
        await b.reset()
        await b.served[1].service.stop("the test has had enough")
        with pytest.raises(RemoteFailed, match=r"remote 1 at .* broke: .*the test has had enough"):
            await b.step_until(lambda step: False)


async def test_remote_that_cannot_be_reached_is_told_at_once_and_leaves_nothing() -> None:
    before = threading.enumerate()
    env = VectorEnv(FIRST)
    with pytest.raises(RemoteUnavailable, match="can't be reached"):
        env.configure(remotes=f"vnc://127.0.0.1:{free_port()}+{free_port()}", vision=False)
    assert threading.enumerate() == before


# ── clocks that are set ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_our_clock_that_is_set_changes_no_lag_and_is_the_one_that_info_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_by = 0.0  # by the loop
    monkeypatch.setattr(steady, "CLOCK", SteadyClock(lambda: time.time() + set_by, time.monotonic))
    lag = PREFIX + "lag.reward"
    async with bench(tmp_path) as b:
        await b.reset()
        await eventually(lambda: b.link(0).rewarder.pings >= 2)
        for set_by in (0.0, 3600.0, -3600.0):
            b.programs[0].report(Reward(b.episodes[0], 1.0, at=time.time()))
            *_, (info,) = await b.step_until(lambda step: step[1] == [1.0])
            assert -1.0 < info[lag][0] <= info[lag][1] < 5.0
            assert abs(info["reward_buffer.local_time"] - (time.time() + set_by)) < 5.0


# ── outages ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def step_once(b: Bench, earned: list[float]) -> dict[str, Any]:
    (observation,), (reward,), (done,), (info,) = b.step()
    assert not done
    assert "error" not in info
    assert observation is not None
    earned.append(reward)
    await asyncio.sleep(0.002)
    return info


def hurry(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """Let the client and the server wait for a fraction of their times."""
    for name in ("SILENCE_S", "PING_S"):
        monkeypatch.setattr(connection_module, name, getattr(connection_module, name) / factor)
    monkeypatch.setattr(connections_module, "MEND_S", connections_module.MEND_S / factor)
    for module in (connections_module, sessions_module):
        monkeypatch.setattr(module, "SEAT_KEPT_S", SEAT_KEPT_S / factor)
    for name in ("FIRST_PAUSE_S", "LONG_PAUSE_S"):
        monkeypatch.setattr(connections_module, name, getattr(connections_module, name) / factor)


async def earn(b: Bench, earned: list[float], seconds: float) -> float:
    """Let the program earn rewards of different sizes while the agent steps; return their sum."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    given = 0.0
    while loop.time() < until:
        reward = loop.time() % 1 // 0.25 + 0.25  # whose sums are exact
        b.report(Reward(0, reward))
        given += reward
        await step_once(b, earned)
    return given


FASTER = 10


@pytest.mark.parametrize(("seconds", "how"), [(1, "drop"), (10, "fall_silent")])
async def test_outage_loses_no_reward_and_ends_no_episode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int, how: str
) -> None:
    hurry(monkeypatch, FASTER)
    async with bench(tmp_path, relayed=True) as b:
        await b.reset()
        earned: list[float] = []
        given = await earn(b, earned, 0.1)
        getattr(b.relays[0], how)()
        given += await earn(b, earned, seconds / FASTER)
        b.relays[0].carry()
        given += await earn(b, earned, 0.1)
        async with asyncio.timeout(DEADLINE_S):
            while sum(earned) < given:
                await step_once(b, earned)
        assert sum(earned) == given
        info = await step_once(b, earned)
        assert info["env_status.episode_id"] == str(b.episodes[0])
        assert b.relays[0].calls < 20  # pauses between attempts grow


async def test_episode_that_ends_in_an_outage_ends_once_with_all_that_it_earned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurry(monkeypatch, FASTER)
    async with bench(tmp_path, relayed=True) as b:
        await b.reset()
        first = b.episodes[0]
        b.relays[0].drop()
        link = b.link(0)
        await eventually(lambda: link.rewarder.lost)
        b.report(Reward(0, 1.0), Done(0, 2.0, reason="won"))
        b.episodes[0] = (await b.programs[0].begin()).episode
        b.report(Reward(0, 4.0))
        b.relays[0].carry()
        rewards, _, info = await b.play_out()
        assert (rewards, info["reason"], info["terminated"]) == (3.0, "won", True)
        assert info["env_status.complete.episode_id"] == str(first)
        assert "error" not in info
        await b.step_until(lambda step: step[1] == [4.0])


async def test_reset_that_is_asked_for_in_an_outage_is_granted_once_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurry(monkeypatch, FASTER)
    async with bench(tmp_path, relayed=True) as b:
        await b.reset()
        before = b.episodes[0]
        b.relays[0].drop()
        link = b.link(0)
        await eventually(lambda: link.rewarder.lost)
        b.env.seed(5)
        b.env.reset()
        b.step()
        b.relays[0].carry()
        reset = await b.programs[0].begin()
        b.episodes[0] = reset.episode
        assert (reset.seed, reset.episode) == (5, before + 1)
        await b.step_until(lambda step: step[0][0] is not None)


async def test_outage_longer_than_seats_are_kept_is_a_break(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch, 100)
    async with bench(tmp_path, relayed=True) as b:
        await b.reset()
        link = b.link(0)
        b.relays[0].drop()
        await eventually(lambda: link.broken)
        assert b.step()[3][0]["env_status.reconnecting"] is True
        _, _, _, (info,) = await b.step_until(lambda step: step[2][0])
        assert "hung up" in info["error"]
        assert info["truncated"] is True
        b.relays[0].carry()
        await b.begin()


async def test_daemon_that_began_anew_ends_the_episode_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch, FASTER)
    (tmp_path / "other").mkdir()
    async with bench(tmp_path, relayed=True) as b, serving(tmp_path / "other") as other:
        await b.reset()
        b.programs[0] = await other.running()
        b.relays[0].drop()
        b.relays[0].target = other.port
        b.relays[0].carry()
        _, _, _, (info,) = await b.step_until(lambda step: step[2][0])
        assert "no longer has this agent's seat" in info["error"]
        await b.begin()


# ── beginning and end ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_closing_leaves_no_thread_and_what_is_closed_says_so(tmp_path: Path) -> None:
    async with bench(tmp_path, 2) as b:
        await b.reset()
        await asyncio.to_thread(b.env.close)
        b.env.close()
        assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("pluriverse")]
        for call in (b.env.reset, b.step, lambda: b.env.wait(0.0), lambda: b.env.configure(remotes=1)):
            with pytest.raises(Closed):
                call()


def test_environment_that_is_not_configured_says_so() -> None:
    env = pluriverse.make(FIRST)
    assert (env.n, repr(env)) == (0, "VectorEnv('toy.First-v0', n=0)")
    with pytest.raises(Closed, match="configure"):
        env.reset()
    env.close()
    with pytest.raises(ConfigurationError, match="name them with remotes"):
        pluriverse.make(FIRST, vision=False)


async def test_wait_returns_when_a_rewarder_says_something(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.reset()
        b.step()
        waiting = asyncio.create_task(asyncio.to_thread(b.env.wait, DEADLINE_S))
        b.report(Reward(0, 1.0))
        assert await waiting
        assert b.step()[1] == [1.0]


# ── what can't be ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_manager_that_fails_with_an_error_of_its_own_fails_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(index: int) -> Any:
        raise KeyError("the fleet's table has no such row")

    async with bench(tmp_path) as b:
        await b.reset()
        monkeypatch.setattr(b.env._connections._manager, "replace", fail)  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess]
        await b.served[0].service.stop("the test has had enough")
        await b.step_until(lambda step: step[2][0])
        with pytest.raises(RemoteFailed, match="no such row"):
            await b.step_until(lambda step: False)
