"""Games that grab the pointer are turned by just as far as an agent moves it, in either kind of time."""

import contextlib
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse_protocol.events import PointerEvent, RelativePointerEvent
from support.grabbing import GRABBING, shown
from support.remotes import MachineRemote, on_machine
from support.scraped import ENV, write_runtime
from websockets.sync.client import connect

pytestmark = [pytest.mark.slow, pytest.mark.display]

DEADLINE_S = 20.0


@pytest.fixture(scope="module", params=["libSDL2-2.0.so.0", "libSDL-1.2.so.0"])
def game(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineRemote]:
    """A remote of a game that grabs the pointer."""
    with grabbing(tmp_path_factory.mktemp("grabbing"), request.param) as remote:
        yield remote


@contextlib.contextmanager
def grabbing(folder: Path, library: str, **program: Any) -> Generator[MachineRemote]:
    write_runtime(
        folder,
        program={"command": ["python", "game.py", library], "clock": ["realtime", "lockstep"], **program},
        reset={"by": "restart", "start": []},
        rewards=[],
        spaces={"pointer": True, "relative": True, "buttons": 9},
    )
    (folder / "game.py").write_text(GRABBING)
    with on_machine(runtime=str(folder)) as remote:
        yield remote


def until_shown(env: PluriverseEnv, action: Any, wanted: tuple[int, int, int]) -> None:
    """Act once, and look until the game shows this."""
    seen, idle = shown(env.step(action)[0]), type(action)()
    deadline = time.monotonic() + DEADLINE_S
    while seen != wanted and time.monotonic() < deadline:
        seen = shown(env.step(idle)[0])
    assert seen == wanted


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
def test_a_game_that_grabs_the_pointer_turns_as_far_as_it_is_moved(game: MachineRemote, clock: Any) -> None:
    with contextlib.closing(PluriverseEnv(ENV, remotes=game.address, clock=clock)) as env:
        picture = env.reset(seed=3)[0]
        x, y, _ = shown(cast("NDArray[np.uint8]", picture))
        assert env.action_space.contains({"pointer": np.array([-319, 199]), "buttons": np.ones(9, np.int8)})
        held = [0] * 9
        for dx, dy, button in ((40, -25, 0), (-150, 0, 2), (7, 99, 1), (0, 0, 0)):
            held[button] ^= 1
            x, y = x + dx, y + dy
            mask = sum(down << bit for bit, down in enumerate(held))
            until_shown(env, {"pointer": [dx, dy], "buttons": held}, (x, y, mask))


def test_a_person_turns_it_in_the_viewer(game: MachineRemote) -> None:
    asked = f"http://127.0.0.1:{game.port}/viewer/ask/act?password={game.password}"
    with contextlib.closing(PluriverseEnv(ENV, remotes=game.address)) as env:
        x, y, _ = shown(cast("NDArray[np.uint8]", env.reset()[0]))
        for dx, status in ((70_000, 400), (9, 200)):
            answer = httpx.post(asked, json={"events": [["RelativePointerEvent", dx, -3, 4]]})
            assert answer.status_code == status, answer.text
        until_shown(env, {}, (x + 9, y - 3, 4))


def test_what_a_person_holds_in_the_viewer_is_let_go_of_as_they_leave(tmp_path: Path) -> None:
    with grabbing(tmp_path, "libSDL2-2.0.so.0", pads=1) as game:
        viewer = f"//127.0.0.1:{game.port}/viewer/%s?password={game.password}&control=1"
        held = {"events": [["RelativePointerEvent", 9, -3, 4], ["JoystickButton0Event", 1]]}
        with contextlib.closing(PluriverseEnv(ENV, remotes=game.address, actions="events")) as env:
            x, y, _ = shown(cast("NDArray[np.uint8]", env.reset()[0]))
            with connect("ws:" + viewer % "vnc"):
                httpx.post("http:" + viewer % "ask/act", json=held).raise_for_status()
                until_shown(env, [], (x + 9, y - 3, 4 | 1 << 9))
            until_shown(env, [], (x + 9, y - 3, 0))


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
def test_equal_movements_of_one_step_add_up(game: MachineRemote, clock: Any) -> None:
    with contextlib.closing(PluriverseEnv(ENV, remotes=game.address, clock=clock, actions="events")) as env:
        x, y, _ = shown(cast("NDArray[np.uint8]", env.reset()[0]))
        moves = (3, -2), (3, -2), (3, -2), (0, 7), (0, 7), (2, 0), (2, 0), (2, 0), (0, 1), (0, 1)
        events = [RelativePointerEvent(*move, mask) for mask in (0, 1) for move in moves]
        until_shown(env, events, (x + 30, y + 20, 1))


def test_a_place_still_is_one(game: MachineRemote) -> None:
    with contextlib.closing(PluriverseEnv(ENV, remotes=game.address, clock="lockstep", actions="events")) as env:
        env.reset(seed=3)
        env.step([PointerEvent(100, 90, 1)])
        assert shown(env.step([])[0])[2] == 1
