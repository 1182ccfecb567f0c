"""The clients of a remote's screen: the input injector, the overlay and the program, started in this order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Mapping, Sequence

from pluriverse_protocol.messages import Describe

from pluriverse_server.display import DisplayLost, Screen
from pluriverse_server.display.screen import ROOT_CAUSE_S
from pluriverse_server.episode import Output, Send
from pluriverse_server.manifest.runtime import Manifest
from pluriverse_server.process import StartError
from pluriverse_server.tasks import start_task

from .environment import EnvironmentService
from .overlay import OVERLAY, overlay_arguments, start_overlay

log = logging.getLogger(__name__)


class ScreenClients:
    """Starts the clients on a new screen, ends them when it is lost, and keeps the overlay running.

    It sends the overlay the frame rate of each episode. Where the overlay guards the
    keys of a browser, the browser runs only while the overlay does.
    """

    def __init__(self, screen: Screen, manifest: Manifest, service: EnvironmentService) -> None:
        self._screen = screen
        self._service = service
        self._overlay_arguments = overlay_arguments(manifest)
        self._guarded = manifest.page is not None
        self._overlay: asyncio.Task[None] | None = None
        self._fps = manifest.runtime.fps
        self._rates: int | None = None  # the overlay's pipe
        service.output_listeners.append(self._heard)

    def _heard(self, output: Output) -> None:
        """Let the overlay paint at the episode's frame rate, by which agents pace their steps, not in lockstep."""
        if not (isinstance(output, Send) and isinstance(output.message, Describe)):
            return
        fps = 0.0 if output.message.clock == "lockstep" else output.message.fps
        if fps != self._fps:
            self._fps = fps
            self._tell_rate()

    async def put_on(self) -> None:
        screen, service = self._screen, self._service
        try:
            await service.take_screen(screen.display, screen.xauthority)
        except DisplayLost as error:
            # The screen is being restarted, and this is called again then.
            log.warning("%s", error)
            return
        if not self._guarded:
            service.program.put_on(screen.environment)
        if self._overlay_arguments:
            keeping = self._keep_overlay(self._overlay_arguments, screen.environment)
            self._overlay = start_task(keeping, "overlay")

    async def take_off(self, reason: str) -> None:
        if await self._service.leave_screen():
            await self._end_overlay()
            await self._service.program.take_off()
            self._service.screen_lost(reason)

    async def clear(self) -> None:
        """End everything but the program, which has ended already. May be called repeatedly."""
        await self._end_overlay()
        await self._service.leave_screen()

    async def _keep_overlay(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        while True:
            how = await self._run_overlay(arguments, environment)
            if self._guarded:
                await self._service.program.take_off()
            # The overlay also dies with the X server; that is handled as the X server's crash, and cancels this task.
            await asyncio.sleep(ROOT_CAUSE_S)
            log.warning("the %s died (%s); starting it again", OVERLAY, how)
            self._service.part_died(OVERLAY, how)
            if self._guarded:
                self._service.screen_lost(f"{OVERLAY} {how}")

    async def _run_overlay(self, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
        told, self._rates = os.pipe()
        try:
            try:
                self._tell_rate()
                overlay = await start_overlay(arguments, environment, stdin=told)
            except StartError as error:
                log.warning("%s", error)
                return "could not be started"
            finally:
                os.close(told)
            try:
                if self._guarded:
                    self._service.program.put_on(environment)
                await overlay.wait()
            finally:
                await overlay.stop()
        finally:
            os.close(self._rates)
            self._rates = None
        return overlay.describe_end()

    def _tell_rate(self) -> None:
        if self._rates is not None:
            with contextlib.suppress(BrokenPipeError):  # it has just ended, and the next one gets it
                os.write(self._rates, f"{self._fps!r}\n".encode())

    async def _end_overlay(self) -> None:
        overlay, self._overlay = self._overlay, None
        if overlay is not None:
            overlay.cancel()
            await asyncio.wait({overlay})
