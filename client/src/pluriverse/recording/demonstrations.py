"""The episodes of a recording, step by step: observations, the person's actions, and rewards."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol import env_spaces
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.recordings import Input, Record, Said

from pluriverse.adapters.actions import ActionMap, Kind
from pluriverse.adapters.pictures import PictureOptions, Pictures
from pluriverse.errors import ConfigurationError

from .inputs import Action, ActionReader, HeldInputs, action_reader
from .recorded_screen import RecordedScreen

# A dataset's episode is kept in memory until it is written: an hour of small pictures at 10 a second.
MAX_BYTES: Final = 4 * 1024**3


@dataclass(slots=True)
class Demonstration:
    """One episode. ``observations``, uint8 (height, width, 3 or 1) each, are one more than ``actions``."""

    env_id: str
    seed: int
    actions_of: ActionMap
    shape: tuple[int, ...]
    observations: list[NDArray[np.uint8]] = field(default_factory=list[NDArray[np.uint8]])
    actions: list[Action] = field(default_factory=list[Action])
    rewards: list[float] = field(default_factory=list[float])
    terminated: bool = False
    truncated: bool = False
    reason: str = ""


def demonstrations(
    recorded: RecordedScreen, *, fps: float | None, options: PictureOptions, kind: Kind | None
) -> Generator[Demonstration]:
    """Yield the episodes that ran in a recording; the last may be cut short, and is truncated then.

    ``fps`` steps a second, None: the recording's own. ``kind`` None: discrete actions where there are some.
    """
    if recorded.header.regions:
        raise ConfigurationError(
            f"{recorded.path} has whole pictures only occasionally: it was recorded with --keep regions or often; "
            "record a demonstration with --keep all"
        )
    fps = fps or recorded.header.fps
    cutter = _EpisodeCutter(recorded, fps, options, kind)
    for record in recorded.records(fps):
        yield from cutter.take(record)
    yield from cutter.end()


class _EpisodeCutter:
    """Cuts the records into steps of equal length, from an episode's ready to its end."""

    def __init__(self, recorded: RecordedScreen, fps: float, options: PictureOptions, kind: Kind | None) -> None:
        self._recorded = recorded
        self._period = 1 / fps
        self._options = options
        self._kind: Kind | None = kind
        self._begun: dict[str, Any] = {}
        self._episode: Demonstration | None = None
        self._inputs = HeldInputs()
        self._due = 0.0
        self._reward = 0.0
        self._bytes = 0

    def take(self, record: Record) -> Generator[Demonstration]:
        if self._episode is not None:
            while record.at >= self._due:
                self._step(self._episode)
        match record:
            case Input(event=event):
                self._inputs.take(event)
            case Said(at, said):
                yield from self._take_message(at, said)
            case _:
                pass

    def end(self) -> Generator[Demonstration]:
        """Yield the episode that the end of the recording cuts short."""
        if self._episode is not None and self._episode.actions:
            yield self._finish(self._episode, terminated=False, reason="the recording ended")

    def _take_message(self, at: float, said: dict[str, Any]) -> Generator[Demonstration]:
        match said.get("event") or said.get("report"):
            case "begin":
                self._begun = said
            case "ready":
                self._start(at, said)
            case "reward" | "done":
                self._reward += _number(said.get("reward"))
            case "end" if self._episode is not None:
                terminated, reason = said.get("terminated") is True, str(said.get("reason", ""))
                yield self._finish(self._episode, terminated=terminated, reason=reason)
            case _:
                pass

    def _start(self, at: float, said: dict[str, Any]) -> None:
        header = self._recorded.header
        box = self._recorded.box(said)
        spaces = _spaces(self._begun.get("spaces"))
        actions = ActionMap(spaces, box) if self._kind is None else ActionMap(spaces, box, self._kind)
        self._pictures = Pictures(self._options, box)
        self._read: ActionReader = action_reader(actions)
        env_id = str(self._begun.get("env", header.env_id))
        seed = int(_number(self._begun.get("seed")))
        self._episode = Demonstration(env_id, seed, actions, self._pictures.shape)
        self._due, self._reward, self._bytes = at + self._period, 0.0, 0
        self._inputs.step()
        self._observe(self._episode)

    def _step(self, episode: Demonstration) -> None:
        episode.actions.append(self._read(self._inputs))
        episode.rewards.append(self._reward)
        self._reward = 0.0
        self._inputs.step()
        self._due += self._period
        self._observe(episode)

    def _observe(self, episode: Demonstration) -> None:
        picture = self._pictures.make(self._recorded.rgb()).copy()
        self._bytes += picture.nbytes
        if self._bytes > MAX_BYTES:
            raise ConfigurationError(
                f"an episode's pictures take over {MAX_BYTES / 2**30:g} GiB; "
                "make them smaller with --size, or fewer with --fps"
            )
        episode.observations.append(picture)

    def _finish(self, episode: Demonstration, *, terminated: bool, reason: str) -> Demonstration:
        # What came since the last step, and the picture at the end.
        self._step(episode)
        episode.terminated, episode.truncated, episode.reason = terminated, not terminated, reason
        self._episode = None
        return episode


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _spaces(value: object) -> Spaces | None:
    try:
        return env_spaces.parse(value) if value is not None else None
    except ValueError as error:
        raise ConfigurationError(f"the recording's spaces can't be read: {error}") from None
