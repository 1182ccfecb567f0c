"""Records a running remote: its picture, what is said of its episodes, and who presses what, into one file."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from pluriverse_protocol import reports
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.errors import LocalProtocolError
from pluriverse_protocol.recordings import Header, Input, Record, Said, Update

from pluriverse_server.display.errors import DisplayLost
from pluriverse_server.episode import Begin, Finished
from pluriverse_server.process import StartError

from .file import RecordingFile, compact
from .inputs import Event, Inputs
from .keep import RegionKeeper
from .vnc_tap import TapLost, VncTap

log = logging.getLogger(__name__)

Keep = Literal["all", "regions"]

# A remote that is killed loses no more than this of its recording.
FLUSH_S: Final = 1.0

# Whatever is on the screen for one frame is seen, however the frames of the program and those looks fall.
LOOKS_PER_FRAME: Final = 2

# The disk is behind by so much at most; then pictures are taken more seldom, and nothing else is lost.
MAX_WAITING_BYTES: Final = 128 * 1024 * 1024
DRAIN_LOOK_S: Final = 0.01


class RecordingFailed(Exception):
    """The recording has ended before it was stopped; says why, and where what there is of it can be found."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording that is done. ``seconds`` until its last record, ``bytes`` of the file."""

    path: Path
    seconds: float
    updates: int
    bytes: int


class Recorder:
    """One recording of one screen. Made by ``start``; ends by ``stop``, or by itself: then ``failed`` says why."""

    def __init__(self, path: Path, header: Header, keep: Keep, tap: VncTap) -> None:
        # Regions in the header say that nothing else was kept.
        self.header = header = header if keep == "regions" else replace(header, regions=())
        self.failed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._keep: Keep = keep
        self._tap = tap
        self._inputs: Inputs | None = None
        self._writer = _Writer(RecordingFile(path, header), keep, self._broke)
        self._loop = asyncio.get_running_loop()
        self._tapping: asyncio.Task[None] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    async def start(cls, path: Path, header: Header, environment: Mapping[str, str], *, keep: Keep = "all") -> Recorder:
        """Record the screen that ``environment`` (DISPLAY, XAUTHORITY) names, into ``path``.

        The times of the records are since ``header.began``; with ``keep`` "regions" it names what is kept.

        Raises:
            StartError: the screen can't be looked at, or isn't as large as the header says.
            OSError: the file can't be written.
        """
        folder = tempfile.TemporaryDirectory(prefix="pluriverse-recorder-")
        try:
            tap = await VncTap.start(environment, Path(folder.name))
        except BaseException:
            folder.cleanup()
            raise
        try:
            tap.require_size(header.width, header.height)
            recorder = cls(path, header, keep, tap)
        except BaseException:
            await tap.close()
            folder.cleanup()
            raise
        recorder._folder = folder
        await recorder._begin(environment)
        return recorder

    @property
    def updates(self) -> int:
        """How many times the picture has changed so far, and that has been written."""
        return self._writer.updates

    @property
    def inputs(self) -> int:
        """How many keys and moves of the pointer have been written so far."""
        return self._writer.inputs

    def reported(self, report: reports.Report, at: float | None = None) -> None:
        """A program, or what reads it, has said this; at the UNIX time ``at``, else now.

        Reports of frames are left out: they say nothing that the pictures don't, sixty times a second.
        """
        if isinstance(report, reports.Frame):
            return
        try:
            line = reports.encode_line(report)
        except LocalProtocolError as error:
            # The program's line may be in UTF-8, and a record is in ASCII: up to three times as long.
            log.warning("not recorded: %s", error)
        else:
            self._said(at, json.loads(line))

    def began(self, begin: Begin, spaces: Spaces | None = None, at: float | None = None) -> None:
        """An episode is being begun, in which one can act as ``spaces`` says."""
        env_id = begin.environment.env_id
        said = {"event": "begin", "episode": begin.episode_id, "env": env_id, "seed": begin.seed, "fps": begin.fps}
        self._said(at, said if spaces is None else {**said, "spaces": spaces.as_json()})

    def ended(self, finished: Finished, at: float | None = None) -> None:
        """An episode has ended, in whatever way."""
        ends = {"terminated": finished.terminated, "truncated": not finished.terminated, "reason": finished.reason}
        self._said(at, {"event": "end", "episode": finished.episode_id, "reward": finished.reward, **ends})

    async def stop(self) -> Recorded:
        """End the recording; the file has its name once this returns.

        Raises:
            RecordingFailed: it had ended already, or can't be ended; what there is of it is kept.
        """
        await self._end_sources()
        await asyncio.to_thread(self._writer.stop)
        if self.failed.done():
            left = _what_is_left(self._writer.file)
            raise RecordingFailed(f"the recording ended early: {self.failed.result()}; {left}")
        path = self._writer.file.path
        if self._keep == "regions":
            try:
                await asyncio.to_thread(compact, path)
            except OSError as error:
                log.warning("%s is not compressed further: %s", path, error)
        return Recorded(path, self._writer.seconds, self._writer.updates, path.stat().st_size)

    async def _begin(self, environment: Mapping[str, str]) -> None:
        try:
            self._inputs = Inputs(environment["DISPLAY"], Path(environment.get("XAUTHORITY", "")), self._pressed)
        except DisplayLost as error:
            await self._end_sources()
            await asyncio.to_thread(self._writer.stop)
            raise StartError(str(error)) from error
        self._tapping = asyncio.create_task(self._look(), name="recorder's picture")

    async def _end_sources(self) -> None:
        if self._tapping is not None:
            self._tapping.cancel()
            await asyncio.wait({self._tapping})
            self._tapping = None
        if self._inputs is not None:
            await asyncio.to_thread(self._inputs.close)
            self._inputs = None
        await self._tap.close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    async def _look(self) -> None:
        try:
            await self._tap.run(LOOKS_PER_FRAME * self.header.fps, self._take)
        except TapLost as error:
            self._fail(str(error))

    async def _take(self, at: float, message: bytes) -> None:
        self._put(at, lambda since: Update(since, message), len(message))
        while self._writer.waiting_bytes > MAX_WAITING_BYTES:  # noqa: ASYNC110 - the writer is a thread
            await asyncio.sleep(DRAIN_LOOK_S)

    def _said(self, at: float | None, said: dict[str, Any]) -> None:
        self._put(time.time() if at is None else at, lambda since: Said(since, said), 0)

    def _pressed(self, at: float, event: Event) -> None:
        self._put(at, lambda since: Input(since, event), 0)

    def _put(self, at: float, make: Callable[[float], Record], size: int) -> None:
        self._writer.put(make(max(0.0, at - self.header.began)), size)

    def _broke(self, reason: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has closed: nobody is left to be told
            self._loop.call_soon_threadsafe(self._fail, reason)

    def _fail(self, reason: str) -> None:
        if not self.failed.done():
            self.failed.set_result(reason)


def _what_is_left(file: RecordingFile) -> str:
    if file.partial.exists():
        return f"label and score what there is of it after: mv {file.partial} {file.path}"
    return f"what there is of it: {file.path}" if file.path.exists() else "nothing is left of it"


class _Writer:
    """A thread that keeps, compresses and writes, so that neither disk nor zstd ever stalls the remote.

    ``put`` may be called from any thread. After the first error it drops what it gets.
    """

    def __init__(self, file: RecordingFile, keep: Keep, broke: Callable[[str], None]) -> None:
        header = file.header
        self.file = file
        self.seconds = 0.0
        self.updates = 0
        self.inputs = 0
        self.waiting_bytes = 0
        self._keeper = RegionKeeper(header.width, header.height, header.regions) if keep == "regions" else None
        self._broke = broke
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[tuple[Record, int] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def put(self, record: Record, size: int) -> None:
        """Write a record; ``size`` counts towards ``waiting_bytes`` until that is done."""
        with self._lock:
            self.waiting_bytes += size
        self._queue.put((record, size))

    def stop(self) -> None:
        """Write all that waits, and close the file. May be called repeatedly."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            self._write_all()
        except OSError as error:
            self._give_up(error)
            # Whatever is put in still has to leave the queue.
            while self._next(None) is not None:
                pass
            return
        try:
            self.file.close()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.file.abandon()
        self._broke(f"{self.file.path}: {error.strerror}")

    def _write_all(self) -> None:
        flush_at = time.monotonic() + FLUSH_S
        while True:
            try:
                record = self._next(max(0.0, flush_at - time.monotonic()))
            except queue.Empty:
                self.file.flush()
                flush_at = time.monotonic() + FLUSH_S
                continue
            if record is None:
                return
            self._write(record)

    def _next(self, timeout_s: float | None) -> Record | None:
        item = self._queue.get(timeout=timeout_s)
        if item is None:
            return None
        record, size = item
        with self._lock:
            self.waiting_bytes -= size
        return record

    def _write(self, record: Record) -> None:
        # What threads put in at almost the same time may come a little out of order; the file's clock never goes back.
        self.seconds = max(record.at, self.seconds)
        record = replace(record, at=self.seconds)
        try:
            kept = [record] if self._keeper is None else self._keeper.keep(record)
            for part in kept:
                self.file.write(part)
            self.updates += isinstance(record, Update)
            self.inputs += isinstance(record, Input)
        except (LocalProtocolError, ValueError) as error:
            log.warning("not recorded: %s", error)
