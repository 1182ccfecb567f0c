"""Remotes as tasks of a service of a Docker Swarm: free ones are claimed, and where none is, one more is started.

Each remote is asked itself for a lease on it, so that several agents share a service and nobody keeps a list.

Swarm chooses by itself which tasks of a service go when it is made smaller, among them such as play. One more is
therefore a service of its own, with one task, and is removed as a whole. When this process is killed its lease runs
out and the remote ends by itself; what is left of its service is removed when the next process starts.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

import docker
import docker.errors

from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.remotes.address import Address
from pluriverse.remotes.docker import CALL_S, ENGINE_ERRORS, explained
from pluriverse.remotes.engine import Engine, EngineOptions
from pluriverse.remotes.health import is_silent
from pluriverse.remotes.lease import STOPPED, LeaseKeeper, Taken, claim
from pluriverse.remotes.parse import PASSWORD_VARIABLE

from .remote import SwarmRemote, remove_service
from .tasks import BESIDE, Task, choose_service, hosts_of, one_more, require_manager, task_of

# Between two questions about a task that starts.
ASK_AGAIN_S: Final = 0.2

# A task that finds no room waits, without end, as does one whose node is gone and not yet known to be. In a swarm in
# motion there is room within seconds.
WAIT_S: Final = 10.0

# Nodes may have to pull the image first.
START_S: Final = 600.0

# From when a task runs until its remote answers: a second, or much more on a machine that starts dozens at once.
ANSWER_S: Final = 60.0

# What runs for so long, and nobody has claimed it, was started by a process that was killed.
ORPHAN_S: Final = 60.0

log: Final = logging.getLogger(__name__)

FAILS: Final = "the swarm fails"


@dataclass(frozen=True, kw_only=True)
class SwarmOptions(EngineOptions):
    """``service``: its name, if several run the runtime's image. ``secret``: a file with its password."""

    service: str | None = None
    secret: str | None = None


class SwarmEngine(Engine[SwarmRemote]):
    """Tasks of the service that runs a runtime, and more beside it."""

    Options = SwarmOptions

    def __init__(self, runtime: str, env_id: str, options: SwarmOptions) -> None:
        """Find the service, and remove what killed processes started beside it."""
        self._password = _password(options.secret)
        try:
            # The SDK has no types of its lower half.
            self._client: Any = docker.from_env(timeout=int(CALL_S)).api
        except ENGINE_ERRORS as error:
            raise ConfigurationError(f"no Docker engine answers ({error}); see whether it runs: docker info") from error
        try:
            require_manager(self._client.info()["Swarm"])
            service = choose_service(self._client.services(), options.service, runtime)
            self._service: str = service["ID"]
            self._name: str = service["Spec"]["Name"]
            self.what = f"a remote of the service {self._name}"
            self._env_id = env_id
            self._sweep()
        except ENGINE_ERRORS as error:
            self._client.close()
            raise ConfigurationError(f"{FAILS}: {error}") from error
        except BaseException:
            self._client.close()
            raise
        self._keeper = LeaseKeeper()
        # By their tasks, those that this process has, or asks at the moment.
        self._ours: WeakValueDictionary[str, SwarmRemote] = WeakValueDictionary()
        self._lock = threading.Lock()

    def make(self) -> SwarmRemote:
        """Claim a free task of the service, or start one more beside it."""
        with explained(FAILS):
            tasks = self._tasks(self._service)
            hosts = hosts_of(self._client.nodes())
        random.shuffle(tasks)
        for task in tasks:
            address = task.address(hosts, self._password)
            if address is None:
                continue
            try:
                if (remote := self._claim(task, address)) is not None:
                    return remote
            except Taken:
                pass
            except RemoteUnavailable as error:
                log.info("%s; trying no others of its machine", error)
                del hosts[task.node]
        with explained("one more remote could not be started"):
            spec = self._client.inspect_service(self._service)["Spec"]
            name = f"{self._name}-{secrets.token_hex(4)}"
            created = self._client.create_service(**one_more(spec, name, self._env_id))
        return SwarmRemote(self._keeper, self._client, created["ID"], self._password)

    def begin(self, remote: SwarmRemote) -> None:
        """Wait for the task of one that was started, and claim it."""
        if remote.service is None:
            return
        with explained(FAILS):
            task = self._wait_for_task(remote, remote.service)
            address = task.address(hosts_of(self._client.nodes()), self._password)
        if address is None:
            raise RemoteUnavailable(f"the node {task.node} of the task {task.id} is down, or publishes no ports")
        remote.task = task.id
        with self._lock:
            self._ours[task.id] = remote
        deadline = time.monotonic() + ANSWER_S
        while is_silent(address) and time.monotonic() < deadline:
            remote.require_running()
            remote.pause(ASK_AGAIN_S)
        # It was started for this process, and ends with it.
        remote.claim(address, ends=True)

    def may_try_again(self, remote: SwarmRemote) -> bool:
        """Return whether it was of the service: another of it may fare better."""
        return remote.service is None

    def close(self) -> None:
        """Hang up on the swarm."""
        self._keeper.close()
        self._client.close()

    def _tasks(self, service: str) -> list[Task]:
        return [task_of(each) for each in self._client.tasks(filters={"service": service})]

    def _claim(self, task: Task, address: Address) -> SwarmRemote | None:
        with self._lock:
            ours = self._ours.get(task.id)
            if ours is not None and not ours.stopped:
                return None
            remote = self._ours[task.id] = SwarmRemote(self._keeper, self._client)
        remote.task = task.id
        try:
            remote.claim(address)
        except BaseException:
            remote.stop()
            raise
        return remote

    def _wait_for_task(self, remote: SwarmRemote, service: str) -> Task:
        """Return the task of a remote's own service once it runs; raise ``RemoteUnavailable`` if it won't."""
        started = waiting = time.monotonic()
        while not remote.stopped:
            task = next(iter(self._tasks(service)), None)
            now = time.monotonic()
            if task is not None:
                if task.is_running:
                    return task
                if task.has_ended:
                    raise RemoteUnavailable(f"a task could not be started: {task.message}{_remedy(task)}")
                if not task.waits:
                    waiting = now
                elif now - waiting > WAIT_S:
                    raise RemoteUnavailable(self._why_waiting(task))
            if now - started > START_S:
                raise RemoteUnavailable(f"a task wasn't started within {START_S:g} s: {task}")
            remote.pause(ASK_AGAIN_S)
        raise RemoteUnavailable(STOPPED)

    def _why_waiting(self, task: Task) -> str:
        if task.node:
            return f"the node {task.node} doesn't take a task; see whether it is there: docker node ls"
        with self._lock:
            placed = sum(not remote.stopped for remote in self._ours.values())
        return (
            f"the swarm has no room for one more remote, {placed} have a place: {task.message}; add a node with: "
            f"docker swarm join, or let tasks reserve less: deploy.resources of the service {self._name}"
        )

    def _sweep(self) -> None:
        """Remove what killed processes started beside the service."""
        hosts = hosts_of(self._client.nodes())
        for service in self._client.services(filters={"label": f"{BESIDE}={self._name}"}):
            with contextlib.suppress(docker.errors.NotFound):
                tasks = self._tasks(service["ID"])
                if tasks and all(self._is_orphan(task, hosts) for task in tasks):
                    remove_service(self._client, service["ID"])

    def _is_orphan(self, task: Task, hosts: Mapping[str, str]) -> bool:
        if task.has_ended:
            return True
        if datetime.now(UTC) - task.since < timedelta(seconds=ORPHAN_S):
            return False
        address = task.address(hosts, self._password)
        if address is None:
            return task.waits
        try:
            claim(address, ends=True)
        except RemoteUnavailable:
            return False
        return True


def _remedy(task: Task) -> str:
    if "No such image" not in task.message:
        return ""
    return (
        "; push it to a registry that all nodes reach, or load it into each: "
        "docker save IMAGE | docker --host ssh://NODE load"
    )


def _password(secret: str | None) -> str:
    if secret is not None:
        try:
            password = Path(secret).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"swarm: the file of the option secret can't be read: {error}") from error
    else:
        password = os.environ.get(PASSWORD_VARIABLE, "")
    if not password:
        raise ConfigurationError(
            f"the password of the service's remotes isn't known: export {PASSWORD_VARIABLE}=… as it was for docker "
            "stack deploy, or name a file that holds it: swarm:N?secret=FILE"
        )
    return password
