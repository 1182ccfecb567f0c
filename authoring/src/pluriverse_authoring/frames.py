"""A recording's pictures in any order, with the readings and reports, for the page that labels it."""

from __future__ import annotations

import io
import os
import tempfile
from bisect import bisect_right
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import zstandard
from numpy.typing import NDArray
from PIL import Image
from pluriverse_protocol.recording_file import open_recording
from pluriverse_protocol.recordings import Header, MalformedRecording, Said, Update
from pluriverse_protocol.rfb.raw_updates import raw_update

from pluriverse_authoring.recording.keep import blit
from pluriverse_authoring.samples import SCREEN_LAG_S

# How many updates may have to be applied to a whole picture, each some tenths of a millisecond.
WHOLE_EVERY: Final = 100

# Pictures are viewed once or twice: speed matters more than size.
PNG_LEVEL: Final = 1


def png_of(pixels: NDArray[np.uint8]) -> bytes:
    """Return pixels, uint8 (height, width, 4), blue, green, red, unused, as PNG."""
    height, width, _ = pixels.shape
    image = Image.frombuffer("RGB", (width, height), np.ascontiguousarray(pixels), "raw", "BGRX", 0, 1)
    png = io.BytesIO()
    image.save(png, "png", compress_level=PNG_LEVEL)
    return png.getvalue()


def pixels_of(png: bytes) -> NDArray[np.uint8]:
    """Return the pixels of a PNG as ``png_of`` took them."""
    rgb = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))
    return np.dstack([rgb[..., ::-1], np.zeros(rgb.shape[:2], np.uint8)])


class RecordedFrames:
    """A recording that was read once. ``times`` are its pictures', in seconds since it began.

    Recordings can only be read from their beginning, so the updates are kept, compressed, in a temporary file.
    """

    def __init__(self, path: Path) -> None:
        self.header: Header
        self.header, records = open_recording(path)
        self.times: list[float] = []
        self.said: list[Said] = []
        self.seconds = 0.0
        self.damage = ""
        self._spool = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the recorded
        self._updates: list[tuple[int, int]] = []
        self._wholes: list[tuple[int, int]] = []
        self._compressor = zstandard.ZstdCompressor(level=1)
        self._picture = self._blank()
        try:
            for record in records:
                self.seconds = record.at
                if isinstance(record, Update):
                    self._add(record)
                elif isinstance(record, Said):
                    self.said.append(record)
        except MalformedRecording as error:
            self.damage = str(error)
        self._spool.flush()

    def close(self) -> None:
        self._spool.close()

    def png(self, index: int) -> bytes:
        """Return picture ``index`` as PNG; raise IndexError without one."""
        if not 0 <= index < len(self.times):
            raise IndexError(index)
        frame = self._blank()
        whole = index // WHOLE_EVERY
        for place in (self._wholes[whole], *self._updates[whole * WHOLE_EVERY : index + 1]):
            blit(frame, self._read(place))
        return png_of(frame)

    def changes_of(self, region: Sequence[int]) -> Generator[tuple[float, NDArray[np.uint8], NDArray[np.uint8]]]:
        """Yield each time at which a region (x, y, width, height) changed: when, what is in it, and the whole picture.

        Both are uint8 (height, width, 4), blue, green, red, unused, and change with the next; the first picture counts.
        """
        x, y, width, height = region
        frame = self._blank()
        part = frame[y : y + height, x : x + width]
        before: NDArray[np.uint8] | None = None
        for at, place in zip(self.times, self._updates, strict=True):
            blit(frame, self._read(place))
            if before is None or not np.array_equal(part, before):
                before = part.copy()
                yield at, part, frame

    def shown_at(self, at: float) -> float:
        """Return the time of the last picture before ``at``, which a reading or report of that time is about.

        A reading settles some frames after its picture, and the next picture may come seconds later.
        """
        index = bisect_right(self.times, at + SCREEN_LAG_S) - 1
        return self.times[max(index, 0)] if self.times else at

    def _blank(self) -> NDArray[np.uint8]:
        return np.zeros((self.header.height, self.header.width, 4), np.uint8)

    def _add(self, update: Update) -> None:
        if len(self.times) % WHOLE_EVERY == 0:
            box = (0, 0, self.header.width, self.header.height)
            self._wholes.append(self._write(raw_update([(box, self._picture.tobytes())])))
        blit(self._picture, update.message)
        self._updates.append(self._write(update.message))
        self.times.append(update.at)

    def _write(self, message: bytes) -> tuple[int, int]:
        data = self._compressor.compress(message)
        start = self._spool.tell()
        self._spool.write(data)
        return start, len(data)

    def _read(self, place: tuple[int, int]) -> bytes:
        start, size = place
        # pread, since pictures are made in several threads.
        return zstandard.ZstdDecompressor().decompress(os.pread(self._spool.fileno(), size, start))


def changes(recorded: RecordedFrames) -> dict[str, list[tuple[float, Any, Any, str]]]:
    """Return each source's changes by name: the picture's time, the value, the raw value, and the state."""
    found: dict[str, list[tuple[float, Any, Any, str]]] = {}
    for said in recorded.said:
        if said.said.get("report") != "readings":
            continue
        at = recorded.shown_at(_seconds(recorded.header, said))
        for name, value in cast("dict[str, Any]", said.said.get("readings", {})).items():
            reading = cast("Mapping[str, Any]", value)
            entry = (at, reading.get("value"), reading.get("raw"), str(reading.get("state")))
            known = found.setdefault(name, [])
            if not known or known[-1][1:] != entry[1:]:
                known.append(entry)
    return found


def events(recorded: RecordedFrames) -> list[dict[str, Any]]:
    """Return the events and reports of episodes and rewards; ``at`` is the time of the picture that was visible."""
    wanted = ("begin", "end", "ready", "reward", "done")
    return [
        {**said.said, "at": recorded.shown_at(_seconds(recorded.header, said)), "what": what}
        for said in recorded.said
        if (what := said.said.get("event") or said.said.get("report")) in wanted
    ]


def _seconds(header: Header, said: Said) -> float:
    """Return the time that it gives, else that of its recording."""
    at = said.said.get("at")
    if isinstance(at, int | float):
        return min(max(0.0, at - header.began), said.at)
    return said.at
