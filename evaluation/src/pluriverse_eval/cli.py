"""The command ``pluriverse eval``: plays a suite, reports, and compares."""

from __future__ import annotations

import importlib.metadata
import logging
import platform
import time
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import rich.console
import rich.progress
import typer
import typer.core
from pluriverse.cli import EXIT_BROKEN, RemotesOption, SizeOption, exit_on_error
from pluriverse.errors import ConfigurationError, needed

# Heavy modules are imported by the commands that need them, to keep the help fast.
if TYPE_CHECKING:
    from .results import Episode, Run
    from .tables import Sheet

_console: Final = rich.console.Console()


class _EvalGroup(typer.core.TyperGroup):
    """``eval SUITE`` is ``eval run SUITE``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert ``run`` unless a command, or nearly one, is named."""
        if args and args[0] != "--help" and ("." in args[0] or not get_close_matches(args[0], self.commands)):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app: Final[typer.Typer] = typer.Typer(
    cls=_EvalGroup,
    no_args_is_help=True,
    epilog="Example: pluriverse eval realtime -a random -r local:2 --seeds 5",
    help="Play a suite of tasks with an agent; report its score, and what it loses while it thinks.\n\n"
    "``eval SUITE`` is short for ``eval run SUITE``.",
)


@app.command(epilog="Example: pluriverse eval realtime -a random -r local:2 --seeds 5")
def run(
    suite: Annotated[
        str, typer.Argument(help="A suite's .toml file, the included realtime, or tasks by id: 'tasks.*'.")
    ] = "realtime",
    agent: Annotated[
        str,
        typer.Option(
            "--agent",
            "-a",
            help="random, still or scripted; FILE.py:NAME or MODULE:NAME; openai:MODEL; or mcp:WORDS.",
        ),
    ] = "random",
    remotes: RemotesOption = "1",
    modes: Annotated[
        str,
        typer.Option(
            "--modes",
            "-m",
            help="How time passes while the agent thinks: paused, live, or either with added milliseconds: live+200.",
        ),
    ] = "paused,live,live+200",
    seeds: Annotated[int | None, typer.Option(help="How many of the suite's seeds; by default all.")] = None,
    task: Annotated[
        list[str] | None, typer.Option("--task", "-t", help="A task, or a pattern ('click-*'); repeatable.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Of tasks by id those of this split: train or test.")] = None,
    endpoint: Annotated[
        str | None, typer.Option(metavar="URL", help="The endpoint of openai:MODEL; by default $OPENAI_BASE_URL.")
    ] = None,
    size: SizeOption = (1280, 800),
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The folder of results; by default eval/SUITE-AGENT.")
    ] = None,
) -> None:
    """Play a suite, and write results.jsonl, recordings and report.html; the same command resumes it.

    Exits with 1 if episodes are missing because remotes broke.
    """
    with exit_on_error():
        options = {"width": size[0], "height": size[1]}
        missing = _run(suite, split, agent, endpoint, remotes, modes, seeds, task or (), out, options)
    if missing:
        raise typer.Exit(EXIT_BROKEN)


@app.command(epilog="Example: pluriverse eval compare eval/realtime-random eval/realtime-still")
def compare(
    first: Annotated[Path, typer.Argument(help="A folder of results.")],
    second: Annotated[Path, typer.Argument(help="Another, of the same suite.")],
) -> None:
    """Print how much higher the second agent scores, and whether the difference is real, by paired bootstrap."""
    with exit_on_error():
        _compare(first, second)


@app.command(epilog="Example: pluriverse eval table eval/realtime-*")
def table(
    folders: Annotated[list[Path], typer.Argument(help="Folders of results, of the same suite.")],
) -> None:
    """Print the scores of runs side by side, in Markdown, and the spread between runs of the same agent."""
    with exit_on_error():
        from .tables import beside

        for each in beside(_read_alike(folders)):
            _print(each)


@app.command(epilog="Example: pluriverse eval report eval/realtime-random")
def report(folder: Annotated[Path, typer.Argument(help="A folder of results.")]) -> None:
    """Rewrite the report.html of a folder."""
    with exit_on_error():
        from .results import Folder

        _console.print(f"{_report(Folder(folder))}")


def _run(
    where: str,
    split: str | None,
    agent: str,
    endpoint: str | None,
    remotes: str,
    modes: str,
    seeds: int | None,
    patterns: Sequence[str],
    out: Path | None,
    options: dict[str, Any],
) -> int:
    """Play a suite; return how many episodes are missing."""
    from pluriverse.remotes.free import one_by_one

    with needed("eval", package="pluriverse-eval"):
        from .agents import open_agent
        from .modes import parse_modes
        from .results import ENDS, Folder, Run
        from .runner import Runner
        from .suite import read_suite, scripted

    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    suite = read_suite(where, split).only(patterns, seeds)
    if agent == "scripted":
        suite = scripted(suite)
    chosen = parse_modes(modes)
    places = one_by_one(remotes)
    # An unavailable one is refused before anything is written.
    open_agent(agent, endpoint).close()
    out = out or Path("eval") / f"{suite.name}-{''.join(c if c.isalnum() else '-' for c in agent)}"
    folder = Folder(out)
    asked = Run(
        agent=agent,
        suite=suite.name,
        suite_version=suite.version,
        digest=suite.digest,
        modes=[mode.name for mode in chosen],
        seeds=suite.seeds,
        tasks=[task.name for task in suite.tasks],
        scales={task.name: (task.random, task.reference) for task in suite.tasks},
        began=time.time(),
        versions={"pluriverse": importlib.metadata.version("pluriverse"), "python": platform.python_version()},
    )
    columns = (
        *("{task.description}", rich.progress.BarColumn(), rich.progress.MofNCompleteColumn()),
        *(rich.progress.TimeElapsedColumn(), rich.progress.TimeRemainingColumn()),
    )
    with folder.alone(), rich.progress.Progress(*columns, console=_console) as progress:
        done = folder.begin(asked)
        line = progress.add_task("episodes")

        def report(episode: Episode) -> None:
            how = f"failed: {episode.error}" if episode.error else ENDS[episode.ended]
            _console.print(
                f"{episode.task} {episode.mode} seed {episode.seed}: "
                f"earned {episode.earned:g}, score {episode.score:z.0f}, {how}",
                highlight=False, markup=False,
            )  # fmt: skip
            progress.advance(line)

        def warn(problem: str) -> None:
            _console.print(problem, style="yellow", highlight=False, markup=False)

        runner = Runner(suite, chosen, lambda: open_agent(agent, endpoint), folder, options, report, warn)
        lots = runner.lots({episode.key for episode in done})
        left = sum(len(lot.episodes) for lot in lots)
        progress.update(line, total=left + len(done), completed=len(done))
        try:
            runner.run(lots, places)
        except KeyboardInterrupt:
            _console.print(f"stopped; the results so far are in {out}, and the same command resumes the run")
            raise
    page = _report(folder)
    for missing in runner.missing:
        _console.print(f"not played: {missing}", style="yellow", highlight=False, markup=False)
    if runner.missing:
        _console.print("the same command plays the missing episodes")
    _console.print(f"{page}")
    return len(runner.missing)


def _compare(first: Path, second: Path) -> None:
    """Print for each common mode how much higher the second scores, and whether the difference is real."""
    from .statistics import compare as paired
    from .tables import differences

    (run_a, a), (run_b, b) = _read_alike((first, second))
    modes = [mode for mode in run_a.modes if mode in run_b.modes]
    if not modes:
        raise ConfigurationError(f"{first} and {second} have no mode in common")
    for mode in modes:
        try:
            together, tasks = paired(
                *({(each.task, each.seed): each.score for each in run if each.mode == mode} for run in (a, b))
            )
        except ValueError as error:
            raise ConfigurationError(f"{first} and {second}: {mode}: {error}") from error
        _print(differences(f"{mode}: {run_b.agent} less {run_a.agent}", tasks, together))


def _read_alike(folders: Sequence[Path]) -> list[tuple[Run, list[Episode]]]:
    """Read runs of the same suite; raise ConfigurationError if a folder has no run, or one of another suite."""
    from .results import Folder

    runs = [Folder(folder).read() for folder in folders]
    for folder, (run, _) in zip(folders, runs, strict=True):
        if run.digest != runs[0][0].digest:
            one = runs[0][0]
            raise ConfigurationError(
                f"{folders[0]} is of {one.suite} ({one.digest}), {folder} of {run.suite} ({run.digest}); "
                "scores of different suites can't be compared"
            )
    return runs


def _report(folder: Any) -> Path:
    """Write the report of a folder, print its scores, and return the page."""
    from pluriverse.remotes import waiting

    from .report import write_report
    from .tables import scores

    with waiting("writing films and report.html"):
        page, _, found = write_report(folder, report=_console.print)
    _print(scores(found))
    return page


def _print(table: Sheet) -> None:
    _console.print(f"{table.text()}\n", soft_wrap=True, highlight=False, markup=False)
