"""Draws the curves of docs/examples.md, docs/curves/*.svg, from what the examples have written beside them."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

FOLDER: Final = Path(__file__).parent / "curves"

# Both are read on white and on black.
INK: Final = "#808894"
MARK: Final = "#3f7fe8"

# What is drawn of each example, against what.
AXES: Final = {
    "ppo_pong": ("frames", "mean_return"),
    "moon_buggy": ("episodes", "mean_return"),
}


def main() -> None:
    """Draw one for each example, of all its seeds."""
    runs: dict[str, list[Any]] = defaultdict(list)
    for path in sorted(FOLDER.glob("*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        runs[run["what"]].append(run["points"])
    for what, curves in runs.items():
        _draw(curves, *AXES[what], FOLDER / f"{what}.svg")


def _draw(curves: list[list[dict[str, float | None]]], across: str, up: str, path: Path) -> None:
    """Draw a curve for each seed."""
    names = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    library: Any = mpl
    with library.rc_context({**dict.fromkeys(names, INK), "svg.fonttype": "none", "svg.hashsalt": path.name}):
        figure: Any = Figure(figsize=(5, 3), layout="constrained")
        axes = figure.subplots()
        for points in curves:
            known = [(point[across], point[up]) for point in points if point[up] is not None]
            axes.plot(*zip(*known, strict=True), color=MARK, alpha=len(curves) ** -0.5)
        axes.set_xlabel(across)
        axes.set_ylabel(up.replace("_", " "))
        axes.grid(alpha=0.3)
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    main()
