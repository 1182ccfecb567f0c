"""Injects faults into remotes and knocks at their ports; measures what an agent notices of it. See bench/README.md."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import attacks
import doors
import outages
import restarts
from measuring import measure
from outages import PARTS, Found, Plan
from report import Effort, Figures, Line, Measurement, Target, medians, percentile, print_table, write_json

RESULTS: Final = Path(__file__).with_name("faults.json")

# Seconds until an agent has fresh pictures again: median and worst.
KILLED_S: Final = {"program": (1.5, 3), "X": (2, 4), "VNC": (1, 2), "daemon": (5, 10)}
STOPPED_S: Final = (5, 10)

# What draws is killed so often, of each of restarts.PLAYED.
KILLS: Final = 5

# Seconds from that until an agent that resets at once has the next episode's first observation.
RESET_S: Final = {"realtime": Target(10), "lockstep": Target(20)}
CLOCKS: Final = {"realtime": "in real time", "lockstep": "in lockstep"}

NONE: Final = Target(0)


def _signalled(plan: Plan, name: str, section: Callable[[Plan], Found]) -> Figures:
    found = section(plan)
    figures = _common(found)
    for part in PARTS:
        if times := found.outages(f"{part} {name}"):
            figures |= {f"{part}_p50": percentile(times, 50), f"{part}_max": max(times)}
    return figures


def _interrupted(plan: Plan, kind: str, section: Callable[[Plan], Found]) -> Figures:
    found = section(plan)
    figures = _common(found)
    if times := found.outages(kind):
        figures |= {"p50": percentile(times, 50), "max": max(times)}
    return figures


def _common(found: Found) -> Figures:
    return {
        "faults": len(found.faults),
        "lost": found.audit.lost,
        "twice": found.audit.twice,
        "false_ends": found.false_ends,
        "hopeless": found.hopeless,
    }


def _lines_of_parts(word: str, targets: Mapping[str, tuple[float, float]]) -> list[Line]:
    lines: list[Line] = []
    for part, (middle, worst) in targets.items():
        lines.append(Line(f"{part} {word}: outage, p50", "s", f"{part}_p50", Target(middle)))
        lines.append(Line(f"{part} {word}: outage, worst", "s", f"{part}_max", Target(worst)))
    return lines


def _common_lines(what: str, lost: str) -> list[Line]:
    return [
        Line(f"{what}: how many", "", "faults"),
        Line(f"{what}: points lost{lost}", "", "lost", NONE),
        Line(f"{what}: points counted twice", "", "twice", NONE),
        Line(f"{what}: episodes ended falsely", "", "false_ends", NONE),
        Line(f"{what}: not healed within a minute", "", "hopeless", NONE),
    ]


OWN: Final = " outside of the dead program's own episode"


def measurements(plan: Plan, quick: bool) -> tuple[Measurement, ...]:
    """Return the sections; their effort is the plan's."""
    flood_s, guess_s, attack_s = (4.0, 4.0, 4.0) if quick else (20.0, 20.0, 60.0)
    stopped_s = dict.fromkeys(PARTS, STOPPED_S)
    return (
        Measurement(
            "killed",
            [*_lines_of_parts("killed", KILLED_S), *_common_lines("killed", OWN)],
            lambda _: _signalled(plan, "killed", outages.killed),
        ),
        Measurement(
            "stopped",
            [*_lines_of_parts("stopped", stopped_s), *_common_lines("stopped", OWN)],
            lambda _: _signalled(plan, "stopped", outages.stopped),
        ),
        Measurement(
            "paused",
            [
                Line("a whole remote paused for 1 to 8 s: pictures after it went on, p50", "s", "p50"),
                Line("a whole remote paused for 1 to 8 s: pictures after it went on, worst", "s", "max"),
                *_common_lines("paused", ""),
            ],
            lambda _: _interrupted(plan, "paused", outages.paused),
        ),
        Measurement(
            "blackouts",
            [
                Line("network silent for 1 to 20 s: pictures after it was back, p50", "s", "p50"),
                Line("network silent for 1 to 20 s: pictures after it was back, worst", "s", "max"),
                *_common_lines("blackouts", ""),
            ],
            lambda _: _interrupted(plan, "blackout", outages.blackouts),
        ),
        Measurement(
            "restarts",
            [
                line
                for game, clock in restarts.PLAYED
                for line in (
                    Line(f"{game} killed, {CLOCKS[clock]}: reset, p50", "s", f"{game}_{clock}_p50"),
                    Line(f"{game} killed, {CLOCKS[clock]}: reset, worst", "s", f"{game}_{clock}_max", RESET_S[clock]),
                )
            ],
            lambda _: restarts.restarted(1 if quick else KILLS),
        ),
        Measurement(
            "floods",
            [
                Line("idle connections on each port at which an agent gets in", "", "held", Target(low=2000)),
                Line("connections opened in a flood of both ports", "/s", "opened"),
                Line("ping of an agent in the flood, p50", "ms", "ping_p50"),
                Line("ping of an agent in the flood, p99", "ms", "ping_p99"),
                Line("processes of the remote that died of it", "", "died", NONE),
            ],
            lambda _: doors.flooded(flood_s),
        ),
        Measurement(
            "guesses",
            [
                Line("guesses of the password by one address: VNC", "/s", "vnc", Target(2)),
                Line("guesses of the password by one address: rewarder", "/s", "rewarder", Target(2)),
                Line("guesses of the password by one address: /viewer/access", "/s", "viewer", Target(2)),
                Line("guesses of the password by one address: /vnc", "/s", "screen", Target(2)),
                Line("guesses of the password by one address: /lease", "/s", "lease", Target(2)),
                Line("guesses of the password by one address: /restart, as a bearer token", "/s", "bearer", Target(2)),
            ],
            lambda _: doors.guessed(guess_s),
        ),
        Measurement(
            "attacks",
            [
                line
                for kind, what in ATTACKS.items()
                for line in (
                    Line(f"{what}: ping of an agent, p50", "ms", f"{kind}_ping_p50"),
                    Line(f"{what}: ping of an agent, p99", "ms", f"{kind}_ping_p99", Target(60)),
                    Line(f"{what}: the daemon's memory afterwards, more", "MiB", f"{kind}_grown", Target(8)),
                    Line(f"{what}: parts of the remote that died", "", f"{kind}_died", NONE),
                    Line(f"{what}: how often the agent's token was refused", "", f"{kind}_refused", NONE),
                )
            ],
            lambda _: {
                f"{kind}_{name}": value for kind in ATTACKS for name, value in attacks.attacked(kind, attack_s).items()
            },
        ),
    )


# What a guest does, all the time.
ATTACKS: Final = {
    "pictures": f"{attacks.FEW} observers' connections that ask for whole pictures",
    "silence": f"{attacks.MANY} observers that never read",
    "pings": "an observer that floods /vnc with pings and never reads",
    "resets": "an agent that resets without an end, and the one after it",
    "guesses": f"{doors.GUESSERS} at the agent's own address that guess at all ports",
}

KINDS: Final = ("killed", "stopped", "paused", "blackouts", "restarts", "floods", "guesses", "attacks")


def main(
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help=f"Just {', '.join(KINDS)}; may be given several times."),
    ] = None,
    faults: Annotated[int | None, typer.Option(min=1, help="How many faults in all; 500, with --quick 40.")] = None,
    seconds: Annotated[float, typer.Option(min=1, help="After so long no fault of a kind is begun.")] = 900.0,
    remotes: Annotated[int, typer.Option(min=1, help="How many remotes one agent plays at once.")] = 8,
    quick: Annotated[bool, typer.Option(help="In some two minutes: to see that it works.")] = False,
    output: Annotated[
        Path, typer.Option(help="Where the figures are written, beside those of others that it has.")
    ] = RESULTS,
) -> None:
    """Inject faults, print a table and write the figures. Exit status 1 if something could not be run."""
    if unknown := set(kind or ()) - set(KINDS):
        raise typer.BadParameter(f"{', '.join(sorted(unknown))}: choose of {', '.join(KINDS)}", param_hint="--kind")
    plan = Plan(faults or (40 if quick else 500), seconds, remotes, said=partial(typer.echo, err=True))
    among = measurements(plan, quick)
    wanted = [each for each in among if not kind or each.name in kind]
    effort = Effort(quick)
    figures, failed = measure(wanted, effort, runs=1)
    print_table(wanted, {name: medians(taken) for name, taken in figures.items()})
    write_json(output, among, figures, effort)
    raise typer.Exit(int(failed))


if __name__ == "__main__":
    typer.run(main)
