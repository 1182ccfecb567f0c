"""Puts measured figures into tables: the last step of ``make bench``, ``make faults`` and ``make nightly``.

Those of the README, docs/speed.md, docs/time.md, docs/fleet.md and docs/models.md are of ``make bench``,
docs/operating.md's are the faults' and the night's, docs/matrix.md's is of ``make matrix``.
``--check`` only says which tables aren't those of the figures.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import matrix_table

BENCH: Final = Path(__file__).parent
README: Final = BENCH.parent / "README.md"
SPEED: Final = BENCH.parent / "docs/speed.md"
OPERATING: Final = BENCH.parent / "docs/operating.md"
TIME: Final = BENCH.parent / "docs/time.md"
FLEET_PAGE: Final = BENCH.parent / "docs/fleet.md"
MODELS: Final = BENCH.parent / "docs/models.md"
MATRIX: Final = BENCH.parent / "docs/matrix.md"

# What the measurements' names begin with that are in docs/time.md.
LOCKSTEP: Final = "lockstep"

# Only there, since each game is several rows.
GAMES: Final = "lockstep-games"

# Only there, too.
WORLDS: Final = "lockstep-worlds"

# Only in docs/fleet.md.
FLEET: Final = ("fleet", "claims", "oneport")

# Only in docs/models.md.
OPENENV: Final = ("openenv",)
TREES: Final = ("trees",)

# Only for those who change the code.
CALLS: Final = "calls"
ROLLOUTS: Final = "rollouts"

ELSEWHERE: Final = (GAMES, WORLDS, CALLS, ROLLOUTS, *FLEET, *OPENENV, *TREES)

# What the README has of docs/speed.md.
FIRST: Final = (
    "key press → changed pixel, p50",
    "observation lag, p50",
    "reset of an Atari game → running, p50",
    "docker run → ready",
    "the whole remote at Pong, 60 fps",
    "its memory (PSS)",
    "step() over 24 remotes, p99",
    "Pong, 210x160x3, one environment on this machine, a frame a step",
)

# What a day of one remote is computed from, by the titles of the lines.
REMOTE_CPU: Final = "the whole remote at Pong, 60 fps"
REMOTE_MEMORY: Final = "its memory (PSS)"
REMOTE_TRAFFIC: Final = "what a remote sends of Pong at 60 fps"
FRAME_CPU: Final = "CPU of a frame, 192 replayed remotes of Pong at 60 fps"
COUNTS: Final = (1, 100, 10_000)

# What tests/e2e/test_kept.py does to a remote, and what it finds of memory.
DONE: Final = ("idle", "agents", "lockstep agents", "viewers", "recordings", "resets")
MEMORY: Final = ("daemon", "x_server", "vnc_server", "program")

# Two figures of one thing, which share a row.
MIDDLE: Final = ", p50"
WORST: Final = (", worst", ", p99")


def fill(readme: str, results: dict[str, Any]) -> str:
    """The README with its table made anew: some lines of docs/speed.md."""
    lines = {line["title"]: line for line in results["lines"]}
    return _between(readme, "figures", _table(results, [lines[title] for title in FIRST]))


def fill_speed(speed: str, results: dict[str, Any]) -> str:
    """docs/speed.md with its table made anew: the lines that have a target, medians beside the plain alternative."""
    lines = [line for line in results["lines"] if line["target"] and line["measurement"] not in ELSEWHERE]
    return _between(speed, "bench", _table(results, lines))


def fill_lockstep(time: str, results: dict[str, Any]) -> str:
    """docs/time.md with its table of speeds made anew: all lines of lockstep, also those without a target."""
    return _between(time, "lockstep", _table_of_lockstep(results))


def fill_faults(operating: str, results: dict[str, Any]) -> str:
    """docs/operating.md with its table of faults made anew: all lines."""
    return _between(operating, "faults", _table_of_faults(results))


def fill_kept(operating: str, rows: list[dict[str, Any]]) -> str:
    """docs/operating.md with its table of what remotes keep made anew: a row for each runtime and display."""
    return _between(operating, "kept", _table_of_kept(rows))


def fill_fleet(fleet: str, results: dict[str, Any]) -> str:
    """docs/fleet.md with its tables made anew: all lines about fleets, and what a day of them costs."""
    return _between(_between(fleet, "fleet", _table_of(results, FLEET)), "costs", _table_of_costs(results))


def fill_models(models: str, results: dict[str, Any]) -> str:
    """docs/models.md with its tables made anew: all lines of OpenEnv, and of trees."""
    return _between(_between(models, "openenv", _table_of(results, OPENENV)), "trees", _table_of(results, TREES))


def fill_matrix(matrix: str, results: dict[str, Any]) -> str:
    """docs/matrix.md with its table made anew: a row for each program."""
    return _between(matrix, "matrix", matrix_table.table(results))


def fill_summary(readme: str, results: dict[str, Any]) -> str:
    """The README with what the matrix came to."""
    return _between(readme, "matrix", f"{matrix_table.summary(results)}: [which, and why not](docs/matrix.md).\n")


def fill_exact(clocks: str, results: dict[str, Any]) -> str:
    """docs/time.md with the engines and toolkits that the matrix found exact."""
    return _between(clocks, "exact", matrix_table.by_engine(results))


def _between(document: str, name: str, table: str) -> str:
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    before, _, rest = document.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{table}{end}{after}"


def _table(results: dict[str, Any], lines: list[dict[str, Any]]) -> str:
    rows = [
        f"Medians of several runs on {_machine(_of(results, results['lines'][0]))}.",
        "",
        "| | pluriverse | target | the plain way |",
        "| --- | ---: | ---: | --- |",
        *(_row(line) for line in lines if line["ours"] is not None),
    ]
    return "\n".join(rows) + "\n"


def _table_of_lockstep(results: dict[str, Any]) -> str:
    measured = [line for line in results["lines"] if line["measurement"].startswith(LOCKSTEP)]
    lines = [
        f"Medians of {len(measured[0]['runs'])} runs on {_machine(_of(results, measured[0]))}, with a load of "
        f"{_of(results, measured[0])['load_1min']:g} at their end.",
        "",
        "| | pluriverse | target | beside it |",
        "| --- | ---: | ---: | --- |",
        *(_row(line) for line in measured if line["ours"] is not None),
    ]
    return "\n".join(lines) + "\n"


def _table_of(results: dict[str, Any], names: tuple[str, ...]) -> str:
    measured = [line for line in results["lines"] if line["measurement"] in names and line["ours"] is not None]
    runs = max(len(line["runs"]) for line in measured)
    lines = [
        f"Medians of {runs} runs on {_machine(_of(results, measured[0]))}.",
        "",
        "| | pluriverse | target | beside it |",
        "| --- | ---: | ---: | --- |",
        *map(_row, measured),
    ]
    return "\n".join(lines) + "\n"


def _table_of_costs(results: dict[str, Any]) -> str:
    """What remotes that play Pong at 60 fps all day take, and the agent that steps them."""
    measured = {line["title"]: line["ours"] for line in results["lines"]}
    if not {REMOTE_CPU, REMOTE_MEMORY, REMOTE_TRAFFIC, FRAME_CPU} <= measured.keys():
        return "Not measured yet.\n"
    cores, memory_gib = measured[REMOTE_CPU] / 100, measured[REMOTE_MEMORY] / 1024
    traffic_kib, frame_us = measured[REMOTE_TRAFFIC], measured[FRAME_CPU]
    agent_cores = 60 * frame_us / 1e6
    of_each = (
        ("cores", f"{cores:.3g}", cores),
        ("core hours a day", f"24 x {cores:.3g}", 24 * cores),
        ("memory, GiB", f"{measured[REMOTE_MEMORY]:.3g} / 1,024", memory_gib),
        ("sent, Mbit/s", f"{traffic_kib:.3g} x 8 x 1,024 / 10⁶", traffic_kib * 8 * 1024 / 1e6),
        ("sent a day, GB", f"{traffic_kib:.3g} x 1,024 x 86,400 / 10⁹", traffic_kib * 1024 * 86400 / 1e9),
        ("cores of the agents, without their model", f"60 x {frame_us:.3g} / 10⁶", agent_cores),
    )
    lines = [
        f"| | of one, computed | {' | '.join(f'{count:,}' for count in COUNTS)} |",
        f"| --- | --- | {' | '.join(['---:'] * len(COUNTS))} |",
        *(
            f"| {what} | {computed} | {' | '.join(_quantity(count * value) for count in COUNTS)} |"
            for what, computed, value in of_each
        ),
    ]
    return "\n".join(lines) + "\n"


def _quantity(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _row(line: dict[str, Any]) -> str:
    missed = " (missed)" if line["met"] is False else ""
    plain = "" if line["plain"] is None else f"{_number(line['plain'])} {line['unit']}: {line['plain_title']}"
    of_what = "times the plain way" if line.get("target_of_plain") else line["unit"]
    target = f"{line['target']} {of_what}" if line["target"] else ""
    return f"| {line['title']} | {_number(line['ours'])} {line['unit']}{missed} | {target} | {plain} |"


def _table_of_faults(results: dict[str, Any]) -> str:
    machines = [_of(results, line) for line in results["lines"]]
    load = max(machine["load_1min"] for machine in machines)
    stolen = max(share for line in results["lines"] for share in line["stolen_percent"])
    lines = [
        f"One run of each kind on {_machine(machines[0])}, with a load of up to {load:g} at its end.",
        f"Other machines took up to {stolen:.0f} % of the processors meanwhile. Two figures are the median and the",
        "worst; of pings, the 99th percentile. One target for both is the worst's.",
        "",
        "| | measured | target |",
        "| --- | ---: | ---: |",
    ]
    middle: dict[str, Any] = {}
    for line in results["lines"]:
        title = line["title"]
        if line["ours"] is None:
            continue
        if title.endswith(MIDDLE):
            middle = line
        elif title.endswith(WORST):
            lines.append(_pair(title.rpartition(",")[0], middle, line))
        else:
            target = line["target"] or ""
            lines.append(_measured(title, _number(line["ours"]), target, line["unit"], missed=line["met"] is False))
    return "\n".join(lines) + "\n"


def _table_of_kept(rows: list[dict[str, Any]]) -> str:
    remotes: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    for row in rows:
        remotes.setdefault((row["runtime"], row["display"], row["tigervnc"]), {})[row["what"]] = row
    heads = "seconds idle", *DONE[1:]
    lines = [
        f"| | TigerVNC | {' | '.join(heads)} | else |",
        f"| --- | --- | {' | '.join(['---:'] * len(heads))} | --- |",
    ]
    for (runtime, display, tigervnc), of in sorted(remotes.items()):
        cells = (_kept(of[what]) if what in of else "" for what in DONE)
        lines.append(f"| {runtime}, {display} | {tigervnc} | {' | '.join(cells)} | {_kept_else(of.values())} |")
    return "\n".join(lines) + "\n"


def _kept(row: dict[str, Any]) -> str:
    return f"{row['amount']}: {sum(row['grown'][part] for part in MEMORY):+.1f}"


def _kept_else(rows: Iterable[dict[str, Any]]) -> str:
    most: dict[str, float] = {}
    for name, value in (item for row in rows for item in row["grown"].items()):
        if name not in (*MEMORY, "shared") and value > most.get(name, 0):
            most[name] = value
    return ", ".join(f"{name} +{value:g}" for name, value in most.items()) or "0"


def _pair(title: str, middle: dict[str, Any], worst: dict[str, Any]) -> str:
    values = f"{_number(middle['ours'])} / {_number(worst['ours'])}"
    targets = [line["target"] for line in (middle, worst) if line["target"]]
    target = " / ".join([*targets[:1], *(each.removeprefix("≤ ") for each in targets[1:])])
    return _measured(title, values, target, worst["unit"], missed=False in (middle["met"], worst["met"]))


def _measured(title: str, value: str, target: str, unit: str, *, missed: bool) -> str:
    space = " " if unit else ""
    cells = title, f"{value}{space}{unit}{' (missed)' if missed else ''}", f"{target}{space}{unit}" if target else ""
    return f"| {' | '.join(cells)} |"


def _of(results: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """The machine that a line was measured on."""
    return results["machines"][line["measurement"]]


def _machine(machine: dict[str, Any]) -> str:
    return (
        f"{machine['cores']} cores ({machine['cpu']}), {machine['system']}, "
        f"TigerVNC {machine['tigervnc']}, Python {machine['python']}"
    )


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def main() -> int:
    """Fill all tables; with ``--check`` only return 1 if one is out of date."""
    old: list[Path] = []
    for document, figures, filled in (
        (README, "results.json", fill),
        (SPEED, "results.json", fill_speed),
        (TIME, "results.json", fill_lockstep),
        (FLEET_PAGE, "results.json", fill_fleet),
        (MODELS, "results.json", fill_models),
        (OPERATING, "faults.json", fill_faults),
        (OPERATING, "kept.json", fill_kept),
        (MATRIX, "matrix.json", fill_matrix),
        (README, "matrix.json", fill_summary),
        (TIME, "matrix.json", fill_exact),
    ):
        text = document.read_text(encoding="utf-8")
        if (new := filled(text, json.loads((BENCH / figures).read_text(encoding="utf-8")))) != text:
            old.append(document)
            if "--check" not in sys.argv:
                document.write_text(new, encoding="utf-8")
    for document in old if "--check" in sys.argv else ():
        sys.stderr.write(f"{document.relative_to(BENCH.parent)} is out of date; run: python bench/readme.py\n")
    return int(bool(old) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
