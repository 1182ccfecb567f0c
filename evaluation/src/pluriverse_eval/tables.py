"""Scores of runs as tables: Markdown that is printed, and HTML of the report. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import Literal

from tabulate import tabulate as render

from .results import Episode, Run
from .statistics import Difference, Estimate
from .table import Cell, Table, tabulate

Runs = Sequence[tuple[Run, Sequence[Episode]]]


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of text under a head."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self, kind: Literal["pipe", "html"] = "pipe") -> str:
        alignments = ["left", *["right"] * (len(self.head) - 1)]
        return render(self.rows, self.head, tablefmt=kind, disable_numparse=True, colalign=alignments)


def scores(table: Table) -> Sheet:
    """Return a run's scores, by task and mode, and how many episodes succeeded."""
    rows = [[task, *_scored(table.cells.get((task, mode)) for mode in table.modes)] for task in table.tasks]
    if table.all:
        rows.append([f"all {table.counted}", *_scored(table.all[mode] for mode in table.modes)])
    return Sheet(["task", *(head for mode in table.modes for head in (mode, "succeeded"))], rows)


def lags(episodes: Sequence[Episode], modes: Sequence[str]) -> Sheet:
    """Return medians over episodes of reactions and of the bounds of lags, in milliseconds, by mode."""
    names = "observation", "action", "reward"
    rows: list[list[str]] = []
    for mode in modes:
        played = [episode for episode in episodes if episode.mode == mode]
        reactions = [episode.reaction_ms for episode in played if episode.reaction_ms is not None]
        row = [mode, *(_median([each[index] for each in reactions]) for index in (0, 1))]
        for name in names:
            bounds = [episode.lags_ms[name] for episode in played if name in episode.lags_ms]
            row.append(" to ".join(_median([each[index] for each in bounds]) for index in (0, 1)) if bounds else "-")
        rows.append(row)
    return Sheet(["mode", "reaction, p50", "p95", *names], rows)


def beside(runs: Runs) -> Iterable[Sheet]:
    """Yield what each agent scores in each mode, with 95 %, and the mean scores of each task.

    The first is of the tasks that all of them have played in all their modes. Of an agent that has several runs, a
    third says how much the mean scores of each task differ between them.
    """
    tables = [tabulate(episodes, run.tasks, run.modes) for run, episodes in runs]
    modes = list(dict.fromkeys(mode for table in tables for mode in table.modes))
    tasks = list(dict.fromkeys(task for table in tables for task in table.tasks))
    whole = {task for task in tasks if all((task, mode) in table.cells for table in tables for mode in table.modes)}
    rows: list[list[str]] = []
    for run, episodes in runs:
        together = tabulate((each for each in episodes if each.task in whole), run.tasks, run.modes).all
        rows.append([run.agent, *(_estimate(together[mode].score) if mode in together else "-" for mode in modes)])
    yield Sheet([f"tasks in common: {len(whole)}", *modes], rows)
    columns = [(run.agent, table, mode) for (run, _), table in zip(runs, tables, strict=True) for mode in table.modes]
    means = [[task, *(_mean(table.cells.get((task, mode))) for _, table, mode in columns)] for task in tasks]
    yield Sheet(["task", *(f"{agent}, {mode}" for agent, _, mode in columns)], means)
    for agent in dict.fromkeys(run.agent for run, _ in runs):
        repeated = [table for (run, _), table in zip(runs, tables, strict=True) if run.agent == agent]
        if len(repeated) > 1:
            head = [f"{agent}, {len(repeated)} runs: standard deviation of the mean", *modes]
            yield Sheet(head, [[task, *(_deviation(repeated, task, mode) for mode in modes)] for task in tasks])


def differences(title: str, tasks: Mapping[str, Difference], together: Difference) -> Sheet:
    """Return by how much scores differ, for each task and all."""
    rows = [
        [
            name,
            f"{each.mean:+z.1f}",
            f"{each.low:+z.1f} to {each.high:+z.1f}",
            str(each.pairs),
            f"{each.p:.3f}",
            "real" if each.real else "may be chance",
        ]
        for name, each in [*tasks.items(), ("all tasks", together)]
    ]
    return Sheet([title, "difference", "95 %", "pairs", "p", ""], rows)


def _scored(cells: Iterable[Cell | None]) -> Iterable[str]:
    for cell in cells:
        yield "-" if cell is None else _estimate(cell.score)
        failed = f", {cell.failed} failed" if cell is not None and cell.failed else ""
        yield "-" if cell is None else f"{100 * cell.succeeded:.0f} %{failed}"


def _estimate(score: Estimate) -> str:
    return f"{score.mean:z.1f} ({score.low:z.0f} to {score.high:z.0f})"


def _mean(cell: Cell | None) -> str:
    return "-" if cell is None else f"{cell.score.mean:z.0f}"


def _deviation(tables: Sequence[Table], task: str, mode: str) -> str:
    """Return the standard deviation, over some runs, of a task's mean score in a mode."""
    means = [table.cells[task, mode].score.mean for table in tables if (task, mode) in table.cells]
    return f"{stdev(means):.1f}" if len(means) > 1 else "-"


def _median(values: Sequence[float]) -> str:
    return f"{sorted(values)[len(values) // 2]:.1f}" if values else "-"
