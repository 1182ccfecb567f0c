"""Remotes as containers of the image ``pluriverse/<runtime>``.

This process holds the other end of a container's standard input. When it ends, however it does, the engine closes that;
the daemon then ends, and the engine removes the container. A label names the process, so that a container whose daemon
hangs is removed when the next process starts some.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import socket
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import docker
import docker.errors
import requests.exceptions
from docker.models.containers import Container
from docker.types import LogConfig
from pluriverse_protocol.rfb.security import generate_password

from pluriverse import forks
from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.runtimes import IMAGE_PREFIX, local_runtimes

from .address import PASSWORD_CHARS, REWARDER_PORT, VNC_PORT, Address, hide_password
from .engine import STARTED_HERE_AT_ONCE, Engine, EngineOptions
from .options import Bytes
from .owner import is_dead, this_process

HOST: Final = "127.0.0.1"
LABEL: Final = "pluriverse.remote"
OWNER: Final = "pluriverse.owner"

# An engine that works answers at once; one that hangs must not hang a mere check for it.
LOOK_S: Final = 5.0

# Creating a container on a busy machine takes seconds.
CALL_S: Final = 60.0

# A container's last output is read at once.
OUTPUT_S: Final = 2.0
OUTPUT_LINES: Final = 20
RECEIVE_BYTES: Final = 64 * 1024

# As in docker-compose.yml: a remote needs some 150 MB and a dozen processes, a browser several times that; and each
# snapshot of a program two processes, of 1 GiB in all.
LIMITS: Final[dict[str, Any]] = {
    "read_only": True,
    "tmpfs": {"/tmp": ""},  # noqa: S108 - in the container
    # It drops root at once: these are for running the program as another user than the daemon.
    "user": "root",
    "cap_drop": ["ALL"],
    "cap_add": ["SETUID", "SETGID", "KILL", "DAC_OVERRIDE", "FOWNER"],
    "security_opt": ["no-new-privileges:true"],
    "pids_limit": 10_000,
    "log_config": LogConfig(type=LogConfig.types.JSON, config={"max-size": "10m", "max-file": "3"}),
}

DEFAULT_MEMORY: Final = Bytes(2 * 1024**3)

NOT_STARTED: Final = "a container could not be started"

# The SDK's own errors, and those that it lets through when the engine goes away in the middle of a call.
ENGINE_ERRORS: Final = (docker.errors.DockerException, requests.exceptions.RequestException)


class Contained:
    """A container with a remote, which ends when ``lifeline`` is closed."""

    def __init__(self, container: Container, host: str, password: str) -> None:
        """Attach to a container that hasn't started yet; its ports are published on ``host``."""
        self.container = container
        self._host = host
        self._password = password
        self._lifeline = forks.keep(_attach(container, "stdin"))
        self._output = _attach(container, "stdout", "stderr")

    @property
    def address(self) -> Address:
        """Where it is, once it has begun."""
        return Address(self._host, self._published(VNC_PORT), self._published(REWARDER_PORT), self._password)

    def require_running(self) -> None:
        """Raise RemoteUnavailable, with its last output, unless it runs."""
        with explained("a container no longer exists"):
            with contextlib.suppress(docker.errors.NotFound):
                self.container.reload()
                if self.container.status == "running":
                    return
            raise RemoteUnavailable(f"the container has ended; its last output:\n{self._last_output()}")

    def stop_listening(self) -> None:
        """Leave its further output to the engine's log: it isn't read here."""
        self._output.close()

    def stop(self) -> None:
        self.stop_listening()
        _remove(self.container)
        self._lifeline.close()

    def _last_output(self) -> str:
        """Return the last lines that it wrote before it ended, without its password."""
        received = b""
        with contextlib.suppress(OSError):
            while data := self._output.recv(RECEIVE_BYTES):
                received += data
        # Each piece has a header: which of the two streams it is of, and its length.
        written = b""
        while received:
            end = 8 + int.from_bytes(received[4:8], "big")
            written, received = written + received[8:end], received[end:]
        output = hide_password(written.decode(errors="replace"), self._password)
        return "\n".join(output.strip().splitlines()[-OUTPUT_LINES:])

    def _published(self, port: int) -> int:
        bindings = self.container.ports.get(f"{port}/tcp")
        if not bindings:
            raise RemoteUnavailable(f"the container has ended, or its port {port} is not published")
        return int(bindings[0]["HostPort"])


@dataclass(frozen=True, kw_only=True)
class DockerOptions(EngineOptions):
    """``image`` instead of the runtime's; ``cpu``, in cores, and ``memory`` are limits of each container.

    ``host``: this machine's IP address to publish its ports on, by which others reach it.
    """

    host: str = HOST
    image: str | None = None
    cpu: float | None = None
    memory: Bytes = DEFAULT_MEMORY


class DockerEngine(Engine[Contained]):
    Options = DockerOptions
    STARTED_AT_ONCE = STARTED_HERE_AT_ONCE

    def __init__(self, runtime: str, env_id: str, options: DockerOptions) -> None:
        """Remove what dead processes left behind; raise ``ConfigurationError`` unless an engine has the image."""
        reason = why_unavailable(runtime, options.image)
        if reason is not None:
            raise ConfigurationError(f"a container can't be started: {reason}")
        self._image = options.image or IMAGE_PREFIX + runtime
        self.what = f"a container of {self._image}"
        self._options = options
        self._runtime = runtime
        self._env_id = env_id
        self._client = docker.from_env(timeout=int(CALL_S))
        sweep(self._client)

    def make(self) -> Contained:
        password = generate_password(PASSWORD_CHARS)
        # None is any free port; the SDK's documentation has it, its types haven't.
        ports: Any = {f"{port}/tcp": (self._options.host, None) for port in (VNC_PORT, REWARDER_PORT)}
        with explained(NOT_STARTED):
            container = self._client.containers.create(
                self._image,
                name=f"pluriverse-{self._runtime}-{secrets.token_hex(4)}",
                environment={
                    "PLURIVERSE_PASSWORD": password,
                    "PLURIVERSE_ENV": self._env_id,
                    "PLURIVERSE_FIRST_CLOCK": self.clock,
                    "PLURIVERSE_UNTIL_INPUT_ENDS": "1",
                },
                stdin_open=True,
                auto_remove=True,
                ports=ports,
                labels={LABEL: self._runtime, OWNER: this_process()},
                mem_limit=int(self._options.memory),
                nano_cpus=None if self._options.cpu is None else int(self._options.cpu * 1e9),
                **LIMITS,
            )
            try:
                return Contained(container, self._options.host, password)
            except BaseException:
                _remove(container)
                raise

    def begin(self, remote: Contained) -> None:
        with explained(NOT_STARTED):
            remote.container.start()
        remote.require_running()

    def started(self, remote: Contained) -> None:
        """Leave its further output to the engine's log."""
        remote.stop_listening()

    def close(self) -> None:
        self._client.close()


def why_unavailable(runtime: str, image: str | None = None) -> str | None:
    """Return None if an engine answers and has the image (None: the runtime's), else why not and what fixes it."""
    build = image is None
    image = image or IMAGE_PREFIX + runtime
    try:
        client = docker.from_env(timeout=int(LOOK_S))
    except ENGINE_ERRORS as error:
        has_client = shutil.which("docker") is not None
        fix = "check it with: docker info" if has_client else "install it with: apt-get install docker.io"
        return f"the Docker engine doesn't answer ({error}); {fix}"
    try:
        client.images.get(image)
    except docker.errors.ImageNotFound:
        if not build:
            return f"the engine lacks the image {image}; fetch it with: docker pull {image}"
        folder = local_runtimes().get(runtime, Path("runtimes", runtime))
        return f"the engine lacks the image {image}; build it in a checkout with: pluriverse-server build {folder}"
    except ENGINE_ERRORS as error:
        return f"the Docker engine failed: {error}"
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
def explained(what: str) -> Generator[None]:
    """Raise what the engine raises as ``RemoteUnavailable``."""
    try:
        yield
    except ENGINE_ERRORS as error:
        raise RemoteUnavailable(f"{what}: {error}") from error
