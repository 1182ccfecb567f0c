"""An agent that is a program with an MCP client: it gets a server's address, and plays one episode through it."""

from __future__ import annotations

import contextlib
import importlib
import os
import secrets
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Generator
from typing import Final

from pluriverse.errors import ConfigurationError, needed

from pluriverse_eval.play import Play

from .agent import AgentFailed

# How often the episode is looked at while the program plays, and how long a program may play one.
LOOK_S: Final = 0.2
EPISODE_S: Final = 3600.0

# Within which a program ends that is told to.
END_S: Final = 5.0

HOST: Final = "127.0.0.1"


class McpAgent:
    """Runs the program once for each episode.

    Its environment has ``PLURIVERSE_MCP_URL``, ``PLURIVERSE_TOKEN`` (the bearer token), ``PLURIVERSE_HANDLE`` (which
    each tool takes) and ``PLURIVERSE_TASK`` (what to do, in words). The episode is begun; it may look and act.
    """

    def __init__(self, words: str) -> None:
        """``words``: the command, quoted as in a shell; raise ConfigurationError without the extra mcp."""
        with needed("mcp", extra="mcp"):
            importlib.import_module("mcp.server")
        try:
            self._words = shlex.split(words)
        except ValueError as error:
            raise ConfigurationError(f"--agent mcp:{words}: {error}") from error

    def play(self, play: Play) -> None:
        """Play until the episode is over or the program has ended; raise AgentFailed if it fails."""
        token = secrets.token_urlsafe()
        with serving(play, token) as (url, handle):
            told = {"PLURIVERSE_MCP_URL": url, "PLURIVERSE_TOKEN": token, "PLURIVERSE_HANDLE": handle}
            environment = {**os.environ, **told, "PLURIVERSE_TASK": play.task.asks}
            try:
                process = subprocess.Popen(
                    self._words, env=environment, stdin=subprocess.DEVNULL, start_new_session=True
                )
            except OSError as error:
                raise AgentFailed(f"{self._words[0]} can't be started: {error.strerror}") from error
            deadline = time.monotonic() + EPISODE_S
            try:
                while not play.over and time.monotonic() < deadline:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(LOOK_S)
                        break
            finally:
                _stop(process)
        if not play.over and process.returncode:
            raise AgentFailed(f"the program ended with status {process.returncode} before the episode was over")

    def close(self) -> None:
        """Do nothing."""


@contextlib.contextmanager
def serving(play: Play, token: str) -> Generator[tuple[str, str]]:
    """Serve a play to MCP's clients that have the token; yield the address and the handle."""
    import uvicorn
    from pluriverse.serving.computers import Computers
    from pluriverse.serving.mcp_run import http_app
    from pluriverse.serving.mcp_server import Server
    from pluriverse.serving.offered import Offered
    from pluriverse.serving.web import GRACE_S

    computers = Computers(None, clock=play.clock)
    handle = computers.lend(play)
    app = http_app(Server(computers, Offered((), "1"), ("look", "act")), HOST, token)
    with socket.create_server((HOST, 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=GRACE_S))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://{HOST}:{listener.getsockname()[1]}/mcp", handle
        finally:
            server.should_exit = True
            thread.join()
            computers.close(handle)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group, and its group: kindly at first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(END_S)
        except ProcessLookupError:
            process.wait()
            return
        except subprocess.TimeoutExpired:
            continue
