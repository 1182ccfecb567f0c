"""The command ``pluriverse``."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import json
import logging
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, cast

import typer

from .errors import ConfigurationError, PluriverseError, needed

# Exit codes, as in pluriverse-server: invalid usage; a failure while running.
EXIT_USAGE: Final = 2
EXIT_BROKEN: Final = 1

DEFAULT_ENV: Final = "gym-core.PongDeterministic-v3"

# Headings of the help.
REMOTES_PANEL: Final = "Remotes"
PLAY_PANEL: Final = "Playing"
RECORDINGS_PANEL: Final = "Recordings and scores"

app: Final[typer.Typer] = typer.Typer(
    name="pluriverse",
    help="Real-time reinforcement-learning environments on other machines, over VNC and the v0 rewarder protocol.",
    epilog="Example: pluriverse demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pluriverse {importlib.metadata.version('pluriverse')}")
        raise typer.Exit


@app.callback()
def _all(  # pyright: ignore[reportUnusedFunction] - Typer calls it
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    del version


RemotesOption = Annotated[
    str,
    typer.Option(
        "--remotes",
        "-r",
        help="4; docker:4, local:4, ray:4 or kubernetes:4; or vnc://HOST:5900+15900,…?password=…",
    ),
]

SizeOption = Annotated[
    tuple[int, int], typer.Option(metavar="WIDTH HEIGHT", help="Scale pictures to fit this many pixels.")
]


@app.command(
    rich_help_panel=REMOTES_PANEL,
    epilog="Example: pluriverse run doom --vnc-port 5901 --rewarder-port 15901",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def run(
    context: typer.Context,
    runtime: Annotated[str, typer.Argument(help="The runtime's id, such as gym-core.")] = "gym-core",
    engine: Annotated[
        str, typer.Option(help="docker, local, or auto: Docker when it answers and has the image.")
    ] = "auto",
    password: Annotated[
        str | None, typer.Option(help="The remote's password; $PLURIVERSE_PASSWORD keeps it off the command line.")
    ] = None,
) -> None:
    """Run one remote until Ctrl-C. Further options, such as --env and --vnc-port, are passed to pluriverse-server."""
    from .remotes import docker, local
    from .remotes.parse import PASSWORD_VARIABLE
    from .runtimes import IMAGE_PREFIX, runtime_folder

    if engine not in ("auto", "docker", "local"):
        _fail(f"--engine {engine}: expected docker, local or auto", EXIT_USAGE)
    if password is not None:
        # Other users can read a process's command line, but not its environment.
        os.environ[PASSWORD_VARIABLE] = password
    no_docker = docker.why_unavailable(runtime) if engine != "local" else "not requested"
    if no_docker is None and shutil.which("docker") is not None:
        # The host's network and its loopback interface: ports are the host's, and no other machine reaches them.
        image = [IMAGE_PREFIX + runtime, "run", "--host", "127.0.0.1", *context.args]
        terminal = ["--interactive", "--tty"] if sys.stdin.isatty() and sys.stdout.isatty() else []
        name = f"pluriverse-{runtime}-{secrets.token_hex(4)}"
        _remove_afterwards(name)
        options = ["--rm", "--name", name, "--network", "host", *terminal, *_passed_on()]
        os.execvp("docker", ["docker", "run", *options, *image])
    no_local = local.why_unavailable(runtime) if engine != "docker" else "not requested"
    if no_local is None:
        command = [sys.executable, "-m", local.SERVER, "run", str(runtime_folder(runtime)), *context.args]
        os.execv(sys.executable, command)
    _fail(f"{runtime} can't be run.\n  Docker: {no_docker}\n  local: {no_local}", EXIT_USAGE)


@app.command(rich_help_panel=PLAY_PANEL, epilog="Example: pluriverse random -e doom.Basic-v0 -r local:2 --seconds 10")
def random(
    env: Annotated[str, typer.Option("--env", "-e", help="The environment's id; see: pluriverse envs.")] = DEFAULT_ENV,
    remotes: RemotesOption = "1",
    seconds: Annotated[float | None, typer.Option(help="How long to play; by default until Ctrl-C.")] = None,
    fps: Annotated[float | None, typer.Option(help="Steps per second; by default the environment's own.")] = None,
    render: Annotated[bool, typer.Option("--render", help="Show the first remote in a window.")] = False,
) -> None:
    """Play with random actions; print rates, lags and rewards once a second."""
    import pluriverse

    from .play import play_randomly
    from .wrappers import Render

    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    with exit_on_error(), pluriverse.make(env, remotes) as vector:
        player = Render(vector) if render else vector
        play_randomly(player, seconds=seconds, fps=fps, report=typer.echo)


@app.command(
    rich_help_panel=PLAY_PANEL, epilog="Example: pluriverse play gym-core.Breakout-v3 -r local:1 --record mine.plrec"
)
def play(
    env: Annotated[
        str | None, typer.Argument(help="The environment's id; by default the one that the remote plays.")
    ] = None,
    remotes: RemotesOption = "1",
    clock: Annotated[
        str, typer.Option(help="realtime, or lockstep: the program pauses while the window isn't focused.")
    ] = "realtime",
    record: Annotated[
        Path | None,
        typer.Option(help="Write a demonstration to this new file, *.plrec, for export; makes pictures lossless."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The first episode's seed; by default random.")] = None,
    fps: Annotated[float | None, typer.Option(help="Frames per second; by default the environment's own.")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="How long to play; by default until the window is closed.")
    ] = None,
) -> None:
    """Play a remote yourself, near or far, in a window of your desktop; it needs the extra play.

    While the window has the focus, keys, gamepads and the mouse inside it go to the remote. Games that grab the pointer
    get the mouse with a click, until Escape.
    The lags of picture and keys are shown below the picture.
    """
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    with exit_on_error(), contextlib.suppress(KeyboardInterrupt):
        from .human.game import Clock
        from .human.play import play as play_by_hand

        kind = cast("Clock", clock)
        play_by_hand(env, remotes, clock=kind, fps=fps, seed=seed, record=record, seconds=seconds, report=typer.echo)


@app.command(rich_help_panel=PLAY_PANEL, epilog="Example: pluriverse demo --seconds 60")
def demo(
    remotes: Annotated[
        str, typer.Option("--remotes", "-r", help="How to run each game: local:1, docker:1, or 1 for either.")
    ] = "1",
    port: Annotated[int, typer.Option(help="The page's port; 0: any free port.")] = 15800,
    seconds: Annotated[float | None, typer.Option(help="How long to play; by default until Ctrl-C.")] = None,
) -> None:
    """Run four games, play them with random actions, and show them in one browser page."""
    from .demo import play

    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    with exit_on_error(), contextlib.suppress(KeyboardInterrupt):
        play(remotes, port=port, seconds=seconds, report=typer.echo)


@app.command(
    rich_help_panel=PLAY_PANEL, epilog="Example: pluriverse openenv wob.mini.ClickTest-v0 -r local:4 --clock lockstep"
)
def openenv(
    env: Annotated[str, typer.Argument(help="The environment's id, or a pattern of several; see: pluriverse envs.")],
    remotes: RemotesOption = "1",
    clock: Annotated[
        str, typer.Option(help="realtime, or lockstep: environments pause until the next step.")
    ] = "realtime",
    size: SizeOption = (1280, 800),
    jpeg: Annotated[bool, typer.Option(help="Send pictures as JPEG instead of PNG.")] = False,
    http: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where to serve.")] = "127.0.0.1:8000",
    idle: Annotated[
        float, typer.Option(min=1, help="End a client's session after this many seconds of silence.")
    ] = 600.0,
    write: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the folder of a container that serves it instead.")
    ] = None,
) -> None:
    """Serve an environment to OpenEnv clients, one remote per session; it needs the extra openenv.

    Clients send the token in $PLURIVERSE_TOKEN; if it isn't set, one is generated and printed in the address.
    """
    with exit_on_error():
        with needed("OpenEnv", extra="openenv"):
            from .serving import openenv_folder, openenv_server
            from .serving.web import parse_where, serve, take_token
        if write is not None:
            openenv_folder.write(write, env, remotes, clock)
            return
        width, height = size
        where = parse_where(http)
        token, is_new = take_token()
        options = {"clock": clock, "width": width, "height": height, "format": "jpeg" if jpeg else "png"}
        served = openenv_server.make_app(env, remotes, where[0], token, idle_s=idle, **options)
        greeting = f"http://{f'token:{token}@' if is_new else ''}{http}  (Ctrl-C ends it)"
        serve(served, *where, lambda: typer.echo(greeting))


@app.command(
    rich_help_panel=PLAY_PANEL,
    epilog='Example: pluriverse mcp -r local:1 -e "wob.*" --allow look --allow act --allow begin',
)
def mcp(
    remotes: RemotesOption = "1",
    env: Annotated[
        list[str] | None,
        typer.Option("--env", "-e", help="An environment that clients may begin, or a pattern ('doom.*'); repeatable."),
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option(help="What clients may do: look, act or begin; repeatable. Nothing by default.")
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option(
            help="realtime, or lockstep: environments pause while the model thinks; by default where they can."
        ),
    ] = None,
    size: SizeOption = (1280, 800),
    pointer: Annotated[
        bool, typer.Option("--pointer", help="Draw an arrow into pictures at the pointer's last position.")
    ] = False,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve streamable HTTP at /mcp on this address instead of stdio."),
    ] = None,
    idle: Annotated[
        float, typer.Option(min=0, help="Seconds after which an unused remote may be given to another client.")
    ] = 600.0,
) -> None:
    """Serve environments to language models over the Model Context Protocol; it needs the extra mcp.

    Over HTTP clients send the token in $PLURIVERSE_TOKEN; if it isn't set, one is generated and printed.
    """
    with exit_on_error():
        with needed("the Model Context Protocol", extra="mcp"):
            from .remotes.free import Remotes
            from .serving import mcp_run, mcp_server
            from .serving.computers import Computers
            from .serving.offered import Offered
            from .serving.web import parse_where, take_token
        width, height = size
        where = None if http is None else parse_where(http)
        shown: dict[str, Any] = {"width": width, "height": height, "pointer": pointer}
        computers = Computers(Remotes(remotes), clock=clock, idle_s=idle, **shown)
        server = mcp_server.Server(computers, Offered(env or (), remotes), allow or ())
        if where is None:
            mcp_run.run_stdio(server, computers)
            return
        token, is_new = take_token()
        greeting = f"http://{http}/mcp{f'  token {token}' if is_new else ''}  (Ctrl-C ends it)"
        mcp_run.run_http(server, computers, where, token, lambda: typer.echo(greeting))


@app.command(rich_help_panel=REMOTES_PANEL, epilog="Example: pluriverse envs doom")
def envs(
    runtime: Annotated[str | None, typer.Argument(help="The runtime's id; by default all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all details as a JSON list.")] = False,
) -> None:
    """List the ids of the environments that this machine can run, one per line."""
    from .catalogue import environments

    with exit_on_error():
        entries = environments(runtime)
        typer.echo(json.dumps(entries, indent=2) if as_json else "\n".join(str(entry["id"]) for entry in entries))


@app.command(rich_help_panel=REMOTES_PANEL, epilog='Example: pluriverse ping "pluriverse://127.0.0.1:15900?password=…"')
def ping(
    address: Annotated[
        str,
        typer.Argument(help="pluriverse://HOST:15900?password=…, or pluriverses:// or vnc://.", show_default=False),
    ],
    count: Annotated[int, typer.Option("--count", "-c", min=1, max=1000, help="How many pings.")] = 5,
) -> None:
    """Measure remotes: time to connect, round trips, clock skew, time to the first picture."""
    from .ping import examine
    from .remotes import each
    from .remotes.address import parse_addresses
    from .remotes.parse import PASSWORD_VARIABLE

    with exit_on_error():
        for place in parse_addresses(address, os.environ.get(PASSWORD_VARIABLE)):
            for line in each(examine(place, count), f"measuring {place}"):
                typer.echo(line)


@app.command(
    rich_help_panel=RECORDINGS_PANEL, epilog="Example: pluriverse export mine.plrec --video mine.mp4 --size 320 240"
)
def export(
    recording: Annotated[
        list[Path], typer.Argument(help="Recordings of pluriverse-server record, *.plrec.", show_default=False)
    ],
    minari: Annotated[
        str | None, typer.Option(help="Write the episodes to this Minari dataset, such as greed/human-v0.")
    ] = None,
    video: Annotated[
        Path | None, typer.Option(help="Write films to this path, *.mp4; it needs the extra video.")
    ] = None,
    actions: Annotated[
        str | None, typer.Option(help="discrete, pads, keys or pointer; by default the first that the environment has.")
    ] = None,
    fps: Annotated[
        float | None, typer.Option(min=0.1, max=1000, help="Steps per second; by default the recording's.")
    ] = None,
    size: Annotated[
        tuple[int, int] | None,
        typer.Option(metavar="WIDTH HEIGHT", help="The pictures' size, in pixels; by default unchanged."),
    ] = None,
) -> None:
    """Export recordings as a dataset of a person's observations and actions, or as films."""
    from .recording.export import Export

    with exit_on_error():
        shape = None if size is None else (size[1], size[0])
        exporter = Export(recording, fps=fps, size=shape, kind=actions, report=typer.echo)
        if minari is None and video is None:
            raise ConfigurationError("nothing to export: expected --minari DATASET, --video FILE, or both")
        if minari is not None:
            exporter.to_minari(minari)
        if video is not None:
            exporter.to_video(video)


@app.command(rich_help_panel=RECORDINGS_PANEL, epilog="Example: pluriverse verify run.plrun -r local:1")
def verify(
    run: Annotated[Path, typer.Argument(help="A file written by record= of an environment in lockstep.")],
    remotes: Annotated[
        str, typer.Option("--remotes", "-r", help="Where to replay it: local:1, docker:1, 1 for either, or vnc://….")
    ] = "1",
) -> None:
    """Replay a lockstep run, and compare the pixels, reward and text of every step with the recorded ones.

    Exits with 0 if all are the same, or with 1 at the first difference, which it describes. Record a run with
    record="run.plrun" and clock="lockstep": it has the seeds and actions, and a few bytes per frame.
    """
    from .recording.verify import verify as play_again

    with exit_on_error():
        count = int(remotes) if remotes.isdecimal() else remotes
        verified = play_again(run, count, lambda line: typer.echo(line, err=True))
    same = f"{verified.steps} steps of {verified.episodes} episodes are the same"
    typer.echo(f"{same}, with {verified.pictures} different pictures", err=bool(verified.difference))
    if verified.difference:
        _fail(f"the runs differ: {verified.difference}", EXIT_BROKEN)


@app.command(rich_help_panel=REMOTES_PANEL, epilog="Example: pluriverse doctor doom")
def doctor(runtime: Annotated[str, typer.Argument(help="The runtime's id.")] = "gym-core") -> None:
    """Play a runtime in every way that this machine supports; print the commands that install what is missing.

    Exits with 1 if the runtime can't be played here.
    """
    from .doctor import examine
    from .remotes import each

    playable = True
    for finding in each(examine(runtime), f"playing {runtime}"):
        playable = playable and (finding.present or not finding.needed)
        mark = "ok     " if finding.present else "missing"
        typer.echo(f"{mark}  {finding.name}: {finding.purpose if finding.present else finding.missing}")
        if finding.mend:
            typer.echo(f"         for {finding.purpose}: {finding.mend}")
    if not playable:
        raise typer.Exit(EXIT_BROKEN)


def main() -> None:
    _add_eval()
    app(prog_name="pluriverse")


def _add_eval() -> None:
    """Add the command of pluriverse-eval, or one that explains how to install it."""
    if importlib.util.find_spec("pluriverse_eval") is not None:
        commands = importlib.import_module("pluriverse_eval.cli").app
        app.add_typer(commands, name="eval", rich_help_panel=RECORDINGS_PANEL)
        return

    @app.command(
        "eval",
        rich_help_panel=RECORDINGS_PANEL,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def missing() -> None:
        """Play a suite of tasks with an agent; needs pluriverse-eval."""
        _fail("eval needs pluriverse-eval: pip install pluriverse-eval", EXIT_USAGE)


@contextlib.contextmanager
def exit_on_error() -> Generator[None]:
    """Print one of our errors as a message, and exit with its status."""
    try:
        yield
    except ConfigurationError as error:
        _fail(str(error), EXIT_USAGE)
    except PluriverseError as error:
        _fail(str(error), EXIT_BROKEN)


def _remove_afterwards(container: str) -> None:
    """Let a shell remove a container when this process, or its replacement, ends, even if killed."""
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    script = 'read _; exec docker rm --force "$0"'
    subprocess.Popen(
        ["sh", "-c", script, container],
        stdin=read_end,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(read_end)


def _passed_on() -> list[str]:
    """Return the options that hand our environment variables on to a container."""
    names = [name for name in os.environ if name.startswith("PLURIVERSE_") and name != "PLURIVERSE_RUNTIMES"]
    return [word for name in names for word in ("--env", name)]


def _fail(message: str, status: int) -> NoReturn:
    typer.echo(f"pluriverse: {message}", err=True)
    raise typer.Exit(status)


if __name__ == "__main__":
    main()
