"""Tasks in lockstep, played twice by an agent in a whole remote: the same seed and actions give the same."""

import asyncio
import contextlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator

import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse_server.manifest.runtime import load
from pluriverse_server.programs.catalogue import load_catalogue
from support.nightly import nightly_but
from support.remotes import MachineRemote, on_machine
from support.repeated import Step, assert_repeatable, drawn_events, played_events
from support.wob import RUNTIME, TASK

pytestmark = [pytest.mark.slow, pytest.mark.display]

# Still, moving by timers, drawn on a canvas, and a flight search.
TASKS = ("mini.ClickTest", "mini.ChaseCircle", "mini.BisectAngle", "flight.Alaska")
# Half of the keys change in each, one by one.
STEPS = 4

# The fresh remotes that play each task, and how many others want the CPUs meanwhile.
REMOTES = 20
BUSY = 20
NIGHT_STEPS = 12
# Ten times as long as on two cores that do nothing else.
NIGHT_S = 24 * 3600
SEED = 5


@pytest.fixture(scope="module")
def remote(vendored: None) -> Iterator[MachineRemote]:
    """A remote that plays the runtime, for all tests; its temporary files have longer paths than sockets may have."""
    del vendored
    with tempfile.TemporaryDirectory(suffix="x" * 200) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        with on_machine(runtime="world-of-bits") as running:
            yield running


@pytest.mark.parametrize("task", nightly_but(TASKS[:1], TASKS))
def test_same_seed_and_actions_give_the_same_pictures_and_rewards(remote: MachineRemote, task: str) -> None:
    assert_repeatable(f"wob.{task}-v0", remote.address, frame_skip=4, steps=STEPS)


@contextlib.contextmanager
def busy(processes: int) -> Generator[None]:
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def played(address: str, env_id: str) -> list[Step]:
    """The first steps of a task, with many keys held."""
    with contextlib.closing(PluriverseEnv(env_id, remotes=address, clock="lockstep", actions="events")) as env:
        return played_events(env, SEED, drawn_events(SEED, NIGHT_STEPS, env.core.actions.keys, TASK))


@pytest.mark.nightly
@pytest.mark.timeout(NIGHT_S)
@pytest.mark.parametrize("others", [0, BUSY])
def test_every_task_is_the_same_in_each_of_many_fresh_remotes(vendored: None, others: int) -> None:
    del vendored
    tasks = sorted(asyncio.run(load_catalogue(RUNTIME, load(RUNTIME))))
    first: dict[str, list[Step]] = {}
    differing: list[tuple[int, str]] = []
    with busy(others):
        for number in range(REMOTES):
            # Each task comes after others, and some are the first of their remote.
            random.Random(number).shuffle(tasks)
            with on_machine(runtime="world-of-bits") as remote:
                for task in tasks:
                    taken = played(remote.address, task)
                    if taken != first.setdefault(task, taken):
                        differing.append((number, task))
    assert not differing
