"""``pluriverse eval``: plays a suite, reports, and compares."""

from __future__ import annotations

import importlib.metadata
import logging
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich.console
import rich.progress

from pluriverse.errors import ConfigurationError, needed
from pluriverse.remotes.free import one_by_one

from .statistics import compare

if TYPE_CHECKING:
    from .results import Episode, Run
    from .tables import Sheet

_console = rich.console.Console()


def run(
    where: str,
    *,
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
    with needed("pydantic", extra="eval"):
        from .results import Folder, Run
        from .suite import read_suite, scripted
    from .agents import open_agent
    from .modes import parse_modes
    from .runner import Runner

    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    suite = read_suite(where).only(patterns, seeds)
    if agent == "scripted":
        suite = scripted(suite)
    chosen = parse_modes(modes)
    places = one_by_one(remotes)
    # Refused before anything is written, if it can't be had.
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
            how = f"failed: {episode.error}" if episode.error else episode.ended
            _console.print(
                f"{episode.task} {episode.mode} seed {episode.seed}: "
                f"{episode.earned:g}, score {episode.score:z.0f}, {how}",
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
            _console.print(f"ended; what was played is in {out}, and the same command goes on from there")
            raise
    page = _report(folder)
    for missing in runner.missing:
        _console.print(f"not played: {missing}", style="yellow", highlight=False, markup=False)
    if runner.missing:
        _console.print("the same command plays what is missing")
    _console.print(f"{page}")
    return len(runner.missing)


def report(out: Path) -> None:
    """Write the report of a folder of results again; raise ConfigurationError if it is none."""
    with needed("pydantic", extra="eval"):
        from .results import Folder
    _console.print(f"{_report(Folder(out))}")


def compare_runs(first: Path, second: Path) -> None:
    """Say for each mode of both by how much the second scores higher, and whether that is real."""
    with needed("tabulate", extra="eval"):
        from .tables import differences

    (run_a, a), (run_b, b) = _read_alike((first, second))
    modes = [mode for mode in run_a.modes if mode in run_b.modes]
    if not modes:
        raise ConfigurationError(f"{first} and {second} have no mode in common")
    for mode in modes:
        try:
            together, tasks = compare(
                *({(each.task, each.seed): each.score for each in run if each.mode == mode} for run in (a, b))
            )
        except ValueError as error:
            raise ConfigurationError(f"{first} and {second}: {mode}: {error}") from error
        _print(differences(f"{mode}: {run_b.agent} less {run_a.agent}", tasks, together))


def print_table(folders: Sequence[Path]) -> None:
    """Print the scores of some runs beside each other, in Markdown."""
    with needed("tabulate", extra="eval"):
        from .tables import beside

    for table in beside(_read_alike(folders)):
        _print(table)


def _read_alike(folders: Sequence[Path]) -> list[tuple[Run, list[Episode]]]:
    """Read runs of the same suite; raise ConfigurationError if one is none, or of another."""
    with needed("pydantic", extra="eval"):
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
    with needed("matplotlib", extra="eval"):
        from .report import write_report
    from .tables import scores

    page, _, found = write_report(folder, report=_console.print)
    _print(scores(found))
    return page


def _print(table: Sheet) -> None:
    _console.print(f"{table.text()}\n", soft_wrap=True, highlight=False, markup=False)
