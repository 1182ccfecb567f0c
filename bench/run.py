"""Measures every speed that the README claims, beside a plain alternative; see bench/README.md."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import calls
import claims
import decode
import fleet
import footprint
import interfaces
import latency
import live
import lockstep
import lockstep_games
import many
import messages
import oneport
import pacing
import pages
import ping
import reading
import reset
import rollouts
import scraped
import serving
import start
import trees
import worlds
from measuring import measure
from report import Effort, Measurement, medians, print_table, write_json

MEASUREMENTS: Final[tuple[Measurement, ...]] = (
    latency.MEASUREMENT,
    ping.MEASUREMENT,
    reset.MEASUREMENT,
    start.MEASUREMENT,
    footprint.MEASUREMENT,
    pacing.MEASUREMENT,
    decode.MEASUREMENT,
    messages.MEASUREMENT,
    many.MEASUREMENT,
    fleet.MEASUREMENT,
    claims.MEASUREMENT,
    live.MEASUREMENT,
    oneport.MEASUREMENT,
    lockstep.MEASUREMENT,
    lockstep_games.MEASUREMENT,
    worlds.MEASUREMENT,
    interfaces.MEASUREMENT,
    calls.MEASUREMENT,
    pages.MEASUREMENT,
    trees.MEASUREMENT,
    reading.MEASUREMENT,
    scraped.MEASUREMENT,
    serving.MEASUREMENT,
    rollouts.MEASUREMENT,
)

NAMES: Final = tuple(measurement.name for measurement in MEASUREMENTS)

RESULTS: Final = Path(__file__).with_name("results.json")


def main(
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"Measure just {', '.join(NAMES)}; may be given several times."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="How often each is measured; medians are shown.")] = 3,
    quick: Annotated[bool, typer.Option(help="Measure for a third of the time: to see that it works.")] = False,
    output: Annotated[
        Path, typer.Option(help="Where the figures are written, beside those of others that it has.")
    ] = RESULTS,
) -> None:
    """Measure, print a table and write the figures. Exit status 1 if something could not be run; slowness is none."""
    if unknown := set(only or ()) - set(NAMES):
        raise typer.BadParameter(f"{', '.join(sorted(unknown))}: choose of {', '.join(NAMES)}", param_hint="--only")
    # Told not to keep bytecode, Python would compile all of it at each start of a remote.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    wanted = [measurement for measurement in MEASUREMENTS if not only or measurement.name in only]
    effort = Effort(quick)
    figures, failed = measure(wanted, effort, runs)
    print_table(wanted, {name: medians(of_all_runs) for name, of_all_runs in figures.items()})
    write_json(output, MEASUREMENTS, figures, effort)
    raise typer.Exit(int(failed))


if __name__ == "__main__":
    typer.run(main)
