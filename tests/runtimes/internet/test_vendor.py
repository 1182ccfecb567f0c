"""What fills www/vendor/: the Minesweeper that npm fetches."""

from pathlib import Path
from types import ModuleType
from typing import Final

import pytest
from support.scripts import load_script

SCRIPT: Final = Path(__file__).parents[3] / "runtimes/internet/vendor.py"


@pytest.fixture(scope="module")
def vendor() -> ModuleType:
    return load_script(SCRIPT)


def test_minesweeper_is_fetched_once_with_its_licence(vendor: ModuleType, tmp_path: Path) -> None:
    target = tmp_path / "vendor"
    assert vendor.vendor(target) is True
    assert {path.name for path in target.iterdir()} == {"minesweeper.js", "minesweeper.LICENSE", ".made-of"}
    assert "The MIT License" in (target / "minesweeper.LICENSE").read_text()
    assert vendor.vendor(target) is False
