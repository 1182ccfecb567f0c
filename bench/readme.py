"""Puts measured figures into tables: the last step of ``make bench`` (the README's) and ``make faults``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

BENCH: Final = Path(__file__).parent
README: Final = BENCH.parent / "README.md"
OPERATING: Final = BENCH.parent / "docs/operating.md"

# Two figures of one thing, which share a row.
MIDDLE: Final = ", p50"
WORST: Final = (", worst", ", p99")


def fill(readme: str, results: dict[str, Any]) -> str:
    """The README with its table made anew: the lines that have a target, medians beside the plain alternative."""
    return _between(readme, "bench", _table(results))


def fill_faults(operating: str, results: dict[str, Any]) -> str:
    """docs/operating.md with its table of faults made anew: all lines."""
    return _between(operating, "faults", _table_of_faults(results))


def _between(document: str, name: str, table: str) -> str:
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    before, _, rest = document.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{table}{end}{after}"


def _table(results: dict[str, Any]) -> str:
    lines = [
        f"Medians of several runs on {_machine(results)}.",
        "",
        "| | pluriverse | target | the plain way |",
        "| --- | ---: | ---: | --- |",
        *(_row(line) for line in results["lines"] if line["target"] and line["ours"] is not None),
    ]
    return "\n".join(lines) + "\n"


def _row(line: dict[str, Any]) -> str:
    missed = "" if line["met"] else " (missed)"
    plain = "" if line["plain"] is None else f"{_number(line['plain'])} {line['unit']}: {line['plain_title']}"
    target = f"{line['target']} {line['unit']}"
    return f"| {line['title']} | {_number(line['ours'])} {line['unit']}{missed} | {target} | {plain} |"


def _table_of_faults(results: dict[str, Any]) -> str:
    load = results["machine"]["load_1min"]
    stolen = max(share for line in results["lines"] for share in line["stolen_percent"])
    lines = [
        f"One run of each kind on {_machine(results)}, with a load of {load:g} at its end.",
        f"Other machines took up to {stolen:.0f} % of the processors meanwhile. Two figures are the median and the",
        "worst; of pings, the 99th percentile.",
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


def _pair(title: str, middle: dict[str, Any], worst: dict[str, Any]) -> str:
    values = f"{_number(middle['ours'])} / {_number(worst['ours'])}"
    target = f"{middle['target']} / {worst['target'].removeprefix('≤ ')}" if middle["target"] else ""
    return _measured(title, values, target, worst["unit"], missed=False in (middle["met"], worst["met"]))


def _measured(title: str, value: str, target: str, unit: str, *, missed: bool) -> str:
    space = " " if unit else ""
    cells = title, f"{value}{space}{unit}{' (missed)' if missed else ''}", f"{target}{space}{unit}" if target else ""
    return f"| {' | '.join(cells)} |"


def _machine(results: dict[str, Any]) -> str:
    machine = results["machine"]
    return (
        f"{machine['cores']} cores ({machine['cpu']}), {machine['system']}, "
        f"TigerVNC {machine['tigervnc']}, Python {machine['python']}"
    )


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    """Fill both tables."""
    README.write_text(fill(README.read_text(), json.loads((BENCH / "results.json").read_text())))
    OPERATING.write_text(fill_faults(OPERATING.read_text(), json.loads((BENCH / "faults.json").read_text())))


if __name__ == "__main__":
    main()
