"""The command ``pluriverse-server``."""

from __future__ import annotations

import asyncio
import importlib
import importlib.metadata
import importlib.util
import json
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pluriverse_protocol.installed import installed_runtimes

from pluriverse_server import event_loop
from pluriverse_server.manifest.runtime import ManifestError, load
from pluriverse_server.process import raise_descriptor_limit
from pluriverse_server.settings import Settings

from .options import RuntimeArgument, find_runtime, of_settings
from .secrecy import keep_secret, with_secrets
from .serve import EXIT_BROKEN, EXIT_USAGE, exit_on_error, fail, serve, set_up_logging

# The commands of pluriverse-authoring.
AUTHORING: Final = ("init", "look", "validate", "try", "record", "label", "learn", "crop", "score", "build")

app = typer.Typer(
    name="pluriverse-server",
    help="Run a program on a virtual screen as a real-time reinforcement-learning environment:\n"
    "pixels, keys and mouse over VNC, rewards and episodes over the v0 rewarder protocol.",
    epilog="Example: pluriverse-server run runtimes/gym-core",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

PANEL: Final = "Running a runtime"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pluriverse-server {importlib.metadata.version('pluriverse-server')}")
        raise typer.Exit


@app.callback()
def _all(  # pyright: ignore[reportUnusedFunction] - Typer calls it
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    del version


def run(**options: Any) -> None:
    """Run a remote until Ctrl-C.

    Prints how to connect, then keeps one line up to date: state, episode, reward, frame rate, lag, agents.
    """
    with exit_on_error():
        settings = Settings(**with_secrets(options))
        keep_secret(settings.password)
        set_up_logging(verbose=settings.verbose)
        event_loop.run(serve(settings))


run.__signature__ = of_settings()  # pyright: ignore[reportFunctionMemberAccess] - Typer reads it
app.command(rich_help_panel=PANEL, epilog="Example: pluriverse-server run runtimes/doom --env doom.Basic-v0")(run)


@app.command(rich_help_panel=PANEL, epilog="Example: pluriverse-server envs runtimes/doom")
def envs(
    runtime: RuntimeArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print all details as a JSON list.")] = False,
) -> None:
    """List the ids of a runtime's environments, one per line."""
    from pluriverse_server.programs.catalogue import load_catalogue

    try:
        manifest = load(runtime)
        catalogue = asyncio.run(load_catalogue(runtime, manifest))
    except ManifestError as error:
        fail(str(error), EXIT_USAGE)
    if as_json:
        entries = [
            {**entry.model_dump(exclude_defaults=True), "clocks": manifest.clocks(env_id)}
            for env_id, entry in catalogue.items()
        ]
        typer.echo(json.dumps(entries, indent=2))
    else:
        typer.echo("\n".join(catalogue))


@app.command(rich_help_panel=PANEL, epilog="Example: pluriverse-server doctor gym-core --install")
def doctor(
    runtime: Annotated[
        Path | None,
        typer.Argument(
            parser=find_runtime, metavar="RUNTIME", help="A runtime's folder or id; by default every installed one."
        ),
    ] = None,
    install: Annotated[
        bool, typer.Option("--install", help="Install what is missing; Debian packages need root.")
    ] = False,
) -> None:
    """List missing dependencies of runtimes, with the commands that install them; exit with 1 if any are missing."""
    from pluriverse_server.remote.needed import missing

    folders = [runtime] if runtime is not None else list(installed_runtimes().values())
    if not folders:
        fail("no runtime is installed; name a folder, or: pip install pluriverse-runtime-gym-core", EXIT_USAGE)
    lacks = False
    with exit_on_error():
        for folder in folders:
            manifest = load(folder)
            lacking = missing(folder, manifest, "xvfb")
            if lacking is not None and install:
                lacking.install()
                lacking = missing(folder, manifest, "xvfb")
            lacks |= lacking is not None
            typer.echo(f"{manifest.runtime.id} {lacking or 'has everything it needs'}")
    if lacks:
        raise typer.Exit(EXIT_BROKEN)


def _add_authoring() -> None:
    """Add the commands of pluriverse-authoring, or stubs that explain how to install it."""
    if importlib.util.find_spec("pluriverse_authoring") is not None:
        app.add_typer(importlib.import_module("pluriverse_authoring.cli").app)
        return

    def missing(context: typer.Context) -> None:
        """Make a runtime; needs pluriverse-authoring."""
        fail(f"{context.info_name} needs pluriverse-authoring: pip install pluriverse-authoring", EXIT_USAGE)

    for name in AUTHORING:
        app.command(
            name,
            rich_help_panel="Making a runtime",
            context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        )(missing)


_add_authoring()


def main() -> None:
    raise_descriptor_limit()
    app(prog_name="pluriverse-server")
