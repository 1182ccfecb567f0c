"""Scores of runs as tables: Markdown that is printed, and HTML of the report. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import stdev
from typing import Literal

from tabulate import tabulate as render

from .results import Bounds, Episode, Run
from .statistics import ENOUGH, FEWEST, Difference, Estimate
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


def scores(table: Table, scales: Mapping[str, Bounds] | None = None) -> Sheet:
    """Return a run's scores, by task and mode, and how many episodes succeeded.

    ``scales``: what scores 0 and what 100 in each task; they stand beside, with what was earned.
    """
    rows: list[list[str]] = []
    for task in table.tasks:
        ends = [] if scales is None else [f"{end:g}" for end in scales.get(task, ())] or ["-", "-"]
        cells = (_scored(table.cells.get((task, mode)), earned=scales is not None) for mode in table.modes)
        rows.append([task, *ends, *chain.from_iterable(cells)])
    blank = [] if scales is None else [""]
    if table.all:
        cells = (_scored(table.all[mode], earned=False) for mode in table.modes)
        rows.append(
            [f"all {table.counted}", *blank * 2, *(each for cell in cells for each in (cell[0], *blank, cell[1]))]
        )
    ends = [] if scales is None else ["0 is", "100 is"]
    earned = [] if scales is None else ["earned"]
    return Sheet(["task", *ends, *(head for mode in table.modes for head in (mode, *earned, "succeeded"))], rows)


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
    third has the differences between their mean scores of each task.
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
            f"{each.estimate.mean:+z.1f}",
            _bounds(each.estimate, "+z.1f") or "-",
            str(each.estimate.count),
            "-" if each.real is None else f"{each.p:.3f}",
            _verdict(each),
        ]
        for name, each in [*tasks.items(), ("all tasks", together)]
    ]
    return Sheet([title, "difference", "95 %", "pairs", "p", ""], rows)


def _scored(cell: Cell | None, *, earned: bool) -> Sequence[str]:
    if cell is None:
        return ["-"] * (3 if earned else 2)
    failed = f", {cell.failed} failed" if cell.failed else ""
    succeeded = f"{100 * cell.succeeded:.0f} %{failed}"
    return [_estimate(cell.score), *([f"{cell.earned:.4g}"] if earned else []), succeeded]


def _estimate(score: Estimate) -> str:
    episodes = "" if score.fewest >= ENOUGH else f"{score.fewest} episode{'s' if score.fewest > 1 else ''}"
    return f"{score.mean:z.1f} ({', '.join(filter(None, (_bounds(score, 'z.0f'), episodes)))})"


def _bounds(score: Estimate, kind: str) -> str:
    return "" if score.interval is None else " to ".join(format(bound, kind) for bound in score.interval)


def _verdict(difference: Difference) -> str:
    if difference.real is None:
        return f"fewer than {FEWEST} pairs of a task: too few to tell"
    few = "" if difference.estimate.fewest >= ENOUGH else f", of fewer than {ENOUGH} pairs of a task"
    return f"{'real' if difference.real else 'may be chance'}{few}"


def _mean(cell: Cell | None) -> str:
    return "-" if cell is None else f"{cell.score.mean:z.0f}"


def _deviation(tables: Sequence[Table], task: str, mode: str) -> str:
    """Return the standard deviation, over some runs, of a task's mean score in a mode."""
    means = [table.cells[task, mode].score.mean for table in tables if (task, mode) in table.cells]
    return f"{stdev(means):.1f}" if len(means) > 1 else "-"


def _median(values: Sequence[float]) -> str:
    return f"{sorted(values)[len(values) // 2]:.1f}" if values else "-"
