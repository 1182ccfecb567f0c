"""The tables of measured figures in the documentation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.scripts import load_script

pytestmark = pytest.mark.display

TABLES = Path(__file__).parents[2] / "bench/readme.py"


@pytest.fixture
def readme() -> Any:
    return load_script(TABLES)


def test_tables_are_those_of_the_figures() -> None:
    checked = subprocess.run([sys.executable, TABLES, "--check"], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def line(title: str, **figures: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("ours", "target", "target_of_plain", "met", "plain", "plain_title"))
    return {"measurement": "lockstep", "title": title, "unit": "steps/s", "runs": [1, 2], **nothing, **figures}


def test_table_of_lockstep_has_what_was_measured_with_targets_missed_and_shares_of_the_plain_way(readme: Any) -> None:
    machine = {"cores": 2, "cpu": "a CPU", "system": "Debian", "tigervnc": "1", "python": "3", "load_1min": 0.5}
    lines = [
        line("fast", ours=4000.0, target="≥ 3000", met=True),
        line("half", ours=40.0, target="≥ 0.5", target_of_plain=True, met=False, plain=100.0, plain_title="itself"),
        line("free of targets", ours=0.25),
        line("not measured", target="≥ 1"),
        {**line("of something else", ours=1.0), "measurement": "ping"},
    ]
    filled = readme.fill_lockstep(
        "before\n<!-- begin lockstep -->\nold\n<!-- end lockstep -->\nafter\n",
        {"machines": {"lockstep": machine}, "lines": lines},
    )
    assert filled.splitlines() == [
        "before",
        "<!-- begin lockstep -->",
        "Medians of 2 runs on 2 cores (a CPU), Debian, TigerVNC 1, Python 3, with a load of 0.5 at their end.",
        "",
        "| | pluriverse | target | beside it |",
        "| --- | ---: | ---: | --- |",
        "| fast | 4000 steps/s | ≥ 3000 steps/s |  |",
        "| half | 40 steps/s (missed) | ≥ 0.5 times the plain way | 100 steps/s: itself |",
        "| free of targets | 0.25 steps/s |  |  |",
        "<!-- end lockstep -->",
        "after",
    ]


def test_table_of_what_remotes_keep_has_a_row_for_each_remote_and_names_what_else_has_grown(readme: Any) -> None:
    grown = {
        "daemon": 1.0,
        "x_server": 0.25,
        "vnc_server": 0.0,
        "program": -0.5,
        "shared": 3.0,
        "segments": 0,
        "tasks": 0,
    }
    remote = {"runtime": "doom", "display": "xvfb", "tigervnc": "1.12"}
    rows = [
        {**remote, "what": "resets", "amount": 1000, "grown": {**grown, "tasks": 2}},
        {**remote, "what": "idle", "amount": 600, "grown": grown},
        {**remote, "display": "image", "tigervnc": "1.15", "what": "idle", "amount": 5, "grown": grown},
    ]
    filled = readme.fill_kept("<!-- begin kept -->\n<!-- end kept -->\n", rows)
    assert filled.splitlines()[3:-1] == [
        "| doom, image | 1.15 | 5: +0.8 |  |  |  |  |  | 0 |",
        "| doom, xvfb | 1.12 | 600: +0.8 |  |  |  |  | 1000: +0.8 | tasks +2 |",
    ]
