"""Scores of several runs beside each other, as tables in Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .results import Episode, Run
from .table import tabulate

Row = Sequence[str]


def markdown(runs: Sequence[tuple[Run, Sequence[Episode]]]) -> str:
    """Return a table of what each agent scores in each mode, with 95 %, and one of the mean scores of each task.

    The first is of the tasks that all of them have played in all their modes.
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
    return f"{together}\n{_table(['task', *(f'{agent}, {mode}' for agent, _, mode in columns)], means)}"


def _table(head: Row, rows: Iterable[Row]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
