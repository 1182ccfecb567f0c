"""The author's commands of ``pluriverse-server``: arguments and output. Their work is done by the modules beside."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from pluriverse_protocol.recordings import MAX_SECONDS
from pluriverse_protocol.rfb.security import generate_password
from pluriverse_server import event_loop
from pluriverse_server.console.options import (
    DraftOption,
    EnvArgument,
    HostOption,
    PasswordOption,
    RewarderPortOption,
    RuntimeArgument,
    VerboseOption,
    VncPortOption,
)
from pluriverse_server.console.secrecy import keep_secret
from pluriverse_server.console.serve import EXIT_BROKEN, EXIT_USAGE, exit_on_error, fail, serve, set_up_logging
from pluriverse_server.manifest.draft import DRAFT_VARIABLE
from pluriverse_server.manifest.runtime import ManifestError
from pluriverse_server.settings import Settings
from typer.core import TyperCommand

from pluriverse_authoring import AuthoringError

PANEL = "Making a runtime"

RecordingArgument = Annotated[Path, typer.Argument(help="A recording, *.plrec.", show_default=False)]


def _exit_on_authoring_error(command: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(command)
    def run(**arguments: object) -> None:
        try:
            command(**arguments)
        except (AuthoringError, ManifestError) as error:
            fail(str(error), EXIT_USAGE)

    return run


def init(
    name: Annotated[
        str, typer.Argument(help="The runtime's id: lower-case letters, digits and dashes.", show_default=False)
    ],
    directory: Annotated[
        Path | None, typer.Option(help="The folder to write to; by default NAME.", show_default=False)
    ] = None,
) -> None:
    """Write a complete runtime with a tiny game, to be replaced by your own program.

    The game reports nothing: its score and lives are read from the screen, as with any program.
    """
    from .init import init as write

    folder = directory or Path(name)
    files = write(name, folder)
    typer.echo("\n".join(f"wrote {path}" for path in files))
    typer.echo(f"next: pluriverse-server try {folder}")


def look(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND",
            help="A program with its arguments; the address or file of a page; or a runtime's folder.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(help="The folder of the new runtime; by default named after the program.", show_default=False),
    ] = None,
    screen: Annotated[str, typer.Option(help="The new runtime's screen, WIDTHxHEIGHT in pixels.")] = "1024x768",
    env: Annotated[str | None, typer.Option(help="The environment, if the runtime has several.")] = None,
    vnc_port: VncPortOption = 5900,
    rewarder_port: RewarderPortOption = 15900,
    verbose: VerboseOption = False,
) -> None:
    """Run a program without a runtime.toml, look at it in the browser, and write its sources to a new runtime.toml.

    Drag a region in the viewer, and each reader that may fit shows its reading and confidence. Each choice becomes
    a table of the new runtime.toml.
    """
    import re

    from .look import look as look_at
    from .runtime_file import RuntimeFile, begin

    size = re.fullmatch(r"(\d{2,4})x(\d{2,4})", screen)
    if size is None:
        fail(f"--screen {screen}: expected WIDTHxHEIGHT in pixels, such as 640x480", EXIT_USAGE)
    folder = begin(words, output, (int(size[1]), int(size[2])))
    file = RuntimeFile(folder, env)
    with exit_on_error():
        settings = _prepare(folder, file.env_id, "127.0.0.1", vnc_port, rewarder_port, None, True, verbose)
        event_loop.run(look_at(file, settings))


def validate(
    runtime: RuntimeArgument,
    draft: DraftOption = False,
) -> None:
    """Check a runtime: prints each mistake with its file, line and remedy; exit status 2 if there are any.

    Checks runtime.toml and the games' files, the files and programs that they name, the places on the screen, and the
    environments. Warns of rules that are likely to give wrong rewards. Starts only the catalogue's script, and programs
    whose starts are declared to be the same, to compare them.
    """
    from .validate import validate as check

    found = check(runtime, draft=draft)
    if not found.mistakes:
        found.check_starts(runtime)
    for problem in (*found.warnings, *found.mistakes):
        typer.echo(str(problem), err=True)
    if found.mistakes or found.manifest is None:
        raise typer.Exit(EXIT_USAGE)
    about = found.manifest.runtime
    for env_id, pictures in found.compared.items():
        typer.echo(f"{env_id}: its starts are the same, with any seed, in {pictures} different pictures")
    typer.echo(f"{runtime}: valid: runtime {about.id} {about.version}, {len(found.catalogue)} environments")


def try_(
    runtime: RuntimeArgument,
    env: EnvArgument = None,
    host: HostOption = "127.0.0.1",
    vnc_port: VncPortOption = 5900,
    rewarder_port: RewarderPortOption = 15900,
    password: PasswordOption = None,
    draft: DraftOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Run a remote whose viewer draws each source's reading over the picture, with the rewards beside it.

    Open the printed address, take control, and play: every reading is framed in place, with its value and state, and
    each reward and end is listed.
    """
    with exit_on_error():
        settings = _prepare(runtime, env, host, vnc_port, rewarder_port, password, draft, verbose)
        event_loop.run(serve(settings, "&readings=1&control=1"))


def record(
    runtime: RuntimeArgument,
    env: EnvArgument = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=1, max=MAX_SECONDS, help="End after this many seconds; by default with Ctrl-C or after a day."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="The file; by default the next number in the runtime's recordings.", show_default=False),
    ] = None,
    keep: Annotated[
        Literal["all", "often", "regions"],
        typer.Option(
            help="all: every picture of the screen. often: the sources' regions, and the whole screen five times a "
            "second, or less often and coarsely to stay within 10 MB in four minutes. "
            "regions: the regions, and the whole screen coarsely every five seconds."
        ),
    ] = "all",
    agent: Annotated[
        Literal["person", "random"],
        typer.Option(help="Who plays: a person in the viewer, or a random agent in the environment's spaces."),
    ] = "person",
    host: HostOption = "127.0.0.1",
    vnc_port: VncPortOption = 5900,
    rewarder_port: RewarderPortOption = 15900,
    password: PasswordOption = None,
    draft: DraftOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Run a remote and record it: its screen, readings, rewards and input, on one clock.

    Open the printed address and play, or let an agent play. Ctrl-C ends it and finishes the file.
    """
    from pluriverse_protocol.recording_file import already_there

    from pluriverse_authoring.recording.recorder import RecordingFailed

    from .record import RecordedRemote, RecordingOptions

    if output is not None and (there := already_there(output)) is not None:
        fail(f"{there} already exists; name another file with --output", EXIT_USAGE)
    options = RecordingOptions(output, seconds, keep, random_agent=agent == "random")
    with exit_on_error():
        settings = _prepare(runtime, env, host, vnc_port, rewarder_port, password, draft, verbose)
        try:
            recorded = event_loop.run(RecordedRemote(settings, options).run())
        except RecordingFailed as error:
            fail(str(error), EXIT_BROKEN)
    if recorded is not None:
        size = f"{recorded.seconds:.1f} s, {recorded.bytes / 1e6:.1f} MB"
        typer.echo(f"recorded {recorded.path}: {size}; next: pluriverse-server label {recorded.path}")


def label(
    recording: RecordingArgument,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The page's port; 0: any free port.")] = 0,
) -> None:
    """Label a recording's true score and the beginnings and ends of its episodes in the browser.

    Step through it frame by frame with the keyboard. The sources' readings are proposed; each label is saved at once to
    NAME.labels.json beside the recording.
    """
    from .label import label_recording

    asyncio.run(label_recording(recording, port, typer.echo))


def learn(
    runtime: RuntimeArgument,
    source: Annotated[str, typer.Argument(help="A source that reads a number or a text.", show_default=False)],
    env: EnvArgument = None,
    characters: Annotated[
        str | None,
        typer.Option(help="The characters to learn; by default 0123456789 for a number.", show_default=False),
    ] = None,
) -> None:
    """Learn what a source's characters look like from the runtime's labelled recordings; writes its glyph file.

    Glyphs need a gap between them; use Tesseract for characters that touch or overlap. Crops whose reading differs
    from their label are left out and listed.
    """
    from .learn import learn_source

    try:
        learnt = learn_source(runtime, source, env, characters)
    except OSError as error:
        fail(f"{error.filename or runtime}: {error.strerror or error}", EXIT_USAGE)
    doubtful = len(learnt.doubtful)
    read = f"{learnt.crops - doubtful} of {learnt.crops}" if doubtful else f"all {learnt.crops}"
    typer.echo(f"wrote {learnt.path}: {learnt.characters}; it reads {read} labelled crops")
    for doubt in learnt.doubtful:
        typer.echo(f"not read as labelled: {doubt}")


class CropCommand(TyperCommand):
    """Takes a region in one word as well, ``X,Y,W,H`` as the help has it, where Typer wants four."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words: list[str] = []
        for arg in args:
            if arg.startswith("--region="):
                words += ["--region", *arg.removeprefix("--region=").split(",")]
            else:
                words += arg.split(",") if words[-1:] == ["--region"] else [arg]
        return super().parse_args(ctx, words)


def crop(
    recording: RecordingArgument,
    picture: Annotated[Path, typer.Argument(help="The PNG file to write.", show_default=False)],
    at: Annotated[
        float, typer.Option(min=0, help="The time, in seconds since the recording began.", show_default=False)
    ],
    source: Annotated[str | None, typer.Option(help="Cut out the region of this source.", show_default=False)] = None,
    region: Annotated[
        tuple[int, int, int, int] | None,
        typer.Option(
            help="X,Y,WIDTH,HEIGHT in pixels, also as four words; by default the whole picture.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Cut a picture out of a recording, such as the image of a template."""
    from .crop import crop as cut

    width, height = cut(recording, picture, at=at, source=source, region=region)
    typer.echo(f"wrote {picture}: {width}x{height} pixels")


def score(
    runtime: RuntimeArgument,
    recordings: Annotated[
        list[Path] | None,
        typer.Argument(help="The recordings; by default all of the runtime's.", show_default=False),
    ] = None,
    write: Annotated[
        bool, typer.Option(help="Whether to write NAME.report.json and pictures of disagreements.")
    ] = True,
) -> None:
    """Replay recordings with the current runtime.toml and compare with their labels; exit status 1 if they differ.

    Reports the numbers of rewards and ends, with precision and recall, the sums of reward, wrong episodes, and delays
    in seconds, limited by the key score.max_delay; and each disagreement as a picture beside the recording. Rewards or
    ends of an environment that no recording has, and recordings without labels, are reported, with exit status 1.

    Recordings of tasks by pluriverse eval need no labels: each check is run again on what was kept of it.
    """
    from .score import score as compare

    raise typer.Exit(compare(runtime, recordings or (), write=write))


def audit(
    runtime: RuntimeArgument,
    envs: Annotated[
        list[str] | None, typer.Argument(help="The tasks' environments; by default all.", show_default=False)
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="How many seeds of each task are played.")] = 3,
) -> None:
    """Play each task of a runtime by its oracle, not at all, at random and into its traps; exit status 1 if one fails.

    The oracle must earn 1, nothing and each trap 0, and random play at most 0.05. A seed must begin the same each time,
    and others differently; the screen alone must not move a check; the words or the picture must say what varies. The
    programs run on this machine, in lockstep if they can.
    """
    from .audit import audit as play

    raise typer.Exit(play(runtime, envs or (), seeds))


def build(
    runtime: RuntimeArgument,
    tag: Annotated[
        str | None, typer.Option(help="The image's name; by default pluriverse/ID.", show_default=False)
    ] = None,
) -> None:
    """Build a runtime's image with Docker, on the same layers as the shipped ones.

    debian.txt in the folder lists Debian packages as PROGRAM:PACKAGE, one per line; Python packages are the
    dependencies in its pyproject.toml. Needs a checkout of pluriverse's sources.
    """
    from .build import build as make
    from .validate import validate as check

    found = check(runtime)
    if found.manifest is None:
        fail(f"{runtime} can't be built; for the reason run: pluriverse-server validate {runtime}", EXIT_USAGE)
    image = tag or f"pluriverse/{found.manifest.runtime.id}"
    make(runtime, found.manifest, image)
    typer.echo(f"built {image}; run it with: docker run --rm -p 5900:5900 -p 15900:15900 {image}")


def _prepare(
    runtime: Path,
    env: str | None,
    host: str,
    vnc_port: int,
    rewarder_port: int,
    password: str | None,
    draft: bool,
    verbose: bool,
) -> Settings:
    set_up_logging(verbose=verbose)
    if draft:
        # For the scraper, which is another process.
        os.environ[DRAFT_VARIABLE] = "1"
    settings = Settings(
        runtime=runtime,
        env_id=env,
        host=host,
        vnc_port=vnc_port,
        rewarder_port=rewarder_port,
        password=password or generate_password(),
    )
    keep_secret(settings.password)
    return settings


# Under a heading of their own, in the order in which an author needs them, with an example of each.
app: Final[typer.Typer] = typer.Typer(no_args_is_help=True)
for _name, _command, _example in (
    ("init", init, "my-game"),
    ("look", look, "/usr/games/greed"),
    ("validate", validate, "my-game"),
    ("try", try_, "my-game"),
    ("record", record, "my-game --seconds 60"),
    ("label", label, "my-game/recordings/1.plrec"),
    ("learn", learn, "my-game score"),
    ("crop", crop, "my-game/recordings/1.plrec title.png --at 2.5 --region 0,0,64,16"),
    ("score", score, "my-game"),
    ("audit", audit, "my-tasks --seeds 20"),
    ("build", build, "my-game"),
):
    # What follows the program to look at is the program's own.
    _own = {"allow_interspersed_args": False} if _command is look else None
    _kind = CropCommand if _command is crop else None
    _epilog = f"Example: pluriverse-server {_name} {_example}"
    _add = app.command(_name, cls=_kind, rich_help_panel=PANEL, epilog=_epilog, context_settings=_own)
    _add(_exit_on_authoring_error(_command))
