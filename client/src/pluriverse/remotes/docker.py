"""Remotes as containers of the image ``pluriverse/<runtime>``, labelled with the process that owns them.

What a crashed process left behind is removed when the next one starts: labels say who owned it.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import docker
import docker.errors
import requests.exceptions
from docker.models.containers import Container

from pluriverse.errors import ConfigurationError, RemoteUnavailable

from .address import REWARDER_PORT, VNC_PORT, Address
from .health import HEAL_S, wait_until_ready
from .local import generate_password
from .manager import Progress, start_side_by_side
from .owner import is_dead, this_process
from .runtimes import IMAGE_PREFIX

HOST: Final = "127.0.0.1"
LABEL: Final = "pluriverse.remote"
OWNER: Final = "pluriverse.owner"

# An engine that answers does so at once; one that hangs must not hang everything that looks whether it is there.
LOOK_S: Final = 5.0

# Creating a container on a busy machine takes seconds.
CALL_S: Final = 60.0

# As docker-compose.yml has it: a remote needs some 150 MB and a dozen processes, a browser several times that.
LIMITS: Final[dict[str, Any]] = {
    "read_only": True,
    "tmpfs": {"/tmp": ""},  # noqa: S108 - in the container
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges:true"],
    "mem_limit": "1g",
    "pids_limit": 256,
}

# Any free ones of this machine; the SDK's types have no None here, its documentation does.
_PORTS: Final[Any] = {f"{VNC_PORT}/tcp": (HOST, None), f"{REWARDER_PORT}/tcp": (HOST, None)}

# What the SDK lets out, beside its own, when the engine goes away in the middle of a call.
_ERRORS: Final = (docker.errors.DockerException, requests.exceptions.RequestException)


class DockerRemotes:
    """``n`` containers of one runtime."""

    def __init__(self, n: int, runtime: str, env_id: str, *, start_timeout_s: float) -> None:
        """Nothing is started yet, but what dead processes left behind is removed.

        Raises:
            ConfigurationError: no engine answers, or it hasn't the image.
        """
        reason = why_unavailable(runtime)
        if reason is not None:
            raise ConfigurationError(f"a container can't be started: {reason}")
        self._n = n
        self._runtime = runtime
        self._env_id = env_id
        self._start_timeout_s = start_timeout_s
        self._client = docker.from_env(timeout=int(CALL_S))
        self._containers: list[Container | None] = [None] * n
        self._addresses: list[Address | None] = [None] * n
        self._lock = threading.Lock()
        self._closed = False
        sweep(self._client)

    @property
    def n(self) -> int:
        """How many remotes there are."""
        return self._n

    def start(self, progress: Progress) -> Sequence[Address]:
        """Start all side by side, and wait until each is ready.

        Raises:
            RemoteUnavailable: one could not be started; those that were are gone again.
        """
        return start_side_by_side(
            self, self._start_one, f"starting a container of {IMAGE_PREFIX}{self._runtime}", progress
        )

    def replace(self, index: int) -> Address:
        """The same address if the container runs and is ready again soon, else that of another one.

        Raises:
            RemoteUnavailable: it could not be started.
        """
        container, address = self._containers[index], self._addresses[index]
        if container is not None and address is not None:
            try:
                wait_until_ready(address, HEAL_S, lambda: self._require_running(container))
            except RemoteUnavailable:
                pass  # dead, frozen, or beyond its own healing
            else:
                return address
        return self._start_one(index)

    def close(self) -> None:
        """Remove all, side by side."""
        with self._lock:
            already, self._closed = self._closed, True
            containers = [container for container in self._containers if container is not None]
            self._containers = [None] * self._n
        _remove_all(containers)
        if not already:
            self._client.close()

    def _start_one(self, index: int) -> Address:
        with self._lock:
            before, self._containers[index] = self._containers[index], None
        if before is not None:
            _remove(before)
        password = generate_password()
        with _explained("a container could not be started"):
            container = self._create(index, password)
            container.reload()
            address = Address(HOST, _published(container, VNC_PORT), _published(container, REWARDER_PORT), password)
        wait_until_ready(address, self._start_timeout_s, lambda: self._require_running(container))
        self._addresses[index] = address
        return address

    def _create(self, index: int, password: str) -> Container:
        # Under the lock, so that close() misses none.
        with self._lock:
            if self._closed:
                raise RemoteUnavailable("the environment is being closed")
            container = self._client.containers.create(
                IMAGE_PREFIX + self._runtime,
                name=f"pluriverse-{self._runtime}-{secrets.token_hex(4)}",
                environment={"PLURIVERSE_PASSWORD": password, "PLURIVERSE_ENV": self._env_id},
                ports=_PORTS,
                labels={LABEL: self._runtime, OWNER: this_process(), "pluriverse.index": str(index)},
                **LIMITS,
            )
            self._containers[index] = container
        container.start()
        return container

    def _require_running(self, container: Container) -> None:
        if self._closed:
            raise RemoteUnavailable("the environment is being closed")
        with _explained("a container is gone"):
            container.reload()
            if container.status != "running":
                said = container.logs(tail=20).decode(errors="replace").strip()
                raise RemoteUnavailable(f"the container is {container.status}; it said last:\n{said}")


def why_unavailable(runtime: str) -> str | None:
    """None if an engine answers and has the runtime's image; else why not, and what mends it."""
    image = IMAGE_PREFIX + runtime
    try:
        client = docker.from_env(timeout=int(LOOK_S))
    except _ERRORS as error:
        return f"no Docker engine answers ({error}); see whether it runs with: docker info"
    try:
        client.images.get(image)
    except docker.errors.ImageNotFound:
        return f"the engine has no image {image}; build it in a checkout with: make image RUNTIME={runtime}"
    except _ERRORS as error:
        return f"the Docker engine fails: {error}"
    finally:
        client.close()
    return None


def sweep(client: docker.DockerClient) -> None:
    """Remove the containers of processes of this machine that are dead."""
    with contextlib.suppress(*_ERRORS):
        for container in client.containers.list(all=True, filters={"label": OWNER}, ignore_removed=True):
            if is_dead(container.labels.get(OWNER, "")):
                _remove(container)


def _remove_all(containers: Sequence[Container]) -> None:
    if not containers:
        return
    with ThreadPoolExecutor(len(containers)) as pool:
        try:
            list(pool.map(_remove, containers))
        except RuntimeError:
            # When Python exits no thread can be started any more: then one by one.
            for container in containers:
                _remove(container)


def _remove(container: Container) -> None:
    # It may be gone already, or the engine; there is no more that could be done about it.
    with contextlib.suppress(*_ERRORS):
        container.remove(force=True, v=True)


def _published(container: Container, port: int) -> int:
    bindings = container.ports.get(f"{port}/tcp")
    if not bindings:
        raise RemoteUnavailable(f"the container has ended, or its port {port} is not published")
    return int(bindings[0]["HostPort"])


@contextlib.contextmanager
def _explained(what: str) -> Generator[None]:
    try:
        yield
    except _ERRORS as error:
        raise RemoteUnavailable(f"{what}: {error}") from error
