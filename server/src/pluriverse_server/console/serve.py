"""Runs a remote from the command line: greeting, signals, status line, and errors as exit statuses."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Final, NoReturn
from urllib.parse import quote

import typer

from pluriverse_server.certificate import Certificate
from pluriverse_server.manifest.runtime import Manifest, ManifestError
from pluriverse_server.process import StartError, endpoint
from pluriverse_server.settings import Settings, SettingsError
from pluriverse_server.tasks import TaskFailed

from .status_line import CLEAR, ClearingStream, compose, show

# Exit codes: what was asked can't be done; it was done and then broke.
EXIT_USAGE: Final = 2
EXIT_BROKEN: Final = 1

UNREWARDED: Final = "  rewards   none: its runtime.toml has no [[rewards]]"

# Input isn't expected, but is consumed.
IGNORED_BYTES: Final = 4096


def fail(message: str, status: int) -> NoReturn:
    typer.echo(f"pluriverse-server: {message}", err=True)
    raise typer.Exit(status)


@contextlib.contextmanager
def exit_on_error() -> Generator[None]:
    """Turn the errors that keep a remote from running into a message and an exit status."""
    from pluriverse_server.remote.remote import GaveUp

    try:
        yield
    except TaskFailed as error:
        fail(f"{error}; this is a bug in pluriverse", EXIT_BROKEN)
    except (SettingsError, StartError, ManifestError) as error:
        fail(str(error), EXIT_USAGE)
    except GaveUp as error:
        fail(f"giving up after too many crashes within a minute: {error}", EXIT_BROKEN)


@contextlib.asynccontextmanager
async def stopped_by_signals(
    stop: Callable[[], None], terminate: Callable[[], None] | None = None
) -> AsyncGenerator[None]:
    """Call ``stop`` on SIGINT and SIGHUP, and on SIGTERM unless there is ``terminate`` for that."""
    loop = asyncio.get_running_loop()
    callbacks = {signal.SIGINT: stop, signal.SIGTERM: terminate or stop, signal.SIGHUP: stop}
    for signum, callback in callbacks.items():
        loop.add_signal_handler(signum, callback)
    try:
        yield
    finally:
        for signum in callbacks:
            loop.remove_signal_handler(signum)


@contextlib.contextmanager
def stopped_by_end_of_input(stop: Callable[[], None]) -> Generator[None]:
    """Call ``stop`` once standard input ends, also if it has already."""
    loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()

    def read() -> None:
        if not os.read(descriptor, IGNORED_BYTES):
            loop.remove_reader(descriptor)
            stop()

    try:
        loop.add_reader(descriptor, read)
    except PermissionError:
        raise StartError("--until-input-ends: standard input is a file or /dev/null; expected a pipe") from None
    try:
        yield
    finally:
        loop.remove_reader(descriptor)


async def serve(settings: Settings, query: str = "") -> None:
    """Run a remote until Ctrl-C, or until standard input ends. ``query`` is added to the viewer's address."""
    from pluriverse_server.remote.remote import Remote

    remote = Remote(settings)

    def terminate() -> None:
        # A second SIGTERM doesn't wait for the episode.
        (remote.stop if remote.draining else remote.drain)()

    async with contextlib.AsyncExitStack() as until:
        await until.enter_async_context(stopped_by_signals(remote.stop, terminate))
        if settings.until_input_ends:
            until.enter_context(stopped_by_end_of_input(remote.stop))
        shows = settings.status and sys.stderr.isatty()
        line = asyncio.create_task(show(lambda: compose(remote.status()))) if shows else None
        try:
            await remote.run(lambda manifest: greet(settings, manifest, query, remote.certificate))
        finally:
            if line is not None:
                line.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await line


def greet(settings: Settings, manifest: Manifest, query: str = "", certificate: Certificate | None = None) -> None:
    vnc, rewarder = (endpoint(settings.reachable_host, port) for port in (settings.vnc_port, settings.rewarder_port))
    parameters = "?password=" + quote(settings.password, safe="") + query if settings.password else ""
    s, trust, shown = ("", [], []) if certificate is None else _tls_of(settings, certificate)
    secret = [f"password={quote(settings.password, safe='')}"] if settings.password else []
    options = "&".join([*trust, *secret])
    lines = (
        f"{manifest.runtime.title} ({manifest.runtime.id} {manifest.runtime.version})",
        *([f"  password  {settings.password}"] if settings.password else []),
        *([f"  tokens    {len(settings.tokens)}"] if settings.tokens is not None else []),
        *([f"  screen    vnc://{vnc}"] if certificate is None else []),
        f"  viewer    http{s}://{rewarder}/viewer/{parameters}",
        f"  rewarder  ws{s}://{rewarder}",
        f"  agents    pluriverse{s}://{rewarder}/{options and '?' + options}",
        *shown,
        *([] if manifest.is_rewarded(settings.env_id or manifest.runtime.default_env) else [UNREWARDED]),
        "Ctrl-C ends it.",
    )
    clear = CLEAR if sys.stderr.isatty() else ""
    print(clear + "\n".join(lines), flush=True)


def _tls_of(settings: Settings, certificate: Certificate) -> tuple[str, list[str], list[str]]:
    """Return what TLS adds to schemes, to the options of the address for agents, and to the greeting."""
    shown = [f"  TLS       the certificate's SHA-256 is {certificate.fingerprint}"]
    # Users of their own certificate know its authority.
    trust = [] if settings.tls_cert is not None else [f"fingerprint={certificate.fingerprint}"]
    return "s", trust, shown


def set_up_logging(*, verbose: bool) -> None:
    stream = ClearingStream(sys.stderr) if sys.stderr.isatty() else sys.stderr
    handler = logging.StreamHandler(stream)
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        handlers=[handler],
    )
    # aiohttp logs a line for each bad request of a peer.
    logging.getLogger("aiohttp").setLevel(logging.DEBUG if verbose else logging.CRITICAL)
