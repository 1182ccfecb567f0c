"""What fills vendor/: the games compiled by the real haxe, and Ruffle fetched by the real npm."""

from pathlib import Path
from types import ModuleType
from typing import Final

import pytest
from support.scripts import load_script

SCRIPT: Final = Path(__file__).parents[3] / "runtimes/flashgames/vendor.py"


@pytest.fixture(scope="module")
def vendor() -> ModuleType:
    return load_script(SCRIPT)


@pytest.mark.nightly
def test_games_are_compiled_and_ruffle_fetched_once(vendor: ModuleType, tmp_path: Path) -> None:
    target = tmp_path / "vendor"
    assert vendor.vendor(target) is True
    assert {path.name for path in (target / "swf").iterdir()} == {f"{name.lower()}.swf" for name in vendor.MOVIES}
    copied = {path.name for path in (target / "ruffle").iterdir()}
    assert {"ruffle.js", "LICENSE_MIT", "LICENSE_APACHE"} <= copied
    assert any(name.endswith(".wasm") for name in copied)
    assert not any(name.endswith(".map") for name in copied)
    assert vendor.vendor(target) is False


def test_missing_haxe_says_what_mends_it(vendor: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(vendor.AssetsError, match="apt-get install haxe"):
        vendor.vendor(tmp_path / "vendor")
