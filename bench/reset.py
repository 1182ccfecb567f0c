"""From ``v0.env.reset`` to the description that says running: for a game that was played before, and for a new one."""

from __future__ import annotations

import asyncio
import time
from itertools import cycle, islice
from typing import Any, Final

from pluriverse.adapters.computer import Computer
from remote import PONG, our_pong, playing_agent
from report import Effort, Figures, Line, Measurement, Target, percentile
from support.agent import Agent

# A game is young when it is reset again; what was queued for its first frames is over by then.
PAUSE_S: Final = 0.1

# In gym-core's names, and in Gymnasium's.
NEW_GAMES: Final = (
    "Breakout", "SpaceInvaders", "Seaquest", "Qbert", "BeamRider", "Enduro", "Freeway", "Asteroids", "MsPacman",
    "Boxing", "Tennis", "Alien", "Amidar", "Assault", "Asterix", "Atlantis", "BankHeist", "Berzerk", "Bowling",
    "Centipede",
)  # fmt: skip


# Tasks of one remote, that begin in turn; programs begin by worlds.
PAGES: Final = tuple(f"wob.mini.{name}-v0" for name in ("ClickTest", "ClickButton", "EnterText", "ClickDialog"))
PROGRAMS: Final = tuple(f"desktop.{name}-v0" for name in ("KoboDeluxe", "Powermanga", "Vitetris"))


def run(effort: Effort) -> Figures:
    """Milliseconds."""
    games = NEW_GAMES[: effort.of(20, 6)]
    played, new = asyncio.run(_reset_ours(effort.of(60, 15), games))
    plain_played, plain_new = _reset_plain(effort.of(60, 15), games)
    figures: Figures = {}
    for key, ids in (("page", PAGES), ("program", PROGRAMS)):
        times = _begin_others(ids, effort.of(60, 12))
        figures |= {f"{key}_p50": percentile(times, 50), f"{key}_p95": percentile(times, 95)}
    for key, times in (("played", played), ("new", new), ("plain_played", plain_played), ("plain_new", plain_new)):
        figures[f"{key}_p50"] = percentile(times, 50)
        figures[f"{key}_p90"] = percentile(times, 90)
    return figures


async def _reset_ours(count: int, games: tuple[str, ...]) -> tuple[list[float], list[float]]:
    with our_pong() as playing:
        async with playing_agent(playing) as agent:
            played = [await reset_once(agent, PONG) for _ in range(count)]
            new = [await reset_once(agent, f"gym-core.{game}Deterministic-v3") for game in games]
    return played, new


async def reset_once(agent: Agent, env_id: str) -> float:
    """Milliseconds from asking for an episode until it runs."""
    await asyncio.sleep(PAUSE_S)
    began = time.perf_counter()
    message_id = await agent.reset(env_id, leaving=_episode_of_last_description(agent))
    episode_id = (await agent.hear_reply(message_id))["headers"]["episode_id"]
    if not _is_running(agent.heard, episode_id):
        await agent.hear_until(lambda message: _is_running([message], episode_id))
    return 1000 * (time.perf_counter() - began)


def _is_running(messages: list[dict[str, Any]], episode_id: str) -> bool:
    return any(
        message["method"] == "v0.env.describe"
        and message["body"]["env_state"] == "running"
        and message["headers"]["episode_id"] == episode_id
        for message in messages
    )


def _episode_of_last_description(agent: Agent) -> str:
    last = next(message for message in reversed(agent.heard) if message["method"] == "v0.env.describe")
    return last["headers"]["episode_id"]


def _begin_others(ids: tuple[str, ...], count: int) -> list[float]:
    """From asking a remote that runs for another environment until its first picture is there, in lockstep."""
    with Computer(ids[0], "local:1", clock="lockstep") as computer:
        for env_id in ids * 2:
            computer.begin(1, env=env_id)
        return [_timed(lambda env_id=env_id: computer.begin(1, env=env_id)) for env_id in islice(cycle(ids), count)]


def _reset_plain(count: int, games: tuple[str, ...]) -> tuple[list[float], list[float]]:
    """Gymnasium alone, in this process: no screen, no message, no other process."""
    import ale_py
    import gymnasium

    gymnasium.register_envs(ale_py)
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    pong: Any = gymnasium.make("ALE/Pong-v5", frameskip=4, repeat_action_probability=0.0)
    pong.reset(seed=1)
    played = [_timed(pong.reset) for _ in range(count)]
    pong.close()
    new = [_timed(lambda game=game: _make_and_reset(gymnasium, game)) for game in games]
    return played, new


def _make_and_reset(gymnasium: Any, game: str) -> None:
    env = gymnasium.make(f"ALE/{game}-v5", frameskip=4, repeat_action_probability=0.0)
    env.reset(seed=1)
    env.close()


def _timed(action: Any) -> float:
    began = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - began)


RESET: Final = "Gymnasium's reset alone"
MAKE: Final = "Gymnasium's make and reset alone"

MEASUREMENT: Final = Measurement(
    "reset",
    (
        Line("reset of an Atari game → running, p50", "ms", "played_p50", Target(50), "plain_played_p50", RESET),
        Line("reset of an Atari game → running, p90", "ms", "played_p90", None, "plain_played_p90", RESET),
        Line("reset to a game not played yet → running, p50", "ms", "new_p50", None, "plain_new_p50", MAKE),
        Line("reset to a game not played yet → running, p90", "ms", "new_p90", None, "plain_new_p90", MAKE),
        Line("another page begins in a running remote, p50", "ms", "page_p50", Target(50)),
        Line("another page begins in a running remote, p95", "ms", "page_p95", Target(100)),
        Line("another program begins in a running remote, p50", "ms", "program_p50", Target(30)),
        Line("another program begins in a running remote, p95", "ms", "program_p95", Target(60)),
    ),
    run,
)
