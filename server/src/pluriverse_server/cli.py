"""The command ``pluriverse-server``."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from pluriverse_protocol.rfb.security import generate_password

from . import event_loop
from .console.options import (
    ENV_HELP,
    RUNTIME_HELP,
    HostOption,
    PasswordFileOption,
    PasswordOption,
    RewarderPortOption,
    RuntimeArgument,
    TlsCertOption,
    TlsKeyOption,
    TlsOption,
    VerboseOption,
    VncPortOption,
)
from .console.secrecy import keep_secret, read_password, read_tokens
from .console.serve import EXIT_USAGE, exit_on_error, fail, serve, set_up_logging
from .manifest.runtime import ManifestError, load
from .process import raise_descriptor_limit
from .settings import DisplayBackend, Settings

# The commands that pluriverse-authoring brings.
AUTHORING: Final = ("init", "look", "validate", "try", "record", "label", "learn", "crop", "score", "build")

app = typer.Typer(
    name="pluriverse-server",
    help="Run a program on a virtual screen as a real-time reinforcement-learning environment:\n"
    "pixels, keys and mouse over VNC, rewards and episodes over the v0 rewarder protocol.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def run(
    runtime: Annotated[Path, typer.Argument(envvar="PLURIVERSE_RUNTIME", help=RUNTIME_HELP, show_default=False)],
    env: Annotated[str | None, typer.Option(envvar="PLURIVERSE_ENV", help=ENV_HELP)] = None,
    host: HostOption = "127.0.0.1",
    vnc_port: VncPortOption = 5900,
    rewarder_port: RewarderPortOption = 15900,
    password: PasswordOption = None,
    password_file: PasswordFileOption = None,
    tls: TlsOption = False,
    tls_cert: TlsCertOption = None,
    tls_key: TlsKeyOption = None,
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
    tokens: Annotated[
        Path | None,
        typer.Option(
            envvar="PLURIVERSE_TOKENS_FILE",
            help="A file with a line ROLE NAME TOKEN for each who may connect, read again when it changes; "
            "the roles are agent, observer, person and operator. PLURIVERSE_TOKENS may have the lines themselves.",
            show_default=False,
            # Typer would ask without the capabilities by which a container's daemon reads it.
            readable=False,
        ),
    ] = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            envvar="PLURIVERSE_AUDIT",
            help="A file that gets a line of JSON for each action that changes something; - for standard error.",
            show_default=False,
        ),
    ] = None,
    drain_s: Annotated[
        float,
        typer.Option(
            "--drain-s",
            envvar="PLURIVERSE_DRAIN_S",
            help="For how many seconds the agent's episode may go on after SIGTERM; a second SIGTERM ends it at once.",
        ),
    ] = 0.0,
    until_input_ends: Annotated[
        bool,
        typer.Option(
            "--until-input-ends",
            envvar="PLURIVERSE_UNTIL_INPUT_ENDS",
            help="End when standard input does: a pipe; the remote lives as long as its other end is open.",
        ),
    ] = False,
    status: Annotated[
        bool, typer.Option(envvar="PLURIVERSE_STATUS", help="Whether a terminal gets the line that is kept up to date.")
    ] = True,
    verbose: VerboseOption = False,
) -> None:
    """Run a remote until Ctrl-C.

    Prints how to connect, then keeps one line up to date: state, episode, reward, frame rate, lag, agents.
    """
    with exit_on_error():
        given = password or read_password(password_file)
        listed = read_tokens(tokens, given)
        settings = Settings(
            runtime=runtime,
            env_id=env or None,
            host=host,
            vnc_port=vnc_port,
            rewarder_port=rewarder_port,
            password=given or (generate_password() if listed is None else None),
            vnc_password=vnc_password,
            display_backend=display_backend,
            idle_timeout_s=idle_timeout,
            session_timeout_s=session_timeout,
            zoom=zoom,
            tokens=listed,
            # A pipe is read once.
            tokens_file=tokens if tokens is not None and tokens.is_file() else None,
            audit=audit,
            drain_s=drain_s,
            tls=tls,
            tls_cert=tls_cert,
            tls_key=tls_key,
        )
        keep_secret(settings.password)
        set_up_logging(verbose=verbose)
        show_status = status and sys.stderr.isatty()
        event_loop.run(serve(settings, show_status=show_status, until_input_ends=until_input_ends))


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


def _add_authoring() -> None:
    """Add the commands of pluriverse-authoring, or such that say how to install it."""
    if importlib.util.find_spec("pluriverse_authoring") is not None:
        app.add_typer(importlib.import_module("pluriverse_authoring.cli").app)
        return

    def missing(context: typer.Context) -> None:
        """Make a runtime; needs pluriverse-authoring."""
        fail(
            f"{context.info_name} is a part of pluriverse-authoring; install it: pip install pluriverse-authoring",
            EXIT_USAGE,
        )

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
