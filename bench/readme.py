"""Puts the figures of bench/results.json into the README's table: the last step of ``make bench``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path(__file__).with_name("results.json")
README: Final = Path(__file__).parents[1] / "README.md"
BEGIN: Final = "<!-- begin bench -->\n"
END: Final = "<!-- end bench -->"


def fill(readme: str, results: dict[str, Any]) -> str:
    """The README with its table made anew: the lines that have a target, medians beside the plain alternative."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{_table(results)}{END}{after}"


def _table(results: dict[str, Any]) -> str:
    machine = results["machine"]
    lines = [
        f"Medians of several runs on {machine['cores']} cores ({machine['cpu']}), {machine['system']}, "
        f"TigerVNC {machine['tigervnc']}, Python {machine['python']}.",
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


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    README.write_text(fill(README.read_text(), json.loads(RESULTS.read_text())))
