"""Records a running remote into one file: its picture, the reports of its program, its episodes, all input."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import structs
from pluriverse_protocol import reports
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.errors import LocalProtocolError
from pluriverse_protocol.events import Event, JoystickEvent
from pluriverse_protocol.recording_file import RecordingFile
from pluriverse_protocol.recordings import (
    MAX_SECONDS,
    Header,
    Input,
    Record,
    Said,
    Update,
    begins,
    ends,
)
from pluriverse_server.episode import Begin, Finished, Output
from pluriverse_server.private_folder import PrivateFolder
from pluriverse_server.process import StartError
from pluriverse_server.tasks import start_task
from pluriverse_server.x11.connection import DisplayLost

from .inputs import Inputs
from .keep import OFTEN, SELDOM, RegionKeeper, compact
from .vnc_tap import TapLost, VncTap

log = logging.getLogger(__name__)

Keep = Literal["all", "often", "regions"]

# How the rest of the picture is kept, beside the regions.
_RESTS: Final = {"often": OFTEN, "regions": SELDOM}

# 32 MiB hold some pictures of a common screen, so that one that comes back is found.
WINDOW_LOG: Final = 25

# A remote that is killed loses no more than this of its recording.
FLUSH_S: Final = 1.0

# Enough that what is on the screen for one frame is seen, whatever the phase of the program's frames.
LOOKS_PER_FRAME: Final = 2

# If the disk is behind by more than this, fewer pictures are taken; nothing else is lost.
MAX_WAITING_BYTES: Final = 128 * 1024 * 1024
DRAIN_LOOK_S: Final = 0.01


class RecordingFailed(Exception):
    """The recording ended before it was stopped; the message gives the reason and the file."""


@dataclass(frozen=True, slots=True)
class Recorded:
    path: Path
    seconds: float
    updates: int
    bytes: int


class Recorder:
    """One recording of one screen, made by ``start``. If it ends before ``stop``, ``failed`` has the reason."""

    def __init__(
        self, path: Path, header: Header, keep: Keep, tap: VncTap, folder: PrivateFolder, spaces: Spaces | None
    ) -> None:
        # Regions in the header mean that nothing else was kept in full.
        self.header = header = header if keep in _RESTS else structs.replace(header, regions=())
        self.failed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._keep: Keep = keep
        self._tap = tap
        self._folder: PrivateFolder | None = folder
        self._spaces = spaces
        self._inputs: Inputs | None = None
        self._writer = _Writer(RecordingFile(path, header, window_log=WINDOW_LOG), keep, self._broke)
        self._loop = asyncio.get_running_loop()
        self._tapping: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls,
        path: Path,
        header: Header,
        environment: Mapping[str, str],
        *,
        keep: Keep = "all",
        spaces: Spaces | None = None,
    ) -> Recorder:
        """Record the screen that ``environment`` (DISPLAY, XAUTHORITY) names into ``path``.

        Records are timed since ``header.began``. With ``keep`` "all" every picture is kept. Otherwise
        only ``header.regions`` are, and the rest by ``keep.OFTEN`` or ``keep.SELDOM``.
        ``spaces`` are the actions and observations of the episodes.
        """
        folder = PrivateFolder()
        try:
            tap = await VncTap.start(environment, folder.path)
        except BaseException:
            folder.remove()
            raise
        try:
            tap.require_size(header.width, header.height)
            recorder = cls(path, header, keep, tap, folder, spaces)
        except BaseException:
            await tap.close()
            folder.remove()
            raise
        await recorder._begin(environment)
        return recorder

    @property
    def updates(self) -> int:
        return self._writer.updates

    @property
    def inputs(self) -> int:
        return self._writer.inputs

    def on_report(self, report: reports.Report) -> None:
        """Record a report of the program, as a subscriber of its service.

        Reports of frames are left out: they repeat what the pictures show, sixty times a second.
        """
        if isinstance(report, reports.Frame):
            return
        try:
            said, text = reports.encode_object(report)
        except LocalProtocolError as error:
            # The program's line may be in UTF-8, and a record is in ASCII: up to three times as long.
            log.warning("not recorded: %s", error)
        else:
            self._said(said, text)

    def on_joystick(self, event: JoystickEvent) -> None:
        self._pressed(time.time(), event)

    def on_output(self, output: Output) -> None:
        match output:
            case Begin(episode, environment, seed, fps):
                self._said(begins(episode, environment.env_id, seed, fps, self._spaces, environment.options))
            case Finished(episode, _, reward):
                self._said(ends(episode, reward, terminated=output.terminated, reason=output.reason))
            case _:
                pass

    async def stop(self) -> Recorded:
        await self._end_sources()
        await asyncio.to_thread(self._writer.stop)
        if self.failed.done():
            left = _remainder(self._writer.file)
            raise RecordingFailed(f"the recording ended early: {self.failed.result()}; {left}")
        path = self._writer.file.path
        if self._keep in _RESTS:
            try:
                await asyncio.to_thread(compact, path)
            except OSError as error:
                log.warning("%s is not compressed further: %s", path, error)
        return Recorded(path, self._writer.file.seconds, self._writer.updates, path.stat().st_size)

    async def _begin(self, environment: Mapping[str, str]) -> None:
        try:
            relative = self._spaces is not None and self._spaces.relative
            screen = environment["DISPLAY"], Path(environment.get("XAUTHORITY", ""))
            self._inputs = Inputs(*screen, self._pressed, relative=relative)
        except DisplayLost as error:
            await self._end_sources()
            await asyncio.to_thread(self._writer.stop)
            raise StartError(str(error)) from error
        self._tapping = start_task(self._look(), "recorder's picture")

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
            self._folder.remove()
            self._folder = None

    async def _look(self) -> None:
        try:
            await self._tap.run(LOOKS_PER_FRAME * self.header.fps, self._take)
        except TapLost as error:
            self._fail(str(error))

    async def _take(self, at: float, message: bytes) -> None:
        self._writer.put(Update(self._since(at), message), len(message))
        while self._writer.waiting_bytes > MAX_WAITING_BYTES:  # noqa: ASYNC110 - the writer is a thread
            await asyncio.sleep(DRAIN_LOOK_S)

    def _said(self, said: dict[str, Any], text: str | None = None) -> None:
        self._writer.put(Said(self._since(time.time()), said, text))

    def _pressed(self, at: float, event: Event) -> None:
        self._writer.put(Input(self._since(at), event))

    def _since(self, at: float) -> float:
        return max(0.0, at - self.header.began)

    def _broke(self, reason: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has closed
            self._loop.call_soon_threadsafe(self._fail, reason)

    def _fail(self, reason: str) -> None:
        if not self.failed.done():
            self.failed.set_result(reason)


def _remainder(file: RecordingFile) -> str:
    if file.partial.exists():
        return f"to label and score the part that was saved: mv {file.partial} {file.path}"
    return f"saved part: {file.path}" if file.path.exists() else "nothing was saved"


class _Writer:
    """A thread that selects, compresses and writes, so that neither disk nor zstd ever stalls the remote.

    ``put`` may be called from any thread. After the first error, records are dropped.
    """

    def __init__(self, file: RecordingFile, keep: Keep, broke: Callable[[str], None]) -> None:
        header = file.header
        self.file = file
        self.updates = 0
        self.inputs = 0
        self.waiting_bytes = 0
        rest = _RESTS.get(keep)
        self._keeper: RegionKeeper | None = None
        if rest is not None:
            self._keeper = RegionKeeper(header.width, header.height, header.regions, rest, lambda: file.bytes)
        self._broke = broke
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[tuple[Record, int] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def put(self, record: Record, size: int = 0) -> None:
        """Write a record; its ``size`` counts towards ``waiting_bytes`` until that is done."""
        with self._lock:
            self.waiting_bytes += size
        self._queue.put((record, size))

    def stop(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            self._write_all()
        except Exception as error:  # noqa: BLE001 - whatever it is, the recording has ended
            self._give_up(error)
            # What is still put in has to leave the queue.
            while self._next(None) is not None:
                pass
            return
        try:
            self.file.close()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self.file.abandon()
        why = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        self._broke(f"{self.file.path}: {why}")

    def _write_all(self) -> None:
        flush_at = time.monotonic() + FLUSH_S
        while True:
            try:
                record = self._next(max(0.0, flush_at - time.monotonic()))
            except queue.Empty:
                self._catch_up()
                self.file.flush()
                flush_at = time.monotonic() + FLUSH_S
                continue
            if record is None:
                return
            self._write(record)

    def _catch_up(self) -> None:
        """Write what the keeper has held back, where nothing comes any more that it could go with."""
        if self._keeper is not None:
            for part in self._keeper.catch_up(max(self.file.seconds, time.time() - self.file.header.began)):
                self.file.write(part)

    def _next(self, timeout_s: float | None) -> Record | None:
        item = self._queue.get(timeout=timeout_s)
        if item is None:
            return None
        record, size = item
        with self._lock:
            self.waiting_bytes -= size
        return record

    def _write(self, record: Record) -> None:
        if record.at > MAX_SECONDS:
            self._broke(f"{self.file.path} is {MAX_SECONDS:g} s long, the longest possible recording")
            return
        try:
            kept = [record] if self._keeper is None else self._keeper.keep(record)
            for part in kept:
                self.file.write(part)
            self.updates += isinstance(record, Update)
            self.inputs += isinstance(record, Input)
        except (LocalProtocolError, ValueError) as error:
            log.warning("not recorded: %s", error)
