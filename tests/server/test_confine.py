"""What a confined program can't do, in processes of their own."""

import contextlib
import ctypes
import os
import socket
import subprocess
import sys
from collections.abc import Generator, Sequence

import pytest
from pluriverse_server import confine

# Says of each kind of socket, and of a connection to each port on its command line, whether it is had.
TRY = """
import socket, sys
for kind in ("UNIX", "NETLINK", "INET", "INET6"):
    for way in ("STREAM", "DGRAM"):
        if (kind, way) != ("NETLINK", "STREAM"):
            try:
                socket.socket(getattr(socket, "AF_" + kind), getattr(socket, "SOCK_" + way)).close()
                print(f"{kind} {way}: had")
            except OSError as error:
                print(f"{kind} {way}: {error.strerror}")
for port in sys.argv[1:]:
    try:
        socket.create_connection(("127.0.0.1", int(port)), 5).close()
        print(f"{port}: had")
    except OSError as error:
        print(f"{port}: {error.strerror}")
"""

# Becomes its command line without capabilities, as where a container's were dropped.
WITHOUT_PRIVILEGES = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.capset((ctypes.c_uint32 * 2)(0x20080522), (ctypes.c_uint32 * 6)()) == 0
os.execvp(sys.argv[1], sys.argv[1:])
"""

REFUSED = "Permission denied"


def run(network: str, *command: str, before: Sequence[str] = ()) -> str:
    """The output of a confined command; ``before`` is what starts it."""
    line = [*before, sys.executable, "-I", "-S", confine.__file__, network, *command]
    return subprocess.run(line, check=True, capture_output=True, text=True, timeout=60).stdout


def tried(network: str, *ports: int) -> dict[str, str]:
    """What a confined program has had, and what it was refused with."""
    lines = run(network, sys.executable, "-c", TRY, *map(str, ports)).splitlines()
    return dict(line.split(": ") for line in lines)


@contextlib.contextmanager
def listener() -> Generator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_without_a_network_there_are_unix_sockets_alone() -> None:
    with listener() as port:
        had = tried(confine.NONE, port)
    assert [name for name, answer in had.items() if answer == "had"] == ["UNIX STREAM", "UNIX DGRAM", "NETLINK DGRAM"]
    assert {answer for answer in had.values() if answer != "had"} == {REFUSED}


def test_one_port_is_all_that_can_be_connected_to() -> None:
    with listener() as allowed, listener() as other:
        had = tried(str(allowed), allowed, other)
    assert had[str(allowed)] == "had"
    assert had["INET DGRAM"] == had["INET6 DGRAM"] == REFUSED
    if landlock_knows_ports():
        assert had[str(other)] == REFUSED


def landlock_knows_ports() -> bool:
    """Whether the kernel is of 6.7 or newer, and was not told to leave this out."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1) >= 4


def test_all_of_the_network_is_had_by_who_asks_for_it() -> None:
    with listener() as port:
        assert set(tried(confine.ALL, port).values()) == {"had"}


@pytest.mark.parametrize("network", [confine.ALL, confine.NONE, "80"])
def test_nobody_has_privileges_or_can_gain_any(network: str) -> None:
    status = run(network, "cat", "/proc/self/status")
    fields = dict(line.split(":\t", 1) for line in status.splitlines())
    # What root has left is what its terminals need: to give away their device, and to become the user that they are.
    kept = 1 << 0 | 1 << 6 | 1 << 7 if os.geteuid() == 0 else 0
    assert {fields[name] for name in ("CapPrm", "CapEff")} == {f"{kept:016x}"}
    assert {fields[name] for name in ("CapInh", "CapAmb")} == {"0" * 16}
    assert fields["NoNewPrivs"] == "1"


def test_root_without_privileges_keeps_none() -> None:
    status = run(confine.NONE, "cat", "/proc/self/status", before=[sys.executable, "-c", WITHOUT_PRIVILEGES])
    assert "CapPrm:\t0000000000000000" in status


@pytest.mark.skipif(
    subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False).returncode != 0,
    reason="addresses are always random here",
)
def test_confined_program_may_have_the_same_addresses_each_time() -> None:
    heaps = {run(confine.NONE, "setarch", "-R", "grep", "heap", "/proc/self/maps").split()[0] for _ in range(3)}
    assert len(heaps) == 1


def test_it_imports_next_to_nothing() -> None:
    command = [sys.executable, "-I", "-S", "-X", "importtime", confine.__file__, confine.NONE, "true"]
    imported = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stderr
    assert "ctypes" in imported
    assert not [name for name in ("typing", "asyncio", "pathlib", "collections") if f" {name}\n" in imported]
