"""Remotes of this machine as a cluster has them: the same ports at addresses of their own, and one token for all."""

import contextlib
import itertools
import os
import random
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from support.ports import free_port
from support.remotes import started

TOKEN: Final = "the-token-of-the-fleet"

# Linux has all of 127.0.0.0/8; other runs may share the machine.
# A program that is ready whenever it is asked to be, and starts as fast as Python does.
PROGRAM: Final = """
import json, os, socket
daemon = socket.socket(socket.AF_UNIX)
daemon.connect(os.environ["PLURIVERSE_SOCKET"])
for line in daemon.makefile("rb"):
    request = json.loads(line)
    if request["request"] == "reset":
        daemon.sendall(json.dumps({"report": "ready", "episode": request["episode"]}).encode() + b"\\n")
"""
RUNTIME: Final = """
program = { command = ["python", "-I", "-S", "program.py"], ready.report = "ready" }
reset.by = "report"
rewards = [{ source = "reports" }]
envs = [{ id = "waiting.Waiting-v0" }]
[runtime]
id = "waiting"
version = "0.1.0"
title = "A program that waits"
default_env = "waiting.Waiting-v0"
screen = { width = 320, height = 200 }
"""

_NETWORK: Final = f"127.{random.randrange(1, 250)}.{random.randrange(1, 250)}"


class RunningPods:
    """Remotes by address, each as if it were in a pod of its own."""

    def __init__(self, folder: Path, tls: tuple[Path, Path] | None = None) -> None:
        """``tls``: the certificate and key of all, None without."""
        self.token_file = folder / "token"
        self.token_file.write_text(TOKEN + "\n")
        self._tokens = folder / "tokens"
        self._tokens.write_text(f"operator fleet {TOKEN}\n")
        self._folder = folder
        self._tls = tls
        (folder / "program.py").write_text(PROGRAM)
        (folder / "runtime.toml").write_text(RUNTIME)
        self.port, self.vnc_port = free_port(), free_port()
        self._numbers = itertools.count(1)
        self._running: dict[str, contextlib.ExitStack] = {}
        self._lock = threading.Lock()

    @property
    def options(self) -> str:
        """Those of kubernetes:N that find them."""
        return f"token={self.token_file}&port={self.port}&vnc_port={self.vnc_port}"

    def hosts(self, count: int) -> list[str]:
        """The addresses of so many that run; those that are missing are started."""
        with ThreadPoolExecutor(count) as threads:
            for starting in [threads.submit(self.start) for _ in range(count - len(self._running))]:
                starting.result()
        return list(self._running)[:count]

    def start(self) -> str:
        with self._lock:
            host = f"{_NETWORK}.{next(self._numbers)}"
        command = [sys.executable, "-m", "pluriverse_server", "run", str(self._folder), "--host", host]
        command += ["--vnc-port", str(self.vnc_port), "--rewarder-port", str(self.port), "--tokens", str(self._tokens)]
        if self._tls is not None:
            command += ["--tls-cert", str(self._tls[0]), "--tls-key", str(self._tls[1])]
        running = contextlib.ExitStack()
        running.enter_context(started(command, {**os.environ, "PLURIVERSE_PASSWORD": ""}))
        with self._lock:
            self._running[host] = running
        return host

    def end(self, host: str) -> None:
        with self._lock:
            running = self._running.pop(host, None)
        if running is not None:
            running.close()

    def close(self) -> None:
        for host in list(self._running):
            self.end(host)


@contextlib.contextmanager
def running_pods(folder: Path, tls: tuple[Path, Path] | None = None) -> Generator[RunningPods]:
    pods = RunningPods(folder, tls)
    try:
        yield pods
    finally:
        pods.close()
