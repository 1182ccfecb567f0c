"""Draws the curves of docs/examples.md, docs/curves/*.svg, from what the examples have written beside them."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

FOLDER: Final = Path(__file__).parent / "curves"

# Both are read on white and on black.
INK: Final = "#808894"
MARK: Final = "#3f7fe8"

# How many standard errors a mean of so many seeds is from the true one, 95 times in 100 at most.
T_95: Final = {3: 4.303, 4: 3.182, 5: 2.776}

# What is drawn of each example, against what.
AXES: Final = {
    "ppo_pong": ("frames", "mean_return"),
    "moon_buggy": ("episodes", "mean_return"),
    "clone_clicks": ("epochs", "loss"),
    "group_rollouts": ("groups", "mean_return"),
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
    """Draw a thin curve for each seed; of three and more also their mean and its 95 % interval, by Student's t."""
    names = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    library: Any = mpl
    with library.rc_context({**dict.fromkeys(names, INK), "svg.fonttype": "none", "svg.hashsalt": path.name}):
        figure: Any = Figure(figsize=(5, 3), layout="constrained")
        axes = figure.subplots()
        known = [{point[across]: point[up] for point in points if point[up] is not None} for points in curves]
        several = len(known) in T_95
        for curve in known:
            axes.plot(curve.keys(), curve.values(), color=MARK, alpha=0.3 if several else 1)
        if several:
            common = sorted(set[Any](known[0]).intersection(*known))
            values: Any = np.array([[curve[at] for at in common] for curve in known])
            mean, half = values.mean(0), T_95[len(known)] * values.std(0, ddof=1) / len(known) ** 0.5
            axes.plot(common, mean, color=MARK)
            axes.fill_between(common, mean - half, mean + half, color=MARK, alpha=0.15, linewidth=0)
        axes.set_xlabel(across)
        axes.set_ylabel(up.replace("_", " "))
        axes.grid(alpha=0.3)
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    main()
