"""A recording replayed as fast as it can be read: pictures, reports and input events in order."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.recording_file import open_recording
from pluriverse_protocol.recordings import Header, Input, MalformedRecording, Record, Said, Update
from pluriverse_protocol.rfb.geometry import Box

from .keep import blit


@dataclass(slots=True)
class Moment:
    """The recording at ``at`` seconds since its beginning, with what happened since the moment before.

    ``frame`` is the replay's own picture, which changes with the next moment: uint8 of shape (height, width, 4), blue,
    green, red, unused. ``changed`` are its changed boxes: x, y, width, height in pixels.
    """

    at: float
    frame: NDArray[np.uint8]
    changed: list[Box] = field(default_factory=list[Box])
    said: list[tuple[float, dict[str, Any]]] = field(default_factory=list[tuple[float, dict[str, Any]]])
    inputs: list[Input] = field(default_factory=list[Input])


class Replay:
    """One recording, from its beginning: ``moments`` are its records, ``cycles`` the times when sources are read."""

    def __init__(self, path: Path) -> None:
        self._records: Iterator[Record]
        self.header: Header
        self.header, self._records = open_recording(path)
        self.frame = np.zeros((self.header.height, self.header.width, 4), np.uint8)
        self.ended: MalformedRecording | None = None

    def moments(self) -> Generator[Moment]:
        """Yield a moment for each record.

        Where the recording is damaged or cut off this ends, and ``ended`` is set: to a TruncatedRecording if only the
        end is missing.
        """
        for record in self._readable():
            moment = Moment(record.at, self.frame)
            self._add(moment, record)
            yield moment

    def cycles(self, fps: float, *, last_looks: int = 0) -> Generator[Moment]:
        """Yield the moments when a program of ``fps`` frames a second is read; ends as ``moments`` does.

        That is half a frame after the one before if the picture has changed, otherwise a whole frame. The last picture
        is yielded ``last_looks`` times more.
        """
        due, earliest, period = 0.0, 0.0, 1 / fps
        moment = Moment(due, self.frame)
        for record in self._readable():
            while record.at > due:
                moment.at = due
                yield moment
                earliest, due = due + period / 2, due + period
                moment = Moment(due, self.frame)
            if isinstance(record, Update) and not moment.changed:
                due = max(earliest, record.at)
            self._add(moment, record)
        for look in range(1 + last_looks):
            moment.at = due + look * period
            yield moment
            moment = Moment(due, self.frame)

    def _add(self, moment: Moment, record: Record) -> None:
        match record:
            case Update(message=message):
                moment.changed += blit(self.frame, message)
            case Said(at, said):
                moment.said.append((at, said))
            case Input():
                moment.inputs.append(record)

    def _readable(self) -> Generator[Record]:
        try:
            yield from self._records
        except MalformedRecording as error:
            self.ended = error
