"""What fills www/vendor/: the Minesweeper that npm fetches."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

SCRIPT: Final = Path(__file__).parents[3] / "runtimes/internet/vendor.py"


@pytest.fixture(scope="module")
def vendor() -> ModuleType:
    spec = importlib.util.spec_from_file_location("internet_vendor", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_minesweeper_is_fetched_once_with_its_licence(vendor: ModuleType, tmp_path: Path) -> None:
    target = tmp_path / "vendor"
    assert vendor.vendor(target) is True
    assert {path.name for path in target.iterdir()} == {"minesweeper.js", "minesweeper.LICENSE", ".made-of"}
    assert "The MIT License" in (target / "minesweeper.LICENSE").read_text()
    assert vendor.vendor(target) is False
