"""A recording, read record by record, with the screen as it was."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from operator import index
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.recording_file import open_recording
from pluriverse_protocol.recordings import MalformedRecording, Record, Update
from pluriverse_protocol.rfb.raw_updates import rectangles

from pluriverse.errors import ConfigurationError

# Of one recording, as a film or a dataset: over four hours at 60 a second. Files without events for a day are tiny.
MAX_PICTURES: Final = 1_000_000


class RecordedScreen:
    """One recording. ``header`` is known at once; ``damage`` is where it breaks off, once reached.

    ``screen``, uint8 (height, width, 4) BGRX, is as it was before the record that ``records`` yielded last.
    """

    def __init__(self, path: Path) -> None:
        """Open a recording; raise ``ConfigurationError`` if there is no such file, or it is no recording."""
        self.path = path
        self.damage: str | None = None
        try:
            self.header, self._records = open_recording(path)
        except OSError as error:
            raise ConfigurationError(f"{path} can't be read: {error.strerror}") from error
        except MalformedRecording as error:
            made = "make one with: pluriverse-server record"
            raise ConfigurationError(f"{path} isn't a recording: {error}; {made}") from error
        self.screen: NDArray[np.uint8] = np.zeros((self.header.height, self.header.width, 4), np.uint8)

    def records(self, fps: float = 0.0) -> Generator[Record]:
        """Yield each record, up to where the recording is damaged. To be called once. ``fps``: of the pictures made."""
        try:
            for record in self._records:
                if record.at * fps > MAX_PICTURES:
                    raise ConfigurationError(
                        f"{self.path} goes on to second {record.at:.0f}: over {MAX_PICTURES} pictures at {fps:g} a "
                        "second; export fewer with --fps"
                    )
                yield record
                if isinstance(record, Update):
                    self._draw(record.message)
        except MalformedRecording as error:
            self.damage = str(error)

    def rgb(self) -> NDArray[np.uint8]:
        """Return a copy of the screen, uint8 (height, width, 3) RGB."""
        return np.ascontiguousarray(self.screen[:, :, 2::-1])

    def box(self, said: Mapping[str, Any]) -> tuple[int, int, int, int]:
        """Return x, y, width and height of the environment's picture, from a report; else of the whole screen."""
        across, down = self.header.width, self.header.height
        named = said.get("picture") or (0, 0, across, down)
        try:
            x, y, width, height = map(index, named)
            inside = min(x, y) >= 0 < min(width, height) and x + width <= across and y + height <= down
        except (TypeError, ValueError):
            inside, x, y, width, height = False, 0, 0, 0, 0
        if not inside:
            raise ConfigurationError(f"{self.path}: its picture is {named!r:.80}; the screen is {across}x{down}")
        return x, y, width, height

    def _draw(self, message: bytes) -> None:
        for part in rectangles(message, self.header.width, self.header.height):
            pixels = np.frombuffer(message, np.uint8, part.width * part.height * 4, part.offset)
            area = self.screen[part.y : part.y + part.height, part.x : part.x + part.width]
            area[:] = pixels.reshape(part.height, part.width, 4)
