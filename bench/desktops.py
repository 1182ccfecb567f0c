"""The screens that are compared: ours on both backends, and TigerVNC's two servers as they come."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
from pluriverse_server.display import Backend
from screen import HEIGHT, WIDTH
from support.ports import free_port
from support.xvfb import bare_xvfb

BENCH: Final = Path(__file__).parent
GEOMETRY: Final = f"{WIDTH}x{HEIGHT}"

START_DEADLINE_S: Final = 20.0

# How often a server that starts is knocked at.
KNOCK_S: Final = 0.005

STOP_S: Final = 5.0


@dataclass(frozen=True)
class Desktop:
    """A screen with its VNC port; ``environment`` is what a program needs in order to draw on it.

    Ours have a VNC proxy on that port, and the VNC server behind it on a socket.
    """

    vnc_port: int
    environment: dict[str, str]
    servers: list[psutil.Process]
    vnc_proxy: psutil.Process | None = None
    vnc_socket: Path | None = None


def python_environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """The environment of a Python child that imports the tests' helpers and the other modules here."""
    return {**os.environ, **(extra or {}), "PYTHONPATH": f"{BENCH.parent / 'tests'}:{BENCH}"}


@contextmanager
def ours(backend: Backend) -> Generator[Desktop]:
    """A screen as our remotes have it, without a password."""
    command = [sys.executable, str(BENCH / "screen.py"), backend]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=python_environment(), stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # Leaving the block closes its input, which ends it.
        where = json.loads(process.stdout.readline())
        servers = [psutil.Process(pid) for pid in where["servers"]]
        vnc_proxy = psutil.Process(where["vnc_proxy"])
        yield Desktop(where["vnc_port"], where["environment"], servers, vnc_proxy, Path(where["vnc_socket"]))


@contextmanager
def plain_x0() -> Generator[Desktop]:
    """Xvfb, and X0tigervnc with its own defaults."""
    port = free_port()
    with ExitStack() as stack:
        display, xvfb = stack.enter_context(bare_xvfb(WIDTH, HEIGHT))
        command = ["X0tigervnc", "-display", display, "-rfbport", str(port), "-localhost", "-SecurityTypes", "None"]
        vnc = stack.enter_context(running(command))
        _wait_for_port(port, vnc)
        yield Desktop(port, {"DISPLAY": display}, [psutil.Process(xvfb), psutil.Process(vnc.pid)])


@contextmanager
def plain_xvnc() -> Generator[Desktop]:
    """Xtigervnc with its own defaults."""
    port = free_port()
    command = ["Xtigervnc", "-geometry", GEOMETRY, "-depth", "24", "-rfbport", str(port), "-localhost"]
    reads, writes = os.pipe()
    with os.fdopen(reads) as answer:
        options = ["-SecurityTypes", "None", "-displayfd", str(writes), "-nolisten", "tcp"]
        with running([*command, *options], pass_fds=(writes,)) as server:
            os.close(writes)
            _wait_for_port(port, server)
            yield Desktop(port, {"DISPLAY": f":{answer.readline().strip()}"}, [psutil.Process(server.pid)])


@contextmanager
def running(
    command: list[str], env: dict[str, str] | None = None, pass_fds: tuple[int, ...] = ()
) -> Generator[subprocess.Popen[bytes]]:
    """A child that is ended and reaped with the context."""
    process = subprocess.Popen(
        command,
        env=env,
        pass_fds=pass_fds,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def program_on(desktop: Desktop, script: str, *arguments: str) -> Generator[psutil.Process]:
    """One of the programs here on a screen; the context begins when it has printed a line: it has drawn."""
    process = subprocess.Popen(
        [sys.executable, str(BENCH / script), *arguments],
        env=python_environment(desktop.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        if not process.stdout.readline():
            raise OSError(f"{script} ended with status {process.wait()} before it drew anything")
        yield psutil.Process(process.pid)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _wait_for_port(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_DEADLINE_S
    while server.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(KNOCK_S)
        else:
            return
    raise OSError(f"nothing listens on port {port}")
