"""Runs the remote of a program that is looked at, again each time that its runtime.toml was changed."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pluriverse_protocol import messages

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.manifest.runtime import ManifestError
from pluriverse_server.process import StartError
from pluriverse_server.programs.page import PageProgram
from pluriverse_server.remote.remote import GaveUp, Remote
from pluriverse_server.settings import Settings
from pluriverse_server.sources.page.page import Page
from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen.grab import Grabber, ScreenLost

log = logging.getLogger(__name__)

_NOTHING_RUNS = "nothing runs at the moment"


class RunningRemote:
    """One remote after the other; ``run`` until ``stop``. ``problem``: why there is none, which the page mends."""

    def __init__(self, settings: Settings, on_end: Callable[[], None]) -> None:
        """``on_end`` is called in a thread when a remote has ended."""
        self.problem: str | None = None
        self._settings = settings
        self._on_end = on_end
        self._remote: Remote | None = None
        self._up = False
        self._stopped = False
        self._again = asyncio.Event()
        self._grabbing = threading.Lock()
        self._grabber: Grabber | None = None

    async def run(self, on_start: Callable[[], None]) -> None:
        """Run the remote, again each time that ``restart`` is called; until ``stop``.

        Raises:
            ManifestError, StartError, GaveUp, TaskFailed: the remote didn't even start once; see ``Remote.run``.
        """
        started = False
        while not self._stopped:
            self._again.clear()
            self.problem = None
            self._remote = remote = Remote(self._settings)

            def on_remote(_: object) -> None:
                nonlocal started
                self._up = True
                if not started:
                    started = True
                    on_start()

            try:
                await remote.run(on_remote)
            except (ManifestError, StartError, GaveUp) as error:
                if not started:
                    raise
                # The page is still there: what is wrong in runtime.toml is mended on it.
                self.problem = str(error)
                log.warning("%s", error)
            finally:
                self._remote, self._up = None, False
                await asyncio.to_thread(self._close_screen)
            if self.problem is not None:
                await self._again.wait()

    def stop(self) -> None:
        """Make ``run`` return; may be called from a signal handler."""
        self._stopped = True
        self.restart()

    def restart(self) -> None:
        """Run the remote again, with runtime.toml as it is now."""
        self._again.set()
        if self._remote is not None:
            self._remote.stop()

    def reset(self, env_id: str) -> None:
        """Begin another episode; raise AuthoringError if nothing runs."""
        remote = self._running()
        described = remote.service.description()
        if described is None:
            raise AuthoringError(_NOTHING_RUNS)
        remote.service.reset(messages.Reset(env_id), leaving=described[1])

    def grab(self) -> Pixels:
        """Return all of the screen. Blocking; raise AuthoringError if there is none."""
        remote = self._remote
        if remote is None or not self._up:
            raise AuthoringError(self.problem or "there is no screen yet")
        with self._grabbing:
            try:
                if self._grabber is None:
                    screen = remote.screen.environment
                    options = remote.screen.options
                    everything = (0, 0, options.width, options.height)
                    self._grabber = Grabber(screen["DISPLAY"], [everything], xauthority=Path(screen["XAUTHORITY"]))
                return self._grabber.grab()[0]
            except (ScreenLost, RuntimeError) as error:
                self._close_grabber()
                raise AuthoringError(f"there is no screen at the moment: {error}") from error

    @property
    def page(self) -> Page | None:
        """The page that is shown, if it is one."""
        program = self._remote.service.program if self._remote is not None and self._up else None
        return program.page if isinstance(program, PageProgram) else None

    @property
    def screen_environment(self) -> dict[str, str]:
        """The variables by which programs find the screen; raise AuthoringError if there is none."""
        return dict(self._running().screen.environment)

    def status(self) -> dict[str, Any]:
        """Return what the remote says of itself; nothing while there is none."""
        return dict(self._remote.status()) if self._remote is not None else {}

    def _running(self) -> Remote:
        if self._remote is None or not self._up:
            raise AuthoringError(_NOTHING_RUNS)
        return self._remote

    def _close_screen(self) -> None:
        self._on_end()
        with self._grabbing:
            self._close_grabber()

    def _close_grabber(self) -> None:
        if self._grabber is not None:
            self._grabber.close()
            self._grabber = None
