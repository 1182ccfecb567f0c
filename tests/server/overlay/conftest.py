"""Overlays on a screen, and both ways that an agent's keys and buttons come in."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
from pluriverse_server.display import Injector, Screen
from pluriverse_server.process import ChildProcess
from pluriverse_server.remote.overlay import start_overlay
from support.input_devices import InjectorDevice, InputDevice
from support.rfb import RfbClient


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
