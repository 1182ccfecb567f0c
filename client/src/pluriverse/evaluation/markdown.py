"""Scores of several runs beside each other, as tables in Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import stdev

from .results import Episode, Run
from .table import Table, tabulate

Row = Sequence[str]


def markdown(runs: Sequence[tuple[Run, Sequence[Episode]]]) -> str:
    """Return a table of what each agent scores in each mode, with 95 %, and one of the mean scores of each task.

    The first is of the tasks that all of them have played in all their modes. Of an agent that has several runs, a
    third says how much the mean scores of each task differ between them.
    """
    tables = [tabulate(episodes, run.tasks, run.modes) for run, episodes in runs]
    modes = list(dict.fromkeys(mode for table in tables for mode in table.modes))
    tasks = list(dict.fromkeys(task for table in tables for task in table.tasks))
    whole = {task for task in tasks if all((task, mode) in table.cells for table in tables for mode in table.modes)}
    rows: list[Row] = []
    for run, episodes in runs:
        scores = tabulate((each for each in episodes if each.task in whole), run.tasks, run.modes).all
        cells = ((scores[mode].score if mode in scores else None) for mode in modes)
        said = ("-" if cell is None else f"{cell.mean:z.1f} ({cell.low:z.0f} to {cell.high:z.0f})" for cell in cells)
        rows.append([run.agent, *said])
    columns = [(run.agent, table, mode) for (run, _), table in zip(runs, tables, strict=True) for mode in table.modes]
    means: list[Row] = []
    for task in tasks:
        cells = (table.cells.get((task, mode)) for _, table, mode in columns)
        means.append([task, *("-" if cell is None else f"{cell.score.mean:z.0f}" for cell in cells)])
    together = _table([f"tasks in common: {len(whole)}", *modes], rows)
    said = [together, _table(["task", *(f"{agent}, {mode}" for agent, _, mode in columns)], means)]
    for agent in dict.fromkeys(run.agent for run, _ in runs):
        repeated = [table for (run, _), table in zip(runs, tables, strict=True) if run.agent == agent]
        if len(repeated) > 1:
            head = [f"{agent}, {len(repeated)} runs: standard deviation of the mean", *modes]
            said.append(_table(head, ([task, *(_deviation(repeated, task, mode) for mode in modes)] for task in tasks)))
    return "\n".join(said)


def _deviation(tables: Sequence[Table], task: str, mode: str) -> str:
    """Return the standard deviation, over some runs, of a task's mean score in a mode."""
    means = [table.cells[task, mode].score.mean for table in tables if (task, mode) in table.cells]
    return f"{stdev(means):.1f}" if len(means) > 1 else "-"


def _table(head: Row, rows: Iterable[Row]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
