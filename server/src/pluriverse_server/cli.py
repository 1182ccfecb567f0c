"""The command ``pluriverse-server``."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import resource
import signal
import sys
from pathlib import Path
from typing import Annotated, Final, NoReturn
from urllib.parse import quote

import typer

from .manifest import Manifest, ManifestError, load
from .process import StartError
from .settings import DisplayBackend, Settings, SettingsError, generate_password

# Exit codes: what was asked can't be done; it was done and then broke.
EXIT_USAGE: Final = 2
EXIT_BROKEN: Final = 1

# Each connection is a descriptor, however short it lives, and the soft limit of many systems is a thousand.
DESCRIPTORS: Final = 16384

app = typer.Typer(
    name="pluriverse-server",
    help="Run a program on a virtual screen as a real-time reinforcement-learning environment:\n"
    "pixels, keys and mouse over VNC, rewards and episodes over the v0 rewarder protocol.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

RuntimeArgument = Annotated[
    Path, typer.Argument(help="The runtime's folder, the one with its runtime.toml.", show_default=False)
]


@app.command()
def run(
    runtime: Annotated[
        Path,
        typer.Argument(
            envvar="PLURIVERSE_RUNTIME", help="The runtime's folder, the one with its runtime.toml.", show_default=False
        ),
    ],
    env: Annotated[
        str | None,
        typer.Option(
            envvar="PLURIVERSE_ENV", help="The environment to begin with; if not given, the runtime's default."
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(envvar="PLURIVERSE_HOST", help="The address to listen on; 0.0.0.0 for all of this machine's."),
    ] = "127.0.0.1",
    vnc_port: Annotated[int, typer.Option(envvar="PLURIVERSE_VNC_PORT", help="Where VNC viewers connect.")] = 5900,
    rewarder_port: Annotated[
        int, typer.Option(envvar="PLURIVERSE_REWARDER_PORT", help="Where agents and browsers connect.")
    ] = 15900,
    password: Annotated[
        str | None,
        typer.Option(
            envvar="PLURIVERSE_PASSWORD",
            help="For both ports (VNC looks at its first 8 characters); generated and printed if not given.",
            show_default=False,
        ),
    ] = None,
    vnc_password: Annotated[
        bool, typer.Option(envvar="PLURIVERSE_VNC_PASSWORD", help="Whether the VNC port asks for the password.")
    ] = True,
    display_backend: Annotated[
        DisplayBackend,
        typer.Option(
            envvar="PLURIVERSE_DISPLAY_BACKEND",
            help="xvfb: Xvfb with X0tigervnc. xvnc: Xtigervnc alone.",
        ),
    ] = "xvfb",
    idle_timeout: Annotated[
        float,
        typer.Option(envvar="PLURIVERSE_IDLE_TIMEOUT", help="Hang up on an agent silent for so many seconds."),
    ] = 0.0,
    session_timeout: Annotated[
        float,
        typer.Option(envvar="PLURIVERSE_SESSION_TIMEOUT", help="Hang up on an agent after so many seconds."),
    ] = 0.0,
    zoom: Annotated[
        int | None,
        typer.Option(
            envvar="PLURIVERSE_ZOOM", help="Draw a web page so many times as large; if not given, as its runtime says."
        ),
    ] = None,
    status: Annotated[
        bool, typer.Option(envvar="PLURIVERSE_STATUS", help="Whether a terminal gets the line that is kept up to date.")
    ] = True,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", envvar="PLURIVERSE_VERBOSE", help="Log what programs and peers say.")
    ] = False,
) -> None:
    """Run a remote until Ctrl-C.

    Prints how to connect, then keeps one line up to date: state, episode, reward, frame rate, lag, agents.
    """
    try:
        settings = Settings(
            runtime=runtime,
            env_id=env or None,
            host=host,
            vnc_port=vnc_port,
            rewarder_port=rewarder_port,
            password=password or generate_password(),
            vnc_password=vnc_password,
            display_backend=display_backend,
            idle_timeout_s=idle_timeout,
            session_timeout_s=session_timeout,
            zoom=zoom,
        )
    except SettingsError as error:
        _fail(str(error), EXIT_USAGE)
    from .remote import GaveUp

    _set_up_logging(verbose=verbose)
    try:
        asyncio.run(_serve(settings, show_status=status and sys.stderr.isatty()))
    except (StartError, ManifestError) as error:
        _fail(str(error), EXIT_USAGE)
    except GaveUp as error:
        _fail(f"giving up, too much has died within a minute: {error}", EXIT_BROKEN)


@app.command()
def validate(runtime: RuntimeArgument) -> None:
    """Check a runtime's runtime.toml and its catalogue; a line for each mistake, exit status 2 if there are any."""
    manifest, entries = _load(runtime)
    name = f"{manifest.runtime.id} {manifest.runtime.version}"
    typer.echo(f"{runtime}: valid: runtime {name}, {len(entries)} environments")


@app.command()
def envs(
    runtime: RuntimeArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print all that is known of each, as a JSON list.")] = False,
) -> None:
    """List a runtime's environments, an id a line."""
    _, entries = _load(runtime)
    if as_json:
        typer.echo(json.dumps(entries, indent=2))
    else:
        typer.echo("\n".join(str(entry["id"]) for entry in entries))


def main() -> None:
    """The entry point."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < DESCRIPTORS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS, hard), hard))
    app(prog_name="pluriverse-server")


def _load(runtime: Path) -> tuple[Manifest, list[dict[str, object]]]:
    from .programs.catalogue import load_catalogue

    try:
        manifest = load(runtime)
        catalogue = asyncio.run(load_catalogue(runtime, manifest))
    except ManifestError as error:
        _fail(str(error), EXIT_USAGE)
    return manifest, [entry.model_dump(exclude_defaults=True) for entry in catalogue.values()]


async def _serve(settings: Settings, *, show_status: bool) -> None:
    from . import statusline
    from .remote import Remote

    remote = Remote(settings)
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(signum, remote.stop)
    line = asyncio.create_task(statusline.show(remote.status)) if show_status else None
    try:
        await remote.run(lambda manifest: _greet(settings, manifest))
    finally:
        if line is not None:
            line.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await line


def _greet(settings: Settings, manifest: Manifest) -> None:
    from .statusline import CLEAR

    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    query = quote(settings.password, safe="")
    lines = (
        f"{manifest.runtime.title} ({manifest.runtime.id} {manifest.runtime.version})",
        f"  password  {settings.password}",
        f"  screen    vnc://{host}:{settings.vnc_port}",
        f"  viewer    http://{host}:{settings.rewarder_port}/viewer/?password={query}",
        f"  rewarder  ws://{host}:{settings.rewarder_port}",
        "Ctrl-C ends it.",
    )
    clear = CLEAR if sys.stderr.isatty() else ""
    print(clear + "\n".join(lines), flush=True)


def _set_up_logging(*, verbose: bool) -> None:
    from .statusline import ClearingStream

    stream = ClearingStream(sys.stderr) if sys.stderr.isatty() else sys.stderr
    handler = logging.StreamHandler(stream)
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        handlers=[handler],
    )
    # Each of aiohttp's own lines is one peer's bad request; those are no news.
    logging.getLogger("aiohttp").setLevel(logging.DEBUG if verbose else logging.CRITICAL)


def _fail(message: str, status: int) -> NoReturn:
    typer.echo(f"pluriverse-server: {message}", err=True)
    raise typer.Exit(status)
