"""The command ``pluriverse-server``."""

from __future__ import annotations

import asyncio
import json
from dataclasses import fields
from inspect import Parameter, Signature
from typing import Annotated, Any, get_type_hints

import typer

from . import event_loop
from .authoring.commands import add_commands
from .console.options import RuntimeArgument
from .console.secrecy import keep_secret, with_secrets
from .console.serve import EXIT_USAGE, exit_on_error, fail, serve, set_up_logging
from .manifest.runtime import ManifestError, load
from .process import raise_descriptor_limit
from .settings import Settings

app = typer.Typer(
    name="pluriverse-server",
    help="Run a program on a virtual screen as a real-time reinforcement-learning environment:\n"
    "pixels, keys and mouse over VNC, rewards and episodes over the v0 rewarder protocol.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def run(**options: Any) -> None:
    """Run a remote until Ctrl-C.

    Prints how to connect, then keeps one line up to date: state, episode, reward, frame rate, lag, agents.
    """
    with exit_on_error():
        settings = Settings(**with_secrets(options))
        keep_secret(settings.password)
        set_up_logging(verbose=settings.verbose)
        event_loop.run(serve(settings))


def _signature() -> Signature:
    """Return the signature of a command that takes each setting which has an option."""
    hints = get_type_hints(Settings, include_extras=True)
    # A password is made after the files are read.
    defaults = {"runtime": Parameter.empty, "password": None}
    return Signature(
        [
            Parameter(
                setting.name,
                Parameter.KEYWORD_ONLY,
                default=defaults.get(setting.name, setting.default),
                annotation=hints[setting.name],
            )
            for setting in fields(Settings)
            if setting.name != "tokens"
        ]
    )


run.__signature__ = _signature()  # pyright: ignore[reportFunctionMemberAccess] - Typer reads it
app.command()(run)


@app.command()
def envs(
    runtime: RuntimeArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print all that is known of each, as a JSON list.")] = False,
) -> None:
    """List a runtime's environments, an id a line."""
    from .programs.catalogue import load_catalogue

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


add_commands(app)


def main() -> None:
    raise_descriptor_limit()
    app(prog_name="pluriverse-server")
