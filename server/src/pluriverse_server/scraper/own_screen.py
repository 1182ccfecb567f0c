"""A screen of a program's own, whose moments can be kept together with the program's."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final, Self

from pluriverse_server.display.xserver import XServer
from pluriverse_server.lockstep import PAGE_VARIABLE, XSERVER_HUB_VARIABLE, XSERVER_LIBRARY, PreloadedClock
from pluriverse_server.process import executable
from pluriverse_server.x11.connection import write_cookie
from pluriverse_server.x11.framebuffer import FILE, make_memory

from .worlds import HUB_NAME, Hub

_COOKIE_NAME: Final = "Xauthority"


class OwnScreen:
    """A running Xvfb that has a program's time, and becomes a template when it is asked to. ``stop`` ends it."""

    def __init__(self, server: XServer, xauthority: Path, hub: Hub, memory: int) -> None:
        self.hub = hub
        self._memory = memory
        self._server = server
        self._xauthority = xauthority

    @classmethod
    async def start(cls, width: int, height: int, folder: Path, clock: PreloadedClock) -> Self:
        """Start it, with its pixels and its cookie in ``folder``."""
        program = executable("Xvfb", package="xvfb")
        xauthority = folder / _COOKIE_NAME
        write_cookie(xauthority)
        hub = Hub(folder / HUB_NAME)
        memory = make_memory(folder / FILE)
        variables = {"LD_PRELOAD": XSERVER_LIBRARY, XSERVER_HUB_VARIABLE: hub.path, PAGE_VARIABLE: clock.page}
        preloaded = [f"{name}={value}" for name, value in variables.items()]
        options = ["-screen", "0", f"{width}x{height}x24", "-fbdir", str(folder)]
        try:
            server = await XServer.start(
                ["env", *preloaded, program, *options], xauthority=xauthority, pass_fds=[memory]
            )
        except BaseException:
            hub.close()
            os.close(memory)
            raise
        return cls(server, xauthority, hub, memory)

    @staticmethod
    def is_possible() -> bool:
        return XSERVER_LIBRARY.exists() and shutil.which("Xvfb") is not None

    @property
    def memory(self) -> Path:
        """The file of its pixels."""
        return self._xauthority.with_name(FILE)

    @property
    def environment(self) -> dict[str, str]:
        return {"DISPLAY": self._server.display, "XAUTHORITY": str(self._xauthority)}

    async def stop(self) -> None:
        await self._server.stop()
        self.hub.close()
        os.close(self._memory)
