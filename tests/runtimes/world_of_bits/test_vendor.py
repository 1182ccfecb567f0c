"""What is fetched is what was pinned, and fetched once."""

import hashlib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from support.scripts import load_script
from support.wob import RUNTIME

WHEEL = "miniwob-1.1.0-py3-none-any.whl"


@pytest.fixture
def vendor() -> ModuleType:
    """The script as a module; its folder isn't a package."""
    return load_script(RUNTIME / "vendor.py")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for the only index there is, with a wheel of the right name in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        wheel.writestr("miniwob/html/core/core.js", "var core = {};")
        wheel.writestr("miniwob/environment.py", "import selenium")
        wheel.writestr("miniwob-1.1.0.dist-info/licenses/LICENSE", "MIT")
        wheel.writestr("miniwob-1.1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: miniwob\nVersion: 1.1.0\n")
        wheel.writestr(
            "miniwob-1.1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr("miniwob-1.1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_pages_and_licence_are_taken_once_and_nothing_else(
    vendor: ModuleType, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vendor, "SHA256", hashlib.sha256((index / WHEEL).read_bytes()).hexdigest())
    target = tmp_path / "vendor"
    assert vendor.vendor(target) is True
    files = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert files == {"core/core.js", "LICENSE", ".pinned"}
    (index / WHEEL).unlink()
    assert vendor.vendor(target) is False


def test_another_wheel_than_the_pinned_is_refused(vendor: ModuleType, index: Path, tmp_path: Path) -> None:
    with pytest.raises(vendor.VendorError, match=r"(?is)could not fetch miniwob.*hash"):
        vendor.vendor(tmp_path / "vendor")
    assert not (tmp_path / "vendor").exists()
