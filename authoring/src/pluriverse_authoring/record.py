"""Runs a remote and records it until it is stopped, the time is over, or the recording fails; may play at random."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pluriverse_protocol import messages
from pluriverse_protocol.env_spaces import Choice
from pluriverse_protocol.events import Event, KeyEvent
from pluriverse_protocol.recording_file import SUFFIX, already_there
from pluriverse_protocol.recordings import MAX_SECONDS, Header
from pluriverse_protocol.rfb.geometry import Box
from pluriverse_server.console.serve import greet, stopped_by_signals
from pluriverse_server.console.status_line import compose, show
from pluriverse_server.daemon.requests import RequestError
from pluriverse_server.episode import Output, Send
from pluriverse_server.manifest.runtime import Manifest, ManifestError
from pluriverse_server.process import StartError
from pluriverse_server.remote.environment import EnvironmentService
from pluriverse_server.remote.remote import Remote
from pluriverse_server.settings import Settings
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.screen.grab import require_on_screen
from pluriverse_server.tasks import start_task

from pluriverse_authoring.recording.recorder import Keep, Recorded, Recorder

log = logging.getLogger(__name__)

# How long each random choice is held: long enough to have an effect, and for people to follow.
CHOICE_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """``output`` None: the next free name in the runtime's ``recordings``; ``seconds`` None: no limit but a day."""

    output: Path | None = None
    seconds: float | None = None
    keep: Keep = "all"
    random_agent: bool = False


class RecordedRemote:
    def __init__(self, settings: Settings, options: RecordingOptions) -> None:
        self._settings = settings
        self._options = options
        self._remote = Remote(settings)
        self._enough = asyncio.Event()
        self._recording: asyncio.Task[Recorded] | None = None

    def stop(self) -> None:
        self._enough.set()
        if self._recording is None:
            self._remote.stop()

    async def run(self) -> Recorded | None:
        """Serve and record until ``stop``, or for ``seconds``; return None if it was stopped before it began."""
        async with stopped_by_signals(self.stop):
            try:
                await self._remote.run(self._begin)
            finally:
                # If the remote has ended by itself, the recording must end too.
                self._enough.set()
                if self._recording is not None:
                    await asyncio.gather(self._recording, return_exceptions=True)
        if self._recording is None:
            return None
        return self._recording.result()

    def _begin(self, manifest: Manifest) -> None:
        if self._enough.is_set():
            return
        greet(self._settings, manifest, "&readings=1&control=1")
        self._recording = asyncio.create_task(self._record(manifest), name="recording")
        self._recording.add_done_callback(lambda _: self._remote.stop())

    async def _record(self, manifest: Manifest) -> Recorded:
        service, options = self._remote.service, self._options
        described, episode_id = _described(service)
        choices = described.spaces.discrete if described.spaces is not None else ()
        if options.random_agent and not choices:
            raise ManifestError(
                f"a random agent needs spaces.discrete, and {described.env_id} has none; add it, or play"
            )
        header = _header(manifest, described, _regions(manifest, described.env_id) if options.keep != "all" else ())
        path = options.output or _free_name(self._settings.runtime / "recordings")
        screen = self._remote.screen.environment
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            recorder = await Recorder.start(path, header, screen, keep=options.keep, spaces=described.spaces)
        except OSError as error:
            # The error of a full disk names no file.
            raise StartError(f"{error.filename or path} can't be written: {error.strerror}") from error
        service.report_listeners.append(recorder.on_report)
        service.joystick_listeners.append(recorder.on_joystick)
        listeners: list[Callable[[Output], None]] = [recorder.on_output]
        helpers: list[asyncio.Task[None]] = []
        if sys.stderr.isatty():
            helpers.append(asyncio.create_task(show(lambda: self._progress(header.began)), name="progress"))
        if options.random_agent:
            agent = RandomAgent(service.act, choices)
            listeners.append(agent.on_output)
            helpers.append(start_task(agent.play(), "random agent"))
        service.output_listeners += listeners
        ended = asyncio.create_task(self._enough.wait(), name="end of the recording")
        try:
            # The first episode is recorded from its beginning.
            service.reset(messages.Reset(described.env_id), leaving=episode_id)
            limit_s = min(options.seconds or MAX_SECONDS, MAX_SECONDS)
            ends = {ended, recorder.failed}
            if not (await asyncio.wait(ends, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED))[0]:
                log.info("the recording ends: it is %g s long", limit_s)
        finally:
            service.report_listeners.remove(recorder.on_report)
            service.joystick_listeners.remove(recorder.on_joystick)
            for listener in listeners:
                service.output_listeners.remove(listener)
            for helper in (ended, *helpers):
                helper.cancel()
            await asyncio.wait([ended, *helpers])
            recorded = await recorder.stop()
        return recorded

    def _progress(self, began: float) -> str:
        until = f" of {self._options.seconds:g}" if self._options.seconds is not None else ""
        return f"recording {time.time() - began:.0f}{until} s | {compose(self._remote.status())}"


def _regions(manifest: Manifest, env_id: str) -> tuple[Box, ...]:
    screen = manifest.runtime.screen
    found: list[Box] = []
    for name, source in manifest.game(env_id).screen_sources.items():
        try:
            require_on_screen(name, source.region, screen.width, screen.height)
        except SourceError as error:
            raise ManifestError(str(error)) from error
        x, y, width, height = source.region
        found.append((x, y, width, height))
    if not found:
        raise ManifestError(f"no source of {env_id} reads the screen, so --keep needs to be all")
    return tuple(found)


def _header(manifest: Manifest, described: messages.Describe, regions: tuple[Box, ...]) -> Header:
    runtime = manifest.runtime
    return Header(
        runtime=runtime.id,
        version=runtime.version,
        env_id=described.env_id,
        width=runtime.screen.width,
        height=runtime.screen.height,
        fps=described.fps,
        began=time.time(),
        regions=regions,
    )


def _described(service: EnvironmentService) -> tuple[messages.Describe, int]:
    described = service.description()
    assert described is not None  # the first episode is begun before anything else
    return described


def _free_name(directory: Path) -> Path:
    number = 1
    while already_there(path := directory / f"{number}{SUFFIX}") is not None:
        number += 1
    return path


class RandomAgent:
    """Holds one random choice after the other while an episode runs, as a service's listener hears.

    Between episodes it presses nothing, so as not to disturb the steps that lead to the next one.
    """

    def __init__(self, act: Callable[[Sequence[Event]], Awaitable[None]], choices: Sequence[Choice]) -> None:
        self._act = act
        self._choices = choices
        self._plays = False
        self._turned = asyncio.Event()

    def on_output(self, output: Output) -> None:
        match output:
            case Send(messages.Describe(env_state=state)):
                self._plays = state == "running"
                self._turned.set()
            case _:
                pass

    async def play(self) -> None:
        held: set[int] = set()
        while True:
            self._turned.clear()
            wanted = set(random.choice(self._choices).keys) if self._plays else set[int]()  # noqa: S311
            released = [KeyEvent(key, down=False) for key in held - wanted]
            try:
                await self._act([*released, *(KeyEvent(key, down=True) for key in wanted - held)])
                held = wanted
            except RequestError:
                # The screen is restarting: nothing can be pressed, and nothing is down on the new one.
                held = set()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHOICE_S):
                    await self._turned.wait()
