"""D-Bus: typed calls with a time limit, and the private bus on which a program exposes its widgets."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

from jeepney import DBusAddress, HeaderFields, MessageType, Properties, new_method_call
from jeepney.auth import AuthenticationError
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.low_level import Message

from pluriverse_server.process import ChildProcess, StartError, executable

# A program answers between two frames, in under a millisecond; one that doesn't answer in this time is frozen.
CALL_TIMEOUT_S: Final = 1.0

# Up in 0.05 s on an idle machine.
START_DEADLINE_S: Final = 10.0

# What starts AT-SPI's registry; at-spi2-core has it.
SERVICES: Final = Path("/usr/share/dbus-1/accessibility-services")

# Beside its own services the bus starts AT-SPI's registry on demand; no other client gets in.
_CONFIGURATION: Final = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>{address}</listen>
  <auth>EXTERNAL</auth>
  <standard_session_servicedirs/>
  <servicedir>{services}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


class BusLost(Exception):
    """The bus isn't there, or refuses the connection."""


@dataclass(frozen=True, slots=True)
class BusObject:
    owner: str
    path: str


LAUNCHER: Final = BusObject("org.a11y.Bus", "/org/a11y/bus")


class Bus:
    """A connection to the bus at ``address``; every call raises ``BusLost`` once the bus has ended."""

    def __init__(self, address: str) -> None:
        try:
            # jeepney doesn't unescape addresses.
            self._connection: DBusConnection = open_dbus_connection(bus=unquote(address))
        except (OSError, AuthenticationError, RuntimeError, ValueError) as error:
            raise BusLost(f"no connection to {address}: {error}") from error

    def ask(self, place: BusObject, method: str, answer: str, *arguments: Any, signature: str | None = None) -> Any:
        """Call ``method`` (with its interface) of an object and return its one value, of D-Bus type ``answer``.

        None if the answer has another type, or is an error: most often the object or its program is gone.
        """
        interface, _, name = method.rpartition(".")
        return self._reply(lambda: new_method_call(_address(place, interface), name, signature, arguments), answer)

    def get(self, place: BusObject, name: str) -> str | None:
        """Return the property ``name`` (with its interface) if it is a string; raises as ``ask`` does."""
        interface, _, name = name.rpartition(".")
        found = self._reply(lambda: Properties(_address(place, interface)).get(name), "v")
        return found[1] if found is not None and found[0] == "s" else None

    def number(self, place: BusObject, name: str) -> float | None:
        """Return the property ``name`` (with its interface) if it is a double; raises as ``ask`` does."""
        interface, _, name = name.rpartition(".")
        found = self._reply(lambda: Properties(_address(place, interface)).get(name), "v")
        return found[1] if found is not None and found[0] == "d" else None

    def switch_on(self, place: BusObject, name: str) -> bool:
        """Set the property ``name`` to true; return whether that worked. Raises as ``ask`` does."""
        interface, _, name = name.rpartition(".")
        question = Properties(_address(place, interface)).set(name, "b", True)
        return self._send(question).header.message_type is MessageType.method_return

    def close(self) -> None:
        self._connection.close()

    def _reply(self, make: Callable[[], Message], answer: str) -> Any:
        try:
            reply = self._send(make())
        except ValueError:
            # Names and paths come from programs, and may be invalid.
            return None
        signature = reply.header.fields.get(HeaderFields.signature)
        if reply.header.message_type is not MessageType.method_return or signature != answer:
            return None
        return reply.body[0]

    def _send(self, question: Message) -> Message:
        try:
            return self._connection.send_and_get_reply(question, timeout=CALL_TIMEOUT_S)
        except TimeoutError:
            raise
        except OSError as error:
            raise BusLost(f"the bus has ended: {error}") from error


class AccessibilityBus:
    """A running session and accessibility bus in one; a program finds it through ``environment``."""

    def __init__(self, child: ChildProcess, environment: Mapping[str, str]) -> None:
        self.child = child
        self.environment = environment

    @classmethod
    async def start(cls, folder: Path, env: Mapping[str, str]) -> AccessibilityBus:
        # quote() leaves what an address may hold unescaped, and the tilde, which it may not.
        address = f"unix:path={quote(str(folder / 'bus'), safe='/').replace('~', '%7e')}"
        configuration = folder / "bus.conf"
        configuration.write_text(_CONFIGURATION.format(address=escape(address), services=SERVICES))
        read_end, write_end = os.pipe()
        command = [executable("dbus-daemon", package="dbus-daemon"), f"--config-file={configuration}", "--nofork"]
        command.append(f"--print-address={write_end}")
        # Toolkits use the bus for these; most look for the second variable before they ask the first bus for it.
        own = {
            "DBUS_SESSION_BUS_ADDRESS": address,
            "AT_SPI_BUS_ADDRESS": address,
            "NO_AT_BRIDGE": "0",
            "GTK_A11Y": "atspi",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }
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
                output = f"; its output: {child.output_tail}" if child.output_tail else ""
                raise StartError(
                    f"the accessibility bus did not start: {error or 'it was not there in time'}; try it yourself: "
                    f"{shlex.join(command[:-1])}{output}"
                ) from error
            except BaseException:
                await bus.stop()
                raise
        return bus

    async def stop(self) -> None:
        await self.child.stop()
        # Its services, in its process group, are this process' children now if it adopts orphans.
        await asyncio.to_thread(_reap, self.child.pid)


def _address(place: BusObject, interface: str) -> DBusAddress:
    return DBusAddress(place.path, place.owner, interface)


def _reap(group: int) -> None:
    """Wait for the end of those children that are in a process group."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-group, 0)


async def _until_readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)


def _switch_on(address: str) -> None:
    """Enable accessibility for toolkits that ask first, as Qt and Chromium do."""
    with contextlib.closing(Bus(address)) as bus:
        if not bus.switch_on(LAUNCHER, "org.a11y.Status.IsEnabled"):
            raise BusLost("it has no org.a11y.Bus; install it with: apt-get install at-spi2-core")
