"""Plays a recorded run of lockstep again, and compares every frame, reward and text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from pluriverse.adapters.core import Core
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.adapters.run_log import Answer, RunEpisode, answer_of, read_run
from pluriverse.errors import printable
from pluriverse.remotes import RemoteManager

# How often to report progress.
REPORT_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of playing a run again: how much was the same, and the first difference, if there is one.

    ``pictures``: how many different ones there were. With few, that all are the same shows little.
    """

    episodes: int
    steps: int
    pictures: int
    difference: str = ""


def verify(path: Path, remotes: int | str | RemoteManager, report: Callable[[str], None]) -> Verified:
    """Play a run again on one remote, to its end or the first step that differs; ``report`` gets the progress.

    Raises:
        ConfigurationError: the file is no run, or as ``Core``.
        RemoteUnavailable: as ``Core``.
        RemoteFailed: no episode began.
    """
    header, episodes = read_run(path)
    total = sum(len(episode.steps) for episode in episodes)
    # JSON has lists for tuples.
    pictures = PictureOptions(cast("Any", header.crop), cast("Any", header.size), header.grey)
    with Core(
        header.env_id,
        remotes,
        clock="lockstep",
        actions="events",
        pictures=pictures,
        frame_skip=header.frame_skip,
        fps=header.fps,
        env_options=header.options,
    ) as core:
        version = core.described.runtime_version
        if version != header.runtime_version:
            report(printable(f"recorded with {header.runtime_version} of the runtime, replayed with {version}"))
        pictures = set[str]()
        done, began = 0, time.monotonic()
        reported = began
        for number, episode in enumerate(episodes):
            for step, (expected, answer) in enumerate(_answers(core, episode)):
                done += step > 0
                difference = _difference(expected, answer)
                if difference:
                    where = f"episode {number + 1} of {len(episodes)} (seed {episode.seed}), "
                    where += f"step {step} of {len(episode.steps)}" if step else "the first frame"
                    return Verified(number, done, len(pictures), f"{where}: {difference}")
                pictures.add(expected.frame)
                now = time.monotonic()
                if now >= reported + REPORT_S:
                    reported = now
                    report(f"{done} of {total} steps, {done / (now - began):.0f} a second")
    return Verified(len(episodes), total, len(pictures))


def _answers(core: Core, episode: RunEpisode) -> Iterator[tuple[Answer, Answer | None]]:
    """Yield each answer of an episode as it was, and as it is; None: the remote was lost."""
    core.reset(0, episode.seed)
    core.receive(1)
    for events in episode.again:
        if not _play(core, events):
            break
    yield episode.first, _answer(core)
    for events, expected in episode.steps:
        yield expected, _answer(core) if _play(core, events) else None


def _play(core: Core, events: Any) -> bool:
    core.send({0: events})
    core.receive(1)
    return not core.result(0).lost


def _answer(core: Core) -> Answer | None:
    return None if core.result(0).lost else answer_of(core.result(0))


def _difference(expected: Answer, answer: Answer | None) -> str:
    """Return in words what differs, empty if nothing does."""
    if answer is None:
        return "the remote was lost"
    if answer.reward != expected.reward:
        return f"the reward is {answer.reward:g}, and was {expected.reward:g}"
    if answer.end != expected.end:
        return f"the episode {_how(answer.end)}, and then {_how(expected.end)}"
    if answer.frame != expected.frame:
        return "the pixels differ"
    if answer.said != expected.said:
        return "the text, the observation or the info differs"
    return ""


def _how(end: str) -> str:
    return f"is {end}" if end else "goes on"
