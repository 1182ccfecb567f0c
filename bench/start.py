"""Measures how long a remote takes to start: as processes of this machine, and in a container."""

from __future__ import annotations

import asyncio
import http.client
import subprocess
import sys
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from subprocess import DEVNULL
from typing import Final

from desktops import plain_x0, program_on, running
from painted import PaintedClock
from remote import PONG
from report import Effort, Figures, Line, Measurement, Target, percentile
from support.agent import connected
from support.ports import free_port
from support.remotes import IMAGE, PASSWORD, ROOT, engine_has_image
from support.rfb import RfbClient, RfbError

DEADLINE_S: Final = 60.0

# How often a port that isn't there yet is tried.
KNOCK_S: Final = 0.005

HARDENED: Final = ("--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges:true")


def run(effort: Effort) -> Figures:
    """Seconds."""
    times = effort.of(5, 2)
    # The first start on a machine compiles Python; those that follow are what is measured.
    _start_embedded()
    _start_plain()
    figures: Figures = {
        "embedded": percentile([_start_embedded() for _ in range(times)], 50),
        "plain": percentile([_start_plain() for _ in range(times)], 50),
    }
    if engine_has_image():
        figures["container"] = percentile([_start_container() for _ in range(times)], 50)
        figures["bare_container"] = percentile([_start_bare_container() for _ in range(times)], 50)
    else:
        print(f"start: no Docker engine with {IMAGE}, so no container was started; make image", file=sys.stderr)
    return figures


def _start_embedded() -> float:
    """From the process's start until the game's first frame is at a VNC client and an observer has heard "running"."""
    port, vnc_port = free_port(), free_port()
    ports = ["--vnc-port", str(vnc_port), "--rewarder-port", str(port)]
    command = [sys.executable, "-m", "pluriverse_server", "run", str(ROOT / "runtimes/gym-core"), *ports]
    began = time.perf_counter()
    with running([*command, "--password", PASSWORD, "--env", PONG]) as process:
        with _first_viewer(vnc_port, PASSWORD, process) as viewer:
            PaintedClock(viewer).wait_for_first()
        asyncio.run(_hear_running(port, process))
        return time.perf_counter() - began


def _start_plain() -> float:
    began = time.perf_counter()
    with (
        plain_x0() as desktop,
        RfbClient("127.0.0.1", desktop.vnc_port) as viewer,
        program_on(desktop, "plain_pong.py"),
    ):
        PaintedClock(viewer).wait_for_first()
        return time.perf_counter() - began


@contextmanager
def _first_viewer(port: int, password: str, process: subprocess.Popen[bytes]) -> Generator[RfbClient]:
    deadline = time.monotonic() + DEADLINE_S
    while True:
        try:
            viewer = RfbClient("127.0.0.1", port, password)
            break
        except (OSError, RfbError):
            _give_up_or_wait(deadline, process)
    with viewer:
        yield viewer


async def _hear_running(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while True:
        try:
            async with connected(port, PASSWORD, observer=True) as observer:
                await observer.hear_method("v0.env.describe", env_state="running")
                return
        except OSError:
            _give_up_or_wait(deadline, process)


def _give_up_or_wait(deadline: float, process: subprocess.Popen[bytes] | None = None) -> None:
    if time.monotonic() > deadline or (process is not None and process.poll() is not None):
        raise OSError(f"the remote was not up within {DEADLINE_S:.0f} s, or ended")
    time.sleep(KNOCK_S)


# ── containers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _start_container() -> float:
    """From ``docker run`` until ``/readyz`` answers 200: an environment runs."""
    port = free_port()
    began = time.perf_counter()
    with _container("-p", f"127.0.0.1:{port}:15900", "-p", "127.0.0.1::5900", IMAGE):
        deadline = time.monotonic() + DEADLINE_S
        while not _is_ready(port):
            _give_up_or_wait(deadline)
        return time.perf_counter() - began


def _start_bare_container() -> float:
    """The same image with nothing but Xvfb and X0tigervnc in it, until the latter greets."""
    port = free_port()
    servers = (
        "Xvfb :1 -nolisten tcp & while [ ! -S /tmp/.X11-unix/X1 ]; do sleep 0.01; done;"
        " exec X0tigervnc -display :1 -rfbport 5900 -SecurityTypes None"
    )
    began = time.perf_counter()
    with _container("-p", f"127.0.0.1:{port}:5900", "--entrypoint", "tini", IMAGE, "--", "sh", "-c", servers):
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                RfbClient("127.0.0.1", port).close()
                return time.perf_counter() - began
            except (OSError, RfbError):
                _give_up_or_wait(deadline)


@contextmanager
def _container(*arguments: str) -> Generator[None]:
    name = f"pluriverse-bench-{uuid.uuid4().hex[:8]}"
    try:
        subprocess.run(["docker", "run", "--detach", "--name", name, *HARDENED, *arguments], check=True, stdout=DEVNULL)
        yield
    finally:
        subprocess.run(["docker", "rm", "--force", "--volumes", name], check=False, stdout=DEVNULL, stderr=DEVNULL)


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        # The engine's proxy takes connections before anybody listens behind it.
        return False
    finally:
        connection.close()


PLAIN: Final = "Gymnasium in pygame on Xvfb and X0tigervnc"
BARE: Final = "the same image with Xvfb and X0tigervnc alone → greeting"

MEASUREMENT: Final = Measurement(
    "start",
    (
        Line("embedded start → first frame, running", "s", "embedded", Target(1.5), "plain", PLAIN),
        Line("docker run → ready", "s", "container", Target(2.5), "bare_container", BARE),
    ),
    run,
)
