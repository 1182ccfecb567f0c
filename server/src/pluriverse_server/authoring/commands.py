"""The author's commands of ``pluriverse-server``; what they do is in the modules beside this one."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

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
from pluriverse_server.console.serve import EXIT_BROKEN, EXIT_USAGE, exit_on_error, fail, serve, set_up_logging
from pluriverse_server.manifest.draft import DRAFT_VARIABLE
from pluriverse_server.settings import Settings, generate_password

PANEL = "Making a runtime"


def add_commands(app: typer.Typer) -> None:
    """Add them to the command, under a heading of their own, in the order in which an author needs them."""
    commands: dict[str, Callable[..., None]] = {
        "init": init,
        "validate": validate,
        "try": try_,
        "record": record,
        "label": label,
        "learn": learn,
        "crop": crop,
        "score": score,
        "build": build,
    }
    for name, command in commands.items():
        app.command(name, rich_help_panel=PANEL)(command)


def init(
    name: Annotated[
        str, typer.Argument(help="The runtime's id: lower-case letters, digits and dashes.", show_default=False)
    ],
    directory: Annotated[
        Path | None, typer.Option(help="The folder to write it into; if not given, NAME here.", show_default=False)
    ] = None,
) -> None:
    """Write a runtime that runs as it is, with a tiny game to put your own program in the place of.

    The game reports nothing: its score and lives are read from the screen, as they are of any program.
    """
    from .init import InitError
    from .init import init as write

    folder = directory or Path(name)
    try:
        files = write(name, folder)
    except InitError as error:
        fail(str(error), EXIT_USAGE)
    typer.echo("\n".join(f"wrote {path}" for path in files))
    typer.echo(f"next: pluriverse-server try {folder}")


def validate(runtime: RuntimeArgument, draft: DraftOption = False) -> None:
    """Check a runtime: a line for each mistake, with its file, its line and a remedy; exit status 2 if there are any.

    Checks runtime.toml and the games' files, the files and programs that they name, the places on the screen, and the
    environments. Warns of what runs but is likely to give wrong rewards. Starts nothing but the catalogue's script.
    """
    from .validate import validate as check

    found = check(runtime, draft=draft)
    for warning in found.warnings:
        typer.echo(str(warning), err=True)
    for mistake in found.mistakes:
        typer.echo(str(mistake), err=True)
    if found.mistakes or found.manifest is None:
        raise typer.Exit(EXIT_USAGE)
    about = found.manifest.runtime
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
    """Run a remote whose viewer draws what each source reads over the picture, with the rewards beside it.

    Open the address that it prints, take control, and play: every reading has a frame where it was read, its value and
    state, and each reward and end is listed as it is given.
    """
    with exit_on_error():
        settings = _settings(runtime, env, host, vnc_port, rewarder_port, password)
        set_up_logging(verbose=verbose)
        _tell_of_draft(draft)
        asyncio.run(serve(settings, show_status=sys.stderr.isatty(), query="&readings=1&control=1"))


def record(
    runtime: RuntimeArgument,
    env: EnvArgument = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=1, help="End after so many seconds; if not given, with Ctrl-C.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="The file; if not given, the next number in the runtime's recordings.", show_default=False),
    ] = None,
    keep: Annotated[
        Literal["all", "regions"],
        typer.Option(help="all of the screen; or the sources' regions, and all of it every five seconds."),
    ] = "all",
    agent: Annotated[
        Literal["person", "random"],
        typer.Option(help="Who plays: a person, in the viewer; or random choices of the environment's spaces."),
    ] = "person",
    host: HostOption = "127.0.0.1",
    vnc_port: VncPortOption = 5900,
    rewarder_port: RewarderPortOption = 15900,
    password: PasswordOption = None,
    draft: DraftOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Run a remote and record it: its screen, what was read and given, and who pressed what, on one clock.

    Open the address that it prints and play, or let an agent play. Ctrl-C ends it and finishes the file.
    """
    from pluriverse_server.recording.file import already_there
    from pluriverse_server.recording.recorder import RecordingFailed

    from .commands_record import Plan, RecordedRemote

    if output is not None and (there := already_there(output)) is not None:
        fail(f"{there} is there already; name another file with --output", EXIT_USAGE)
    plan = Plan(output, seconds, keep, random_agent=agent == "random")
    with exit_on_error():
        settings = _settings(runtime, env, host, vnc_port, rewarder_port, password)
        set_up_logging(verbose=verbose)
        _tell_of_draft(draft)
        try:
            recorded = asyncio.run(RecordedRemote(settings, plan).run())
        except RecordingFailed as error:
            fail(str(error), EXIT_BROKEN)
        except OSError as error:
            # A disk that is full names no file.
            path = error.filename or output or runtime
            fail(f"{path} can't be written: {error.strerror}", EXIT_USAGE)
    if recorded is not None:
        size = f"{recorded.seconds:.1f} s, {recorded.bytes / 1e6:.1f} MB"
        typer.echo(f"recorded {recorded.path}: {size}; next: pluriverse-server label {recorded.path}")


def label(
    recording: Annotated[Path, typer.Argument(help="A file that record has written.", show_default=False)],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the page is served; 0 for any free port.")] = 0,
) -> None:
    """Say, in the browser, what a recording's score really was, and when its episodes began and ended.

    Steps through it frame by frame with the keyboard. What the sources read is proposed; each label is saved at once
    as NAME.labels.json beside the recording.
    """
    from .commands_label import LabelError, label_recording

    try:
        asyncio.run(label_recording(recording, port, typer.echo))
    except LabelError as error:
        fail(str(error), EXIT_USAGE)


def learn(
    runtime: RuntimeArgument,
    source: Annotated[str, typer.Argument(help="A source that reads a number or a text.", show_default=False)],
    env: EnvArgument = None,
    characters: Annotated[
        str | None,
        typer.Option(help="Those that have to be learnt; if not given, 0123456789 for a number.", show_default=False),
    ] = None,
) -> None:
    """Learn what a source's characters look like from the runtime's labelled recordings; writes its glyph file."""
    from pluriverse_server.manifest.runtime import ManifestError

    from .commands_learn import learn_source
    from .labels import LabelsError
    from .learn import LearnError

    try:
        learnt = learn_source(runtime, source, env, characters)
    except (ManifestError, LabelsError, LearnError) as error:
        fail(str(error), EXIT_USAGE)
    except OSError as error:
        fail(f"{error.filename or runtime}: {error.strerror or error}", EXIT_USAGE)
    typer.echo(f"wrote {learnt.path}: {learnt.characters}; it reads all {learnt.crops} labelled crops")


def crop(
    recording: Annotated[Path, typer.Argument(help="A file that record has written.", show_default=False)],
    picture: Annotated[Path, typer.Argument(help="Where the picture goes, a PNG.", show_default=False)],
    at: Annotated[float, typer.Option(min=0, help="The moment, in seconds since it began.", show_default=False)],
    source: Annotated[
        str | None, typer.Option(help="The region of this source of the runtime's.", show_default=False)
    ] = None,
    region: Annotated[
        tuple[int, int, int, int] | None,
        typer.Option(help="X, y, width and height in pixels; if neither is given, all of it.", show_default=False),
    ] = None,
) -> None:
    """Cut a picture out of a recording, such as the image of a template."""
    from .crop import CropError
    from .crop import crop as cut

    try:
        width, height = cut(recording, picture, at=at, source=source, region=region)
    except CropError as error:
        fail(str(error), EXIT_USAGE)
    typer.echo(f"wrote {picture}: {width}x{height} pixels")


def score(
    runtime: RuntimeArgument,
    recordings: Annotated[
        list[Path] | None,
        typer.Argument(help="Which; if none is named, all in the runtime's recordings.", show_default=False),
    ] = None,
    write: Annotated[
        bool, typer.Option(help="Whether to write NAME.report.json and pictures of what disagrees.")
    ] = True,
) -> None:
    """Read recordings again as runtime.toml is now, and compare with what was labelled; exit status 1 if they differ.

    Reports precision and recall of rewards and of ends, their delay in frames, and each disagreement as a picture
    beside the recording.
    """
    from pluriverse_server.manifest.runtime import ManifestError

    from .labels import LabelsError
    from .score import ScoreError
    from .score import score as compare

    try:
        status = compare(runtime, recordings or (), write=write)
    except (ManifestError, LabelsError, ScoreError) as error:
        fail(str(error), EXIT_USAGE)
    raise typer.Exit(status)


def build(
    runtime: RuntimeArgument,
    tag: Annotated[
        str | None, typer.Option(help="The image's name; if not given, pluriverse/ID.", show_default=False)
    ] = None,
) -> None:
    """Make a runtime's image with Docker, on the same layers as the shipped ones.

    debian.txt in the folder lists Debian packages as PROGRAM:PACKAGE, a line each, and requirements.txt those of
    Python's. Needs a checkout of pluriverse's sources.
    """
    from .build import BuildError
    from .build import build as make
    from .validate import validate as check

    found = check(runtime)
    if found.manifest is None:
        fail(f"{runtime} can't be built: pluriverse-server validate {runtime} says why", EXIT_USAGE)
    image = tag or f"pluriverse/{found.manifest.runtime.id}"
    try:
        make(runtime, found.manifest, image)
    except BuildError as error:
        fail(str(error), EXIT_USAGE)
    typer.echo(f"made {image}; run it with: docker run --rm -p 5900:5900 -p 15900:15900 {image}")


def _tell_of_draft(draft: bool) -> None:
    """Let the scraper know, which is another process."""
    if draft:
        os.environ[DRAFT_VARIABLE] = "1"


def _settings(
    runtime: Path, env: str | None, host: str, vnc_port: int, rewarder_port: int, password: str | None
) -> Settings:
    return Settings(
        runtime=runtime,
        env_id=env,
        host=host,
        vnc_port=vnc_port,
        rewarder_port=rewarder_port,
        password=password or generate_password(),
    )
