"""Screens of both kinds, overlays on them, and both ways that an agent's keys and buttons come in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from pluriverse_server.display import Backend, Injector, Screen, ScreenOptions, make_screen
from pluriverse_server.process import ChildProcess
from pluriverse_server.remote.overlay import start_overlay
from support.input_devices import InjectorDevice, InputDevice
from support.ports import free_port
from support.rfb import RfbClient
from support.xwindow import Window

WIDTH, HEIGHT = 320, 240


@pytest.fixture(params=["xvfb", "xvnc"])
async def screen(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Screen]:
    backend: Backend = request.param
    options = ScreenOptions(
        width=WIDTH,
        height=HEIGHT,
        vnc_port=free_port(),
        vnc_host="127.0.0.1",
        keyring=None,
        backend=backend,
        runtime_dir=tmp_path / "runtime",
        name="a test",
    )
    screen = make_screen(options)
    await screen.start()
    yield screen
    await screen.stop()


@pytest.fixture
async def overlay(screen: Screen) -> AsyncIterator[Callable[..., Awaitable[ChildProcess]]]:
    """Starts overlays with some arguments on the screen."""
    children: list[ChildProcess] = []

    async def start(*arguments: str) -> ChildProcess:
        children.append(await start_overlay(arguments, screen.environment))
        return children[-1]

    yield start
    for child in children:
        await child.stop()


@pytest.fixture
def window(screen: Screen) -> Iterator[Window]:
    with Window(screen.display, screen.xauthority) as window:
        yield window


@pytest.fixture
def viewer(screen: Screen) -> Iterator[RfbClient]:
    with RfbClient("127.0.0.1", screen.options.vnc_port) as viewer:
        yield viewer


@pytest.fixture
def injector(screen: Screen) -> Iterator[InputDevice]:
    """The way of actions over the rewarder protocol."""
    injector = Injector(screen.display, screen.xauthority)
    yield InjectorDevice(injector)
    injector.close()


@pytest.fixture(params=["viewer", "injector"])
def device(request: pytest.FixtureRequest) -> InputDevice:
    """Both ways that an agent's keys come in."""
    return request.getfixturevalue(request.param)
