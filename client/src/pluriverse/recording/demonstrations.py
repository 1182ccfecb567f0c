"""The episodes of a recording, step by step: what was seen, what the person did, and what that earned."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol import env_spaces
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.recordings import Input, Record, Said

from pluriverse.adapters.actions import ActionMap, Kind
from pluriverse.adapters.pictures import PictureOptions, Pictures
from pluriverse.errors import ConfigurationError

from .film import Film
from .hands import Hands, Reading, reading

# A dataset's episode is kept in memory until it is written: an hour of small pictures at 10 a second.
MAX_BYTES: Final = 4 * 1024**3


@dataclass(slots=True)
class Demonstration:
    """One episode. ``observations`` has a picture more than there are actions, uint8 (height, width, 3 or 1) each."""

    env_id: str
    seed: int
    actions_of: ActionMap
    shape: tuple[int, ...]
    observations: list[NDArray[np.uint8]] = field(default_factory=list[NDArray[np.uint8]])
    actions: list[Any] = field(default_factory=list[Any])
    rewards: list[float] = field(default_factory=list[float])
    terminated: bool = False
    truncated: bool = False
    reason: str = ""


def demonstrations(
    film: Film, *, fps: float | None, options: PictureOptions, kind: Kind | None
) -> Generator[Demonstration]:
    """The episodes that ran in a recording, one after the other; the last may be cut short, and is truncated then.

    ``fps`` steps a second, None: the recording's own. ``kind`` None: discrete actions where there are some.

    Raises:
        ConfigurationError: there are no whole pictures or no such actions in it, or an episode is too long for memory.
    """
    if film.header.regions:
        raise ConfigurationError(
            f"{film.path} has whole pictures only now and then, since it was recorded with --keep regions; "
            "record a demonstration with --keep all"
        )
    maker = _Maker(film, fps or film.header.fps, options, kind)
    for record in film.records():
        yield from maker.take(record)
    yield from maker.end()


class _Maker:
    """Cuts the records into steps of equal length, from an episode's ready to its end."""

    def __init__(self, film: Film, fps: float, options: PictureOptions, kind: Kind | None) -> None:
        self._film = film
        self._period = 1 / fps
        self._options = options
        self._kind: Kind | None = kind
        self._begun: dict[str, Any] = {}
        self._episode: Demonstration | None = None
        self._hands = Hands()
        self._due = 0.0
        self._reward = 0.0
        self._bytes = 0

    def take(self, record: Record) -> Generator[Demonstration]:
        if self._episode is not None:
            while record.at >= self._due:
                self._step()
        match record:
            case Input(event=event):
                self._hands.take(event)
            case Said(at, said):
                yield from self._hear(at, said)
            case _:
                pass

    def end(self) -> Generator[Demonstration]:
        """The recording is over, and the episode in it cut short."""
        if self._episode is not None and self._episode.actions:
            yield self._finish(terminated=False, truncated=True, reason="the recording ended")

    def _hear(self, at: float, said: dict[str, Any]) -> Generator[Demonstration]:
        what = said.get("event") or said.get("report")
        if what == "begin":
            self._begun = said
        elif what == "ready":
            self._start(at, said)
        elif what in ("reward", "done") and self._episode is not None:
            self._reward += _number(said.get("reward"))
        if self._episode is None:
            return
        if what == "end":
            yield self._finish(
                terminated=said.get("terminated") is True,
                truncated=said.get("terminated") is not True,
                reason=str(said.get("reason", "")),
            )

    def _start(self, at: float, said: dict[str, Any]) -> None:
        header = self._film.header
        picture = said.get("picture")
        box = _box(picture) or (0, 0, header.width, header.height)
        pictures = Pictures(self._options, box)
        spaces = _spaces(self._begun.get("spaces"))
        actions = ActionMap(spaces, box) if self._kind is None else ActionMap(spaces, box, self._kind)
        self._pictures = pictures
        self._reading: Reading = reading(actions)
        env_id = str(self._begun.get("env", header.env_id))
        self._episode = Demonstration(env_id, int(_number(self._begun.get("seed"))), actions, pictures.shape)
        self._due, self._reward, self._bytes = at + self._period, 0.0, 0
        self._hands.step()
        self._look()

    def _step(self) -> None:
        episode = self._episode
        assert episode is not None
        episode.actions.append(self._reading.action(self._hands))
        episode.rewards.append(self._reward)
        self._reward = 0.0
        self._hands.step()
        self._due += self._period
        self._look()

    def _look(self) -> None:
        assert self._episode is not None
        picture = self._pictures.make(np.ascontiguousarray(self._film.screen[:, :, 2::-1])).copy()
        self._bytes += picture.nbytes
        if self._bytes > MAX_BYTES:
            raise ConfigurationError(
                f"an episode's pictures take over {MAX_BYTES / 2**30:g} GiB; "
                "make them smaller with --size, or fewer with --fps"
            )
        self._episode.observations.append(picture)

    def _finish(self, *, terminated: bool, truncated: bool, reason: str) -> Demonstration:
        episode = self._episode
        assert episode is not None
        # What came since the last step, and the picture at the end.
        self._step()
        episode.terminated, episode.truncated, episode.reason = terminated, truncated, reason
        self._episode = None
        return episode


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _box(value: Any) -> tuple[int, int, int, int] | None:
    if not isinstance(value, list) or len(cast("list[Any]", value)) != 4:
        return None
    x, y, width, height = (int(_number(item)) for item in cast("list[Any]", value))
    return x, y, width, height


def _spaces(value: Any) -> Spaces | None:
    try:
        return env_spaces.parse(value) if value is not None else None
    except ValueError as error:
        raise ConfigurationError(f"the recording's spaces can't be read: {error}") from None
