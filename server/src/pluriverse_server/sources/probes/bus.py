"""A private D-Bus on which a program tells of its widgets: session bus and accessibility bus in one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote
from xml.sax.saxutils import escape

from pluriverse_server.process import ChildProcess, StartError, executable

from .dbus import Bus, BusLost, Place

# Up in 0.05 s on an idle machine.
START_DEADLINE_S: Final = 10.0

# Beside its own services the bus starts AT-SPI's registry when somebody asks for it; nobody else gets in.
_CONFIGURATION: Final = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>{address}</listen>
  <auth>EXTERNAL</auth>
  <standard_session_servicedirs/>
  <servicedir>/usr/share/dbus-1/accessibility-services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


class AccessibilityBus:
    """A running bus; ``environment`` is what a program needs to use it. Made by ``AccessibilityBus.start``."""

    def __init__(self, child: ChildProcess, environment: Mapping[str, str]) -> None:
        self.child = child
        self.environment = environment

    @classmethod
    async def start(cls, folder: Path, env: Mapping[str, str]) -> AccessibilityBus:
        """Start it with its socket in ``folder``; ``env`` is the program's, and that of what the bus starts.

        Raises:
            StartError: D-Bus or AT-SPI isn't installed, or the bus wasn't there in time.
        """
        # The characters that an address may hold as they are.
        address = f"unix:path={quote(str(folder / 'bus'), safe='/').replace('~', '%7e')}"
        configuration = folder / "bus.conf"
        configuration.write_text(_CONFIGURATION.format(address=escape(address)))
        read_end, write_end = os.pipe()
        command = [executable("dbus-daemon", package="dbus-daemon"), f"--config-file={configuration}", "--nofork"]
        command.append(f"--print-address={write_end}")
        own = _environment(address)
        with os.fdopen(read_end, "rb") as pipe:
            try:
                child = await ChildProcess.start("accessibility bus", command, env={**env, **own}, pass_fds=[write_end])
            finally:
                os.close(write_end)
            bus = cls(child, own)
            try:
                async with asyncio.timeout(START_DEADLINE_S):
                    await _until_readable(pipe.fileno())
                    await asyncio.to_thread(_switch_on, address)
            except (TimeoutError, BusLost) as error:
                await bus.stop()
                raise StartError(_explain(command, child, error)) from error
            except BaseException:
                await bus.stop()
                raise
        return bus

    async def stop(self) -> None:
        """End it, with what it has started. May be called again."""
        await self.child.stop()
        # What it started, in its process group, is left to whoever adopts orphans.
        await asyncio.to_thread(_reap, self.child.pid)


def _reap(group: int) -> None:
    """Wait for the end of those children that are of a process group, and of no others."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-group, 0)


def _environment(address: str) -> dict[str, str]:
    """What makes toolkits use the bus: most look for the second variable before they ask the first for it."""
    return {
        "DBUS_SESSION_BUS_ADDRESS": address,
        "AT_SPI_BUS_ADDRESS": address,
        "NO_AT_BRIDGE": "0",
        "GTK_A11Y": "atspi",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
    }


def _explain(command: list[str], child: ChildProcess, error: Exception) -> str:
    said = child.output_tail
    return (
        f"the accessibility bus did not start: {error or 'it was not there in time'}; try it yourself: "
        f"{shlex.join(command[:-1])}{f'; it said: {said}' if said else ''}"
    )


async def _until_readable(descriptor: int) -> None:
    """Return once the bus has told its address, or has ended."""
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    loop.add_reader(descriptor, told.set)
    try:
        await told.wait()
    finally:
        loop.remove_reader(descriptor)


def _switch_on(address: str) -> None:
    """Tell toolkits that ask before they speak, as Qt and Chromium do, that somebody listens."""
    launcher = Place("org.a11y.Bus", "/org/a11y/bus")
    with contextlib.closing(Bus(address)) as bus:
        if not bus.switch_on(launcher, "org.a11y.Status.IsEnabled"):
            raise BusLost("it has no org.a11y.Bus; install it with: apt-get install at-spi2-core")
