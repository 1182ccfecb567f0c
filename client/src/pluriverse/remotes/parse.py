"""Parses ``remotes=``: a number, ``docker:4`` and other engines, addresses, or a manager."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from pluriverse import validation
from pluriverse.errors import ConfigurationError, needed
from pluriverse.runtimes import runtime_of

from . import docker, local
from .address import SCHEMES, parse_addresses
from .engine import Engine, EngineOptions
from .manager import Attached, RemoteManager
from .options import parse_options
from .progress import starting
from .shared import SCHEME, Borrowed, Shared
from .started import MAX_REMOTES, StartedRemotes

# From nothing to a running environment takes a second; on a machine that starts dozens at once, some more.
START_S: Final = 60.0

PASSWORD_VARIABLE: Final = "PLURIVERSE_PASSWORD"  # noqa: S105 - its name

# Each engine's module and class, which are imported when they are wanted: most need an extra of this package.
ENGINES: Final[Mapping[str, tuple[str, str]]] = {
    "docker": ("docker", "DockerEngine"),
    "local": ("local", "LocalEngine"),
    "ray": ("ray", "RayEngine"),
    "kubernetes": ("kubernetes", "KubernetesEngine"),
}

_EXPECTED: Final = (
    f"a number of 1 to {MAX_REMOTES}, 'docker:4' or another engine ({', '.join(ENGINES)}) with options after a '?', "
    "'vnc://HOST:5900+15900,…?password=…', 'pluriverse://HOST:15900,…', 'pluriverses://HOST:15900,…' with TLS, what "
    "share() returns as url, or a manager with n, start, replace and close"
)

_COUNTED: Final = re.compile(r"(?:([a-z]+):)?([0-9]{1,9})(?:\?(.*))?")


def parse(
    remotes: int | str | RemoteManager,
    env_id: str | None,
    *,
    start_timeout_s: float = START_S,
    clock: str = "realtime",
) -> RemoteManager:
    """Return the manager of the remotes that ``remotes`` asks for, with nothing started yet.

    ``4`` starts four of the environment's runtime: in Docker when an engine answers and has the image, else as local
    processes. ``"docker:4"`` and ``"local:4"`` insist; ``"ray:4"`` and ``"kubernetes:4"`` take theirs from more than
    one machine. Options of the engine come after a ``?``: ``"docker:4?memory=2Gi&warm=1"``.
    ``"vnc://host:5900+15900,…?password=…"`` attaches to remotes that run already, as do ``"pluriverse://host:15900,…"``
    by one port and ``"pluriverses://…"`` by one with TLS; without ``?password=`` it is taken from $PLURIVERSE_PASSWORD.
    ``"shared:…"`` takes one of those of ``share``.
    A manager is returned as it is. ``clock``: that of the episode that a started remote begins itself.

    Raises:
        ConfigurationError: it has another form, or is unavailable here; says what fixes it.
    """
    start_timeout_s = validation.number("start_timeout_s", start_timeout_s, above=0)
    if isinstance(remotes, RemoteManager):
        return remotes
    scheme, _, path = remotes.partition(":") if isinstance(remotes, str) else ("", "", "")
    if scheme == SCHEME:
        return Borrowed(path, start_timeout_s)
    if isinstance(remotes, str) and scheme in SCHEMES:
        return Attached(parse_addresses(remotes, os.environ.get(PASSWORD_VARIABLE)))
    match = _COUNTED.fullmatch(remotes if isinstance(remotes, str) else _number(remotes))
    if match is None or not 0 < int(match[2]) <= MAX_REMOTES or not (match[1] is None or match[1] in ENGINES):
        validation.refuse("remotes", remotes, _EXPECTED)
    return start_with(int(match[2]), match[1], match[3] or "", env_id, start_timeout_s, clock)


def share(remotes: int | str | RemoteManager, env_id: str | None, *, start_timeout_s: float = START_S) -> Shared:
    """Start or find ``remotes``, as ``parse`` has it, for the processes of this machine to share; blocks.

    ``remotes=shared.url`` takes one of them, in any of these processes, and waits for as long as it may take to start.

    Raises:
        ConfigurationError: they have another form, or are unavailable here; says what fixes it.
        RemoteUnavailable: one could not be started.
    """
    manager = parse(remotes, env_id, start_timeout_s=start_timeout_s)
    with starting(manager.n, env_id or "remotes") as progress:
        return Shared(manager, progress)


def start_with(
    n: int, engine: str | None, query: str, env_id: str | None, start_timeout_s: float, clock: str
) -> StartedRemotes[Any]:
    """Return ``n`` remotes of an engine with the options of ``query``, with nothing started yet."""
    if env_id is None:
        raise ConfigurationError(
            "remotes can only be started for an environment; name one, or attach with vnc://… or pluriverse://…"
        )
    runtime = runtime_of(env_id)
    name = engine or whichever(runtime, env_id)
    kind = engine_class(name)
    options = parse_options(name, query, kind.Options)
    # What each engine's constructor takes, the last one of its own class.
    make = cast("Callable[[str, str, EngineOptions], Engine[Any]]", kind)
    started_by = make(runtime, env_id, options)
    started_by.clock = clock
    return StartedRemotes(n, started_by, warm=options.warm, start_timeout_s=start_timeout_s)


def engine_class(name: str) -> type[Engine[Any]]:
    """Return an engine's class; raise ``ConfigurationError`` if there is none, or what it needs isn't installed."""
    if name not in ENGINES:
        raise ConfigurationError(f"unknown engine {name!r}; expected one of: {', '.join(ENGINES)}")
    module, attribute = ENGINES[name]
    with needed(f"remotes='{name}:…'", extra=name):
        return getattr(importlib.import_module(f".{module}", __package__), attribute)


def whichever(runtime: str, env_id: str) -> str:
    """Return ``"docker"`` if an engine answers and has the image, else ``"local"``; raise if neither is available."""
    no_docker = docker.why_unavailable(runtime)
    if no_docker is None:
        return "docker"
    no_local = local.why_unavailable(runtime)
    if no_local is None:
        return "local"
    raise ConfigurationError(
        f"{env_id} can be run neither in Docker nor locally.\n  Docker: {no_docker}\n  local: {no_local}"
    )


def _number(remotes: Any) -> str:
    try:
        return str(validation.integer("remotes", remotes))
    except ConfigurationError:
        validation.refuse("remotes", remotes, _EXPECTED)
