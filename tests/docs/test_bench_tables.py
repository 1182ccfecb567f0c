"""The tables of measured figures in the documentation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TABLES = Path(__file__).parents[2] / "bench/readme.py"


def test_tables_are_those_of_the_figures() -> None:
    checked = subprocess.run([sys.executable, TABLES, "--check"], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
