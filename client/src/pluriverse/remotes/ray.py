"""Remotes on the nodes of a Ray cluster: an actor for each, which starts it with its node's Docker or as processes.

An actor ends with the process that made it and with its node, and the remote with its actor. Where this process is
connected to Ray already, as in RLlib's runners and Tune's trials, it stays so; otherwise it connects itself.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urlencode, urlsplit

import ray as ray_package
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from pluriverse.errors import ConfigurationError, RemoteUnavailable

from .address import Address
from .engine import Engine, EngineOptions, StartedRemote
from .options import Bytes
from .parse import START_S, start_with, whichever
from .started import ATTEMPTS, StartedRemotes

HOW: Final = ("auto", "docker", "local")

# A head that works answers at once; Ray itself tries for minutes where nothing answers.
LOOK_S: Final = 5.0

# The actor asks an engine of its own node.
ANSWER_S: Final = 10.0

# A remote stops its program and its screen within two seconds; an actor that doesn't is killed.
STOP_S: Final = 10.0

# What an actor does until its remote is ready, or it gives up.
BEGIN_S: Final = (ATTEMPTS + 1) * START_S

# Ray's message about an actor's death begins with the reason.
REASON_CHARACTERS: Final = 1000

# Most of its types are unknown to type checkers.
ray: Final[Any] = ray_package

_connecting: Final = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class RayOptions(EngineOptions):
    """What each remote reserves on its node, and how it is started there.

    ``cpu``: cores; ``memory``: a container is limited to it, too; ``resource``: one of a custom resource of that name,
    which limits how many a node takes, and to which nodes they go. ``how``: ``docker``, ``local`` (processes), or
    ``auto``: the former where it can be. ``image`` instead of the runtime's. ``place_s``: seconds to wait for a place.
    ``address`` of the cluster, if this process isn't connected to one; ``local`` starts one for this process.
    """

    cpu: float = 0.25
    memory: Bytes | None = None
    resource: str | None = None
    how: str = "auto"
    image: str | None = None
    place_s: float = 60.0
    address: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.how not in HOW:
            raise ValueError(f"how is {self.how!r}, expected one of: {', '.join(HOW)}")
        if self.image is not None and self.how == "local":
            raise ValueError("image goes with how=docker, not with how=local")


class NodeRemote:
    """Starts one remote on its node, as an actor; ``stop`` may be called while ``start`` runs."""

    def __init__(self, runtime: str, env_id: str, options: RayOptions, clock: str) -> None:
        self._runtime = runtime
        self._env_id = env_id
        self._options = options
        self._clock = clock
        self._remotes: StartedRemotes[Any] | None = None
        self._remote: StartedRemote

    def node(self) -> str:
        return ray.util.get_node_ip_address()

    def start(self) -> Address:
        """Start the remote, and wait until it is ready."""
        options = self._options
        how = "docker" if options.image is not None else options.how
        if how == "auto":
            how = whichever(self._runtime, self._env_id)
        engine: dict[str, object] = {"host": self.node()}
        if how == "docker":
            engine |= {name: given for name in ("image", "memory") if (given := getattr(options, name)) is not None}
        self._remotes = remotes = start_with(1, how, urlencode(engine), self._env_id, START_S, self._clock)
        self._remote = remotes.take()
        return self._remote.address

    def require_running(self) -> None:
        """Raise RemoteUnavailable, with its last output, unless the remote runs."""
        self._remote.require_running()

    def stop(self) -> None:
        if self._remotes is not None:
            self._remotes.close()


class RayRemote:
    def __init__(self, actor: Any) -> None:
        self.actor = actor
        self.node: str | None = None  # once it has a place
        self._address: Address | None = None

    @property
    def address(self) -> Address:
        """Where it is, once it has begun."""
        if self._address is None:
            raise RemoteUnavailable("it has not begun")
        return self._address

    def begin(self, options: RayOptions) -> None:
        """Wait for its place in the cluster, and until it is ready there."""
        with explained("a remote on Ray"):
            try:
                self.node = ray.get(self.actor.node.remote(), timeout=options.place_s)
            except GetTimeoutError:
                raise RemoteUnavailable(
                    f"Ray placed no actor within {options.place_s:g} s: {why_no_place(options)}"
                ) from None
        with explained(f"the remote on Ray's node {self.node}"):
            self._address = ray.get(self.actor.start.remote(), timeout=BEGIN_S)

    def require_running(self) -> None:
        """Raise RemoteUnavailable, with its last output, unless it runs."""
        with explained(f"the remote on Ray's node {self.node}"):
            ray.get(self.actor.require_running.remote(), timeout=ANSWER_S)

    def stop(self) -> None:
        stop_all([self])


class RayEngine(Engine[RayRemote]):
    """Actors with remotes of one runtime, spread over the nodes of a cluster."""

    Options = RayOptions

    def __init__(self, runtime: str, env_id: str, options: RayOptions) -> None:
        """Connect to the cluster if this process isn't; raise ``ConfigurationError`` if none answers."""
        connect(options.address)
        self.what = f"an actor of Ray with {runtime}"
        self._make = (runtime, env_id, options)
        self._options = options
        # It is stopped while it starts, too.
        self._actors = ray.remote(NodeRemote).options(**reserved(options), max_concurrency=2)

    def make(self) -> RayRemote:
        with explained("a remote on Ray"):
            return RayRemote(self._actors.remote(*self._make, self.clock))

    def begin(self, remote: RayRemote) -> None:
        """Wait until it has started the remote."""
        remote.begin(self._options)

    def stop_all(self, remotes: Sequence[RayRemote]) -> None:
        stop_all(remotes)


def connect(address: str | None) -> None:
    """Connect this process to a Ray cluster, if it isn't; None: $RAY_ADDRESS, or else the one on this machine."""
    with _connecting:
        if ray.is_initialized():
            return
        address = address or os.environ.get("RAY_ADDRESS") or "auto"
        try:
            if address not in ("auto", "local"):
                place = urlsplit(address if "//" in address else f"//{address}")
                socket.create_connection((place.hostname or "", place.port or 0), LOOK_S).close()
            ray.init(address=address, configure_logging=False, log_to_driver=False)
        except (OSError, ValueError, RuntimeError, RayError) as error:
            raise ConfigurationError(
                f"no Ray cluster answers at {address!r} ({error}); start one with: ray start --head, "
                "name one: ray:4?address=HOST:6379 or RAY_ADDRESS=HOST:6379, or start one for this process alone: "
                "ray:4?address=local; one that asks for a token wants it in ~/.ray/auth_token here, too"
            ) from error


def reserved(options: RayOptions) -> dict[str, Any]:
    return {
        "num_cpus": options.cpu,
        "memory": None if options.memory is None else int(options.memory),
        "resources": None if options.resource is None else {options.resource: 1},
        # Not within the placement group of a trial, which has no room for more than its runners.
        "scheduling_strategy": "SPREAD",
    }


def why_no_place(options: RayOptions) -> str:
    """Return which resources of the cluster are short of what an actor reserves, and what fixes it."""
    all_wanted = {"CPU": options.cpu, "memory": options.memory or 0, options.resource or "": 1.0}
    wanted = {name: amount for name, amount in all_wanted.items() if name and amount}
    has: Mapping[str, float] = ray.cluster_resources()
    free: Mapping[str, float] = ray.available_resources()
    nodes = [cast("Mapping[str, float]", node["Resources"]) for node in ray.nodes() if node["Alive"]]
    whole = ", ".join(f"{name} {amount:g}" for name, amount in wanted.items())
    short = [name for name, amount in wanted.items() if free.get(name, 0) < amount]
    if not any(all(node.get(name, 0) >= amount for name, amount in wanted.items()) for node in nodes):
        reason = "no node has that much"
    elif short:
        reason = ", ".join(f"{free.get(name, 0):g} of {has.get(name, 0):g} {name} is free" for name in short)
    else:
        reason = "no node has that much free, or starting a process there takes longer"
    return (
        f"it needs {whole}, and {reason}; add nodes, let them offer more (ray start --num-cpus=… --resources=…), "
        "reserve less (ray:4?cpu=0.1), or wait longer (ray:4?place_s=300)"
    )


def stop_all(remotes: Sequence[RayRemote]) -> None:
    """Stop remotes, side by side, without threads, and end their actors."""
    if not ray.is_initialized():  # they ended with the connection
        return
    with contextlib.suppress(RayError):
        stopping = [remote.actor.stop.remote() for remote in remotes if remote.node is not None]
        if stopping:
            ray.wait(stopping, num_returns=len(stopping), timeout=STOP_S)
    for remote in remotes:
        with contextlib.suppress(RayError):
            ray.kill(remote.actor)


@contextlib.contextmanager
def explained(what: str) -> Generator[None]:
    """Raise ``RemoteUnavailable`` for errors of Ray or an actor about ``what``."""
    try:
        yield
    except RayTaskError as error:
        # As it was raised there; the rest is the traceback of that.
        raise RemoteUnavailable(f"{what}: {error.cause or error}") from error
    except GetTimeoutError as error:
        raise RemoteUnavailable(f"{what} doesn't answer") from error
    except RayError as error:
        raise RemoteUnavailable(f"{what}: {str(error)[:REASON_CHARACTERS]}") from error
