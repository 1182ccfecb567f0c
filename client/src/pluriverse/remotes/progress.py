"""The progress bar of starting remotes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from . import manager


@contextlib.contextmanager
def progress_bar(n: int) -> Generator[manager.Progress]:
    """Show the start of ``n`` remotes if standard error is a terminal; yield the function that reports progress."""
    if not sys.stderr.isatty():
        yield manager.no_progress
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting remotes", total=n)
        ready: set[int] = set()

        def report(index: int, what: str) -> None:
            if what.startswith(("ready", "attached")):
                ready.add(index)
            bar.update(task, completed=len(ready), description=f"remote {index}: {what}")

        yield report
