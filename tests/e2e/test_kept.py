"""Whatever is done for ever: a remote gives back what it takes.

For gym-core a few of each in seconds; for every runtime, on both displays and in the image, many in the nightly run,
whose figures are in docs/operating.md.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse_authoring.recording.recorder import Recorder
from pluriverse_protocol.recordings import Header
from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.handshake import Handshake
from pluriverse_server.manifest.runtime import Manifest, load
from support.kept import Household, Kept
from support.remotes import PASSWORD, ROOT, ContainerRemote, MachineRemote, in_container, on_machine
from support.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.browser]

RUNTIMES: Final = sorted(path.name for path in (ROOT / "runtimes").iterdir())
DISPLAYS: Final = ("xvfb", "xvnc")
IMAGE: Final = "image"

# In seconds, or how many. What is made once, at the first, comes before.
FEW: Final = {"idle": 5, "agents": 5, "lockstep agents": 5, "viewers": 5, "recordings": 3, "resets": 20}
MANY: Final = {"idle": 600, "agents": 200, "lockstep agents": 200, "viewers": 200, "recordings": 200, "resets": 1000}
BEFORE: Final = 3
# Seconds: three minutes after its start Chromium looks at the processors, in another process.
IDLE_BEFORE_NIGHT: Final = 240

STEPS: Final = 3

# A scraped program's next one is started in the background, and takes a while.
FEW_SETTLED_S: Final = 2.0
MANY_SETTLED_S: Final = 20.0

# What may be there afterwards and wasn't before: allocators keep some of what was freed, and programs have their moods.
# What leaked a segment or a descriptor each time would have more.
BOUNDS: Final = Kept(
    daemon=8,
    x_server=8,
    # 1.15 has 10 to 22 MiB by chance, after 40 viewers as after 440.
    vnc_server=16,
    program=24,
    shared=8,
    segments=4,
    descriptors=4,
    threads=3,
    processes=1,
    tasks=1,
    files=2,
    agents=3,
)

# A browser keeps what it has loaded.
BOUNDS_OF_PAGES: Final = replace(BOUNDS, files=60)

FIGURES: Final = ROOT / "bench/kept.json"
TEN_HOURS_S: Final = 36_000


@dataclass
class Played:
    """A remote, and what it plays."""

    remote: MachineRemote | ContainerRemote
    household: Household
    manifest: Manifest
    runtime: str
    display: str

    @property
    def bounds(self) -> Kept:
        """What it may have more than before."""
        return BOUNDS if self.manifest.page is None else BOUNDS_OF_PAGES

    @property
    def env_id(self) -> str:
        """The environment that it begins with."""
        return self.manifest.runtime.default_env


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> Generator[Played]:
    runtime, display = request.param
    manifest = load(ROOT / "runtimes" / runtime)
    with contextlib.ExitStack() as stack:
        remote: MachineRemote | ContainerRemote
        if display == IMAGE:
            remote = stack.enter_context(in_container(runtime=runtime))
            remote.container.reload()
            pid, folder = remote.container.attrs["State"]["Pid"], "tmp"
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="k"))
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            patch.setenv("TMPDIR", folder)
            remote = stack.enter_context(on_machine("--display-backend", display, runtime=runtime))
            pid = remote.process.pid
        yield Played(remote, Household(pid, remote.port, folder), manifest, runtime, display)


# -- What is done ------------------------------------------------------------------------------------------------------


def stand_idle(_: Played, seconds: int) -> None:
    time.sleep(seconds)


def come_and_go(played: Played, count: int, clock: str = "realtime") -> None:
    """One agent after the other plays some steps."""
    for seed in range(count):
        with agent(played, clock) as env:
            env.reset(seed=seed)
            for _ in range(STEPS):
                env.step(env.action_space.sample())


def come_in_lockstep(played: Played, count: int) -> None:
    come_and_go(played, count, "lockstep")


def reset(played: Played, count: int) -> None:
    """One agent begins again and again."""
    with agent(played, "realtime") as env:
        for seed in range(count):
            env.reset(seed=seed)


def look(played: Played, count: int) -> None:
    """One browser after the other opens the viewer."""

    async def look_once() -> None:
        address = f"http://127.0.0.1:{played.remote.port}/viewer/"
        async with aiohttp.ClientSession() as session:
            async with session.get(address) as page:
                assert page.status == 200
            query = {"password": PASSWORD}
            async with (
                session.ws_connect(f"{address}state", params=query) as state,
                session.ws_connect(f"{address}vnc", params=query) as screen,
            ):
                await state.receive_json()
                shaking = Handshake()
                while shaking.done is None:
                    await screen.send_bytes(shaking.feed(await screen.receive_bytes()))
                size = shaking.done.width, shaking.done.height
                await screen.send_bytes(messages.framebuffer_update_request(0, 0, *size, incremental=False))
                await screen.receive_bytes()

    async def look_often() -> None:
        for _ in range(count):
            await look_once()

    asyncio.run(look_often())


def record(played: Played, count: int) -> None:
    """One recording after the other of what is on the screen."""
    variables, screen = played.household.variables(), played.manifest.runtime.screen

    async def record_once(path: Path) -> None:
        header = Header("any", "1", played.env_id, screen.width, screen.height, 60.0, time.time())
        recorder = await Recorder.start(path, header, variables)
        await eventually(lambda: recorder.updates or recorder.failed.done())
        await recorder.stop()

    async def record_often(folder: Path) -> None:
        for number in range(count):
            await record_once(folder / f"{number}.plrec")

    with tempfile.TemporaryDirectory(prefix="r") as folder:
        asyncio.run(record_often(Path(folder)))


def agent(played: Played, clock: str) -> PluriverseEnv:
    return PluriverseEnv(played.env_id, remotes=played.remote.address, clock=clock)


DONE: Final[dict[str, Callable[[Played, int], None]]] = {
    "idle": stand_idle,
    "agents": come_and_go,
    "lockstep agents": come_in_lockstep,
    "viewers": look,
    "recordings": record,
    "resets": reset,
}


# -- What is left ------------------------------------------------------------------------------------------------------


def grown(played: Played, what: str, amount: int, settled_s: float, before: int = BEFORE) -> Kept:
    """Return what the remote has more than before, once that much has been done."""
    if what == "lockstep agents" and "lockstep" not in played.manifest.clocks(played.env_id):
        pytest.skip(f"{played.env_id} has no lockstep")
    if what == "recordings" and played.display == IMAGE:
        pytest.skip("a container's screen is out of reach")
    DONE[what](played, before)
    then = played.household.settled(settled_s)
    DONE[what](played, amount)
    return played.household.grown_since(then, played.bounds)


@pytest.mark.parametrize("what", DONE)
@pytest.mark.parametrize("played", [("gym-core", display) for display in DISPLAYS], indirect=True, ids=DISPLAYS)
def test_remote_gives_back_what_it_takes(played: Played, what: str) -> None:
    left = grown(played, what, FEW[what], FEW_SETTLED_S)
    assert not left.beyond(played.bounds), left


@pytest.mark.nightly
@pytest.mark.timeout(TEN_HOURS_S)
@pytest.mark.parametrize("what", DONE)
@pytest.mark.parametrize(
    "played",
    [
        *(
            pytest.param((runtime, display), id=f"{runtime}-{display}", marks=pytest.mark.browser)
            for runtime in RUNTIMES
            for display in DISPLAYS
        ),
        pytest.param(("gym-core", IMAGE), id=f"gym-core-{IMAGE}", marks=pytest.mark.container),
    ],
    indirect=True,
)
def test_remote_gives_back_what_it_takes_all_night(played: Played, what: str) -> None:
    before = IDLE_BEFORE_NIGHT if what == "idle" else BEFORE
    left = grown(played, what, MANY[what], MANY_SETTLED_S, before)
    note(played, what, MANY[what], left)
    assert not left.beyond(played.bounds), left


def note(played: Played, what: str, amount: int, left: Kept) -> None:
    """Put figures among the others, in the place of those before."""
    row: dict[str, Any] = {"runtime": played.runtime, "display": played.display, "what": what, "amount": amount}
    ask = ["X0tigervnc", "-version"]
    if isinstance(played.remote, ContainerRemote):
        said = str(played.remote.container.exec_run(ask).output)
    else:
        said = str(subprocess.run(ask, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout)
    version = re.search(r"version ([\d.]+)", said)
    row |= {"tigervnc": version[1] if version else "?", "grown": asdict(left)}
    with FIGURES.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        rows: list[dict[str, Any]] = json.loads(file.read() or "[]")
        same = ("runtime", "display", "what")
        rows = [each for each in rows if any(each[name] != row[name] for name in same)]
        rows.append(row)
        rows.sort(key=lambda each: [each[name] for name in same])
        os.truncate(file.fileno(), 0)
        file.write(json.dumps(rows, indent=1) + "\n")
