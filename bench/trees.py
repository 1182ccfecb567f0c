"""Trees of what is on the screen, from the agent's request until it has the tree in its hands."""

from __future__ import annotations

import time
from typing import Final, Literal

from pluriverse.adapters.computer import Computer
from report import Effort, Figures, Line, Measurement, Target, percentile
from support.remotes import ROOT, on_machine

# Its 500 nodes are elements and texts, of which those that say nothing more aren't in the tree.
PAGE: Final = "listing.Page-v0"
PAGE_NODES: Final = 298
TREE: Final = "listing.Tree-v0"
TREE_NODES: Final = 500
FORM: Final = "desktop.YadOrder-v0"

WAYS: Final[tuple[tuple[str, str, int, Literal["realtime", "lockstep"]], ...]] = (
    ("page", PAGE, PAGE_NODES, "realtime"),
    ("lockstep", PAGE, PAGE_NODES, "lockstep"),
    ("tree", TREE, TREE_NODES, "realtime"),
)

# Between two requests: an agent looks at what it was told.
PAUSE_S: Final = 0.05


def run(effort: Effort) -> Figures:
    """Milliseconds; how many nodes the form has."""
    count = effort.of(200, 50)
    figures: Figures = {}
    with on_machine(runtime=str(ROOT / "bench/listing")) as remote:
        for name, page, expected, clock in WAYS:
            with Computer(page, remote.address, clock=clock) as computer:
                taken, nodes = _read(computer, count)
                if nodes != expected:
                    raise RuntimeError(f"the tree of {page} has {nodes} nodes instead of {expected}")
                figures |= {f"{name}_p50": percentile(taken, 50), f"{name}_p90": percentile(taken, 90)}
    with Computer(FORM, "local:1") as computer:
        taken, nodes = _read(computer, count)
        figures |= {"form_p50": percentile(taken, 50), "form_nodes": nodes}
    return figures


def _read(computer: Computer, count: int) -> tuple[list[float], int]:
    """Return the milliseconds that each of ``count`` trees took, and how many nodes the last has."""
    computer.begin()
    nodes, taken = 0, list[float]()
    for _ in range(count):
        time.sleep(PAUSE_S)
        began = time.perf_counter()
        nodes = len(computer.tree().nodes)
        taken.append(1000 * (time.perf_counter() - began))
    return taken, nodes


MEASUREMENT: Final = Measurement(
    "trees",
    (
        Line("the tree of a page with 500 nodes in the agent's hands, p50", "ms", "page_p50", Target(50)),
        Line("… p90", "ms", "page_p90"),
        Line("… in lockstep, p50", "ms", "lockstep_p50", Target(50)),
        Line("a tree of 500 nodes, p50", "ms", "tree_p50"),
        Line("the tree of a form of GTK's, p50", "ms", "form_p50"),
        Line("… of so many nodes", "nodes", "form_nodes"),
    ),
    run,
)
