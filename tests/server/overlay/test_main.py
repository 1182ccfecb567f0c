"""The overlay as a program."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

PROGRAM: Final = (sys.executable, "-m", "pluriverse_server.overlay")


def test_it_stays_small() -> None:
    """There is one on each remote with a browser: none of the daemon's packages is in it."""
    script = "import sys, pluriverse_server.overlay.__main__; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "aiohttp", "pydantic", "asyncio", "typer"} & set(loaded)


def test_without_a_display_it_says_what_is_wrong_and_ends() -> None:
    ended = subprocess.run([*PROGRAM, "--filter-keys"], env={}, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith("overlay: no X server answers at DISPLAY=''")


@pytest.mark.parametrize("text", ["s", "0x73", "0x73:4:5", "Control:s"])
def test_combination_that_is_no_pair_of_numbers_is_refused(text: str) -> None:
    ended = subprocess.run([*PROGRAM, "--filter-keys", "--allow", text], env={}, capture_output=True, text=True)
    assert ended.returncode == 2
    assert f"argument --allow: invalid combination value: {text!r}" in ended.stderr
