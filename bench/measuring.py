"""Takes measurements one after the other, and goes on where one can't be taken."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from typing import Final

import psutil
import typer
from pluriverse.errors import PluriverseError
from pluriverse_server.process import StartError
from report import STOLEN, Effort, Figures, Measurement, processor_ticks, stolen_percent
from support.rfb import RfbError
from websockets.exceptions import WebSocketException

# What a server that won't start, a client that is hung up on, or a missing program raise.
FAILURES: Final = (
    AssertionError,
    OSError,
    PluriverseError,
    RfbError,
    StartError,
    WebSocketException,
    psutil.Error,
    subprocess.SubprocessError,
)


def measure(wanted: Sequence[Measurement], effort: Effort, runs: int) -> tuple[dict[str, list[Figures]], bool]:
    """Return the figures of each run by the measurement's name, and whether something could not be measured."""
    figures: dict[str, list[Figures]] = {measurement.name: [] for measurement in wanted}
    failed = False
    for number in range(runs):
        for measurement in wanted:
            began, ticks_before = time.monotonic(), processor_ticks()
            try:
                taken = measurement.run(effort)
            except FAILURES as error:
                failed = True
                typer.echo(f"{measurement.name} could not be measured: {type(error).__name__}: {error}", err=True)
            else:
                taken[STOLEN] = stolen_percent(ticks_before, processor_ticks())
                figures[measurement.name].append(taken)
                seconds = time.monotonic() - began
                typer.echo(
                    f"run {number + 1} of {runs}: {measurement.name} took {seconds:.0f} s; "
                    f"other machines took {taken[STOLEN]:.1f} % of the processors meanwhile",
                    err=True,
                )
    return figures, failed
