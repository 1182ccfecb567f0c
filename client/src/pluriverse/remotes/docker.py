"""Remotes as containers of the image ``pluriverse/<runtime>``.

This process holds the other end of a container's standard input. When it ends, however it does, the engine closes that;
the daemon then ends, and the engine removes the container. A label names the process, so that a container whose daemon
hangs is removed when the next process starts some.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import weakref
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import docker
import docker.errors
import requests.exceptions
from docker.models.containers import Container
from docker.types import LogConfig
from pluriverse_protocol.rfb.security import generate_password

from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.runtimes import IMAGE_PREFIX, local_runtimes

from .address import REWARDER_PORT, VNC_PORT, Address
from .manager import StartedRemotes
from .owner import is_dead, this_process

HOST: Final = "127.0.0.1"
LABEL: Final = "pluriverse.remote"
OWNER: Final = "pluriverse.owner"

# An engine that works answers at once; one that hangs must not hang a mere check for it.
LOOK_S: Final = 5.0

# Creating a container on a busy machine takes seconds.
CALL_S: Final = 60.0

# What a container said last comes at once.
OUTPUT_S: Final = 2.0
OUTPUT_LINES: Final = 20
RECEIVE_BYTES: Final = 64 * 1024

# As in docker-compose.yml: a remote needs some 150 MB and a dozen processes, a browser several times that.
LIMITS: Final[dict[str, Any]] = {
    "read_only": True,
    "tmpfs": {"/tmp": ""},  # noqa: S108 - in the container
    # It drops root at once: these are for running the program as another user than the daemon.
    "user": "root",
    "cap_drop": ["ALL"],
    "cap_add": ["SETUID", "SETGID", "KILL", "DAC_OVERRIDE", "FOWNER"],
    "security_opt": ["no-new-privileges:true"],
    "mem_limit": "1g",
    "pids_limit": 256,
    "log_config": LogConfig(type=LogConfig.types.JSON, config={"max-size": "10m", "max-file": "3"}),
}

# None is any free port; the SDK's documentation has it, its types haven't.
_PORTS: Final[Any] = {f"{VNC_PORT}/tcp": (HOST, None), f"{REWARDER_PORT}/tcp": (HOST, None)}

NOT_STARTED: Final = "a container could not be started"

# The SDK's own errors, and those that it lets through when the engine goes away in the middle of a call.
ENGINE_ERRORS: Final = (docker.errors.DockerException, requests.exceptions.RequestException)


# A fork's child has a copy of each, and may live longer.
_lifelines: Final = weakref.WeakSet[socket.socket]()


def _let_go() -> None:
    for lifeline in _lifelines:
        lifeline.close()


os.register_at_fork(after_in_child=_let_go)


class Contained:
    """A container with a remote, which ends when ``lifeline`` is closed."""

    def __init__(self, container: Container, password: str) -> None:
        """Attach to a container that hasn't started yet."""
        self.container = container
        self._password = password
        self._lifeline = _attach(container, "stdin")
        _lifelines.add(self._lifeline)
        self._output = _attach(container, "stdout", "stderr")

    @property
    def address(self) -> Address:
        """Where it is, once it has begun."""
        return Address(HOST, self._published(VNC_PORT), self._published(REWARDER_PORT), self._password)

    def require_running(self) -> None:
        """Raise RemoteUnavailable, with its last output, unless it runs."""
        with _explained("a container is gone"):
            with contextlib.suppress(docker.errors.NotFound):
                self.container.reload()
                if self.container.status == "running":
                    return
            raise RemoteUnavailable(f"the container has ended; its last output:\n{self._last_output()}")

    def stop_listening(self) -> None:
        """Leave its further output to the engine's log: nobody reads it here."""
        self._output.close()

    def stop(self) -> None:
        """Remove it."""
        self.stop_listening()
        _remove(self.container)
        self._lifeline.close()

    def _last_output(self) -> str:
        """Return the last lines that it wrote before it ended."""
        received = b""
        with contextlib.suppress(OSError):
            while data := self._output.recv(RECEIVE_BYTES):
                received += data
        # Each piece has a header: which of the two streams it is of, and its length.
        written = b""
        while received:
            end = 8 + int.from_bytes(received[4:8], "big")
            written, received = written + received[8:end], received[end:]
        return "\n".join(written.decode(errors="replace").strip().splitlines()[-OUTPUT_LINES:])

    def _published(self, port: int) -> int:
        bindings = self.container.ports.get(f"{port}/tcp")
        if not bindings:
            raise RemoteUnavailable(f"the container has ended, or its port {port} is not published")
        return int(bindings[0]["HostPort"])


class DockerRemotes(StartedRemotes[Contained]):
    """``n`` containers of one runtime."""

    def __init__(self, n: int, runtime: str, env_id: str, *, start_timeout_s: float) -> None:
        """Remove what dead processes left behind; raise ``ConfigurationError`` unless an engine has the image."""
        reason = why_unavailable(runtime)
        if reason is not None:
            raise ConfigurationError(f"a container can't be started: {reason}")
        super().__init__(n, f"a container of {IMAGE_PREFIX}{runtime}", start_timeout_s=start_timeout_s)
        self._runtime = runtime
        self._env_id = env_id
        self._client = docker.from_env(timeout=int(CALL_S))
        sweep(self._client)

    def _make(self, index: int) -> Contained:
        password = generate_password()
        with _explained(NOT_STARTED):
            container = self._client.containers.create(
                IMAGE_PREFIX + self._runtime,
                name=f"pluriverse-{self._runtime}-{secrets.token_hex(4)}",
                environment={
                    "PLURIVERSE_PASSWORD": password,
                    "PLURIVERSE_ENV": self._env_id,
                    "PLURIVERSE_UNTIL_INPUT_ENDS": "1",
                },
                stdin_open=True,
                auto_remove=True,
                ports=_PORTS,
                labels={LABEL: self._runtime, OWNER: this_process(), "pluriverse.index": str(index)},
                **LIMITS,
            )
            try:
                return Contained(container, password)
            except BaseException:
                _remove(container)
                raise

    def _start_one(self, index: int) -> Address:
        remote = self._launch(index)
        try:
            return self._wait_for(remote, self._start_timeout_s)
        finally:
            remote.stop_listening()

    def _begin(self, remote: Contained) -> None:
        with _explained(NOT_STARTED):
            remote.container.start()
        remote.require_running()

    def _stop_all(self, remotes: Sequence[Contained]) -> None:
        if not remotes:
            return
        with ThreadPoolExecutor(len(remotes)) as pool:
            try:
                list(pool.map(Contained.stop, remotes))
            except RuntimeError:
                # When Python exits no thread can be started any more: then one by one.
                for remote in remotes:
                    remote.stop()

    def _release(self) -> None:
        self._client.close()


def why_unavailable(runtime: str) -> str | None:
    """Return None if an engine answers and has the runtime's image, else why not and what mends it."""
    image = IMAGE_PREFIX + runtime
    try:
        client = docker.from_env(timeout=int(LOOK_S))
    except ENGINE_ERRORS as error:
        return f"no Docker engine answers ({error}); see whether it runs with: docker info"
    try:
        client.images.get(image)
    except docker.errors.ImageNotFound:
        folder = local_runtimes().get(runtime, Path("runtimes", runtime))
        return f"the engine has no image {image}; build it in a checkout with: pluriverse-server build {folder}"
    except ENGINE_ERRORS as error:
        return f"the Docker engine fails: {error}"
    finally:
        client.close()
    return None


def sweep(client: docker.DockerClient) -> None:
    """Remove the containers of dead processes of this machine."""
    with contextlib.suppress(*ENGINE_ERRORS):
        for container in client.containers.list(all=True, filters={"label": OWNER}, ignore_removed=True):
            if is_dead(container.labels.get(OWNER, "")):
                _remove(container)


def _attach(container: Container, *streams: str) -> socket.socket:
    """Return a connection to standard streams of a container; of its input the first one, which ends with it."""
    params = {"stream": 1, **dict.fromkeys(streams, 1)}
    attached: Any = container.attach_socket(params=params)  # pyright: ignore[reportUnknownMemberType] - untyped params
    # The SDK would close it when Python collects its garbage.
    connection = socket.socket(fileno=attached._sock.detach())
    connection.settimeout(OUTPUT_S)
    return connection


def _remove(container: Container) -> None:
    # It may be gone already, or the engine: then nothing more can be done.
    with contextlib.suppress(*ENGINE_ERRORS):
        container.remove(force=True, v=True)


@contextlib.contextmanager
def _explained(what: str) -> Generator[None]:
    try:
        yield
    except ENGINE_ERRORS as error:
        raise RemoteUnavailable(f"{what}: {error}") from error
