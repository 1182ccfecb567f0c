"""TCP ports for tests."""

import itertools
import os
import random
import socket
from pathlib import Path
from typing import Final

# Below those that Linux gives to outgoing connections and to servers that ask for any, and above compose's.
FIRST: Final = 17000
LAST: Final = 32767
WORKERS: Final = 16

# Each worker of pytest-xdist has a slice of its own. It begins somewhere in it: other runs may share the machine.
_SLICE: Final = (LAST + 1 - FIRST) // WORKERS
_WORKER: Final = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS
_ports: Final = itertools.cycle(range(FIRST + _WORKER * _SLICE, FIRST + (_WORKER + 1) * _SLICE))
for _ in range(random.randrange(_SLICE)):
    next(_ports)


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nobody listens on, another at each call."""
    for port in itertools.islice(_ports, _SLICE):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port is left")


def listens(at: int | Path) -> bool:
    """Whether somebody listens at a port of this machine, or on a Unix socket."""
    address = str(at) if isinstance(at, Path) else ("127.0.0.1", at)
    with socket.socket(socket.AF_UNIX if isinstance(at, Path) else socket.AF_INET) as knocking:
        return knocking.connect_ex(address) == 0
