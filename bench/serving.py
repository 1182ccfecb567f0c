"""Steps a second of OpenEnv's own client, and the bytes that a step is answered with, over loopback."""

from __future__ import annotations

import contextlib
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from openenv.core import GenericEnvClient  # pyright: ignore[reportMissingTypeStubs]
from report import Effort, Figures, Line, Measurement, Target
from support.ports import free_port
from support.remotes import started
from websockets.sync.client import connect

PONG: Final = "gym-core.PongNoFrameskip-v3"
PLURIVERSE: Final = str(Path(sys.executable).with_name("pluriverse"))
PEER: Final = Path(__file__).with_name("peers") / "listing.py"

START_S: Final = 60.0
LOOK_S: Final = 0.1

# Each action is held for some frames, so that the paddle moves.
HELD: Final = 10
ACTIONS: Final = 6

# In a turn of each.
STEPS: Final = 60
KILO: Final = 1000


def run(effort: Effort) -> Figures:
    """Steps a second in turns, and the median of the bytes of an answer."""
    with ExitStack() as stack:
        addresses = {name: stack.enter_context(serving()) for name, serving in SERVERS.items()}
        figures = {f"{name}_kb": statistics.median(_sizes(address)) / KILO for name, address in addresses.items()}
        clients = {name: stack.enter_context(_client(address)) for name, address in addresses.items()}
        rates: dict[str, list[float]] = {name: [] for name in clients}
        for env in clients.values():
            env.reset(seed=1)
        for _ in range(effort.of(10, 3)):
            for name, env in clients.items():
                # In real time there is a frame that nobody has had.
                env.step(_action(0))
                began = time.perf_counter()
                for number in range(STEPS):
                    env.step(_action(number))
                rates[name].append(STEPS / (time.perf_counter() - began))
    return figures | {name: statistics.median(each) for name, each in rates.items()}


def _action(number: int) -> dict[str, Any]:
    return {"action": number // HELD % ACTIONS}


def _client(address: str) -> Any:
    client: Any = GenericEnvClient(base_url=address)
    return client.sync()


def _sizes(address: str) -> list[int]:
    """The bytes of the answers to some steps, as they come over the line."""
    with connect(address.replace("http", "ws") + "/ws", max_size=None, compression=None) as line:
        line.send(json.dumps({"type": "reset", "data": {"seed": 1}}))
        line.recv()
        sizes: list[int] = []
        for number in range(STEPS):
            line.send(json.dumps({"type": "step", "data": _action(number)}))
            sizes.append(len(line.recv(decode=False)))
    return sizes


def _ours(clock: str) -> Callable[[], Any]:
    @contextlib.contextmanager
    def serving() -> Generator[str]:
        where = f"127.0.0.1:{free_port()}"
        with started([PLURIVERSE, "openenv", PONG, "--remotes", "local:1", "--clock", clock, "--http", where]) as (
            _,
            said,
        ):
            yield said.split()[0]

    return serving


@contextlib.contextmanager
def _peer() -> Generator[str]:
    port = free_port()
    # It says much of each session that ends.
    process = subprocess.Popen([sys.executable, str(PEER), str(port)], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_S
        while not _listens(port):
            assert time.monotonic() < deadline, f"{PEER.name} does not listen"
            time.sleep(LOOK_S)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(START_S)


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


SERVERS: Final[dict[str, Callable[[], Any]]] = {
    "lockstep": _ours("lockstep"),
    "realtime": _ours("realtime"),
    "peer": _peer,
}

_PEER_TITLE: Final = "the game in OpenEnv's server itself, pictures as lists of integers"

MEASUREMENT: Final = Measurement(
    "openenv",
    (
        Line("Pong in lockstep, a frame a step", "steps/s", "lockstep", Target(low=60), "peer", _PEER_TITLE),
        Line("Pong in real time, at 60 fps", "steps/s", "realtime", Target(high=61, low=59)),
        Line("the answer to a step, a picture of 160x210", "KB", "lockstep_kb", Target(10), "peer_kb", _PEER_TITLE),
    ),
    run,
)
