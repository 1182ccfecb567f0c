import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pluriverse_server.process import StartError
from pluriverse_server.sources.program.bus import AccessibilityBus, Bus, BusLost, BusObject

REGISTRY = BusObject("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
STATUS = BusObject("org.a11y.Bus", "/org/a11y/bus")
DRIVER = BusObject("org.freedesktop.DBus", "/org/freedesktop/DBus")


@pytest.fixture
async def bus(tmp_path: Path) -> AsyncIterator[AccessibilityBus]:
    bus = await AccessibilityBus.start(tmp_path, os.environ)
    yield bus
    await bus.stop()


async def test_bus_has_the_registry_and_says_that_somebody_listens(bus: AccessibilityBus) -> None:
    connection = Bus(bus.environment["DBUS_SESSION_BUS_ADDRESS"])
    assert connection.ask(REGISTRY, "org.a11y.atspi.Accessible.GetChildren", "a(so)") == []
    arguments = ("org.a11y.Status", "IsEnabled")
    on = connection.ask(STATUS, "org.freedesktop.DBus.Properties.Get", "v", *arguments, signature="ss")
    assert on == ("b", True)
    connection.close()


def test_nothing_that_a_bus_has_started_is_left_with_whoever_adopts_it(tmp_path: Path) -> None:
    code = """
        import asyncio, os, sys, psutil
        from pathlib import Path
        from pluriverse_server.scraper.tree import adopt_orphans
        from pluriverse_server.sources.program.bus import AccessibilityBus

        async def main():
            adopt_orphans()
            bus = await AccessibilityBus.start(Path(sys.argv[1]), os.environ)
            assert len(psutil.Process().children(recursive=True)) > 1
            await bus.stop()
            print(len(psutil.Process().children(recursive=True)))

        asyncio.run(main())
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    assert subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout == "0\n"


async def test_two_buses_know_nothing_of_each_other(bus: AccessibilityBus, tmp_path: Path) -> None:
    (folder := tmp_path / "a b~%ü<&").mkdir()
    other = await AccessibilityBus.start(folder, os.environ)
    assert other.environment["AT_SPI_BUS_ADDRESS"] != bus.environment["AT_SPI_BUS_ADDRESS"]
    assert all((where / "bus").is_socket() for where in (tmp_path, folder))
    await other.stop()


async def test_bus_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "bus").mkdir()
    with pytest.raises(StartError, match=r"the accessibility bus did not start: .*dbus-daemon --config-file="):
        await AccessibilityBus.start(tmp_path, os.environ)


async def test_answers_of_another_type_and_errors_are_none(bus: AccessibilityBus) -> None:
    connection = Bus(bus.environment["AT_SPI_BUS_ADDRESS"])
    assert connection.ask(DRIVER, "org.freedesktop.DBus.GetId", "s")
    assert connection.ask(DRIVER, "org.freedesktop.DBus.GetId", "u") is None
    assert connection.ask(DRIVER, "org.freedesktop.DBus.NoSuchThing", "s") is None
    for nobody in (BusObject("no.such.owner", "/"), BusObject("", "/"), BusObject("no.such.owner", "no path")):
        assert connection.get(nobody, "org.a11y.atspi.Accessible.Name") is None
    assert connection.ask(DRIVER, "org.freedesktop.DBus.GetId", "s")
    assert not connection.switch_on(DRIVER, "org.a11y.Status.IsEnabled")
    await bus.stop()
    with pytest.raises(BusLost, match="the bus has ended"):
        connection.ask(DRIVER, "org.freedesktop.DBus.GetId", "s")
    connection.close()


@pytest.mark.parametrize("address", ["unix:path=/nowhere/at/all", "tcp:host=localhost", "nonsense"])
def test_no_connection_to_what_is_no_bus(address: str) -> None:
    with pytest.raises(BusLost, match="no connection to"):
        Bus(address)
