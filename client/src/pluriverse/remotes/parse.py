"""Parses ``remotes=``: a number, ``docker:4``, ``local:4``, addresses, or a manager."""

from __future__ import annotations

import os
import re
from typing import Any, Final

from pluriverse import validation
from pluriverse.errors import ConfigurationError
from pluriverse.runtimes import runtime_of

from . import docker, local
from .address import SCHEME, parse_addresses
from .docker import DockerRemotes
from .local import LocalRemotes
from .manager import Attached, RemoteManager

# Each remote is some 100 MB and a share of a core; more than this is a typing error, or a fleet.
MAX_REMOTES: Final = 1024

# From nothing to a running environment takes a second; on a machine that starts dozens at once, some more.
START_S: Final = 60.0

PASSWORD_VARIABLE: Final = "PLURIVERSE_PASSWORD"  # noqa: S105 - its name

_EXPECTED: Final = (
    f"a number of 1 to {MAX_REMOTES}, 'docker:4', 'local:4', 'vnc://HOST:5900+15900,…?password=…', or a manager with "
    "n, start, replace and close"
)

_COUNTED: Final = re.compile(r"(?:(docker|local):)?([0-9]{1,9})")


def parse(remotes: int | str | RemoteManager, env_id: str | None, *, start_timeout_s: float = START_S) -> RemoteManager:
    """Return the manager of the remotes that ``remotes`` asks for, with nothing started yet.

    ``4`` starts four of the environment's runtime: in Docker when an engine answers and has the image, else as local
    processes. ``"docker:4"`` and ``"local:4"`` insist. ``"vnc://host:5900+15900,…?password=…"`` attaches to remotes
    that run already; without ``?password=`` it is taken from $PLURIVERSE_PASSWORD. A manager is returned as it is.

    Raises:
        ConfigurationError: it is none of these, or can't be had here; says what mends it.
    """
    start_timeout_s = validation.number("start_timeout_s", start_timeout_s, above=0)
    if isinstance(remotes, RemoteManager):
        return remotes
    if isinstance(remotes, str) and remotes.startswith(f"{SCHEME}:"):
        return Attached(parse_addresses(remotes, os.environ.get(PASSWORD_VARIABLE)))
    match = _COUNTED.fullmatch(remotes if isinstance(remotes, str) else _number(remotes))
    if match is None or not 0 < int(match[2]) <= MAX_REMOTES:
        validation.refuse("remotes", remotes, _EXPECTED)
    if env_id is None:
        raise ConfigurationError("remotes can only be started for an environment; name one, or attach with vnc://…")
    runtime = runtime_of(env_id)
    kind = {"docker": DockerRemotes, "local": LocalRemotes, None: None}[match[1]]
    if kind is None:
        no_docker = docker.why_unavailable(runtime)
        no_local = local.why_unavailable(runtime) if no_docker is not None else None
        if no_docker is not None and no_local is not None:
            raise ConfigurationError(
                f"{env_id} can be run neither in Docker nor locally.\n  Docker: {no_docker}\n  local: {no_local}"
            )
        kind = DockerRemotes if no_docker is None else LocalRemotes
    return kind(int(match[2]), runtime, env_id, start_timeout_s=start_timeout_s)


def _number(remotes: Any) -> str:
    try:
        return str(validation.integer("remotes", remotes))
    except ConfigurationError:
        validation.refuse("remotes", remotes, _EXPECTED)
