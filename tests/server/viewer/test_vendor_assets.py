"""tools/vendor_assets.py, with a stand-in for npm: the registry isn't asked in tests."""

import importlib.util
import json
from pathlib import Path

import pytest
from support.scripts import load_script

ROOT = Path(__file__).resolve().parents[3]
tool = load_script(ROOT / "tools/vendor_assets.py")

NPM = """#!/bin/sh
test "$1" = ci && test -f package-lock.json || exit 64
mkdir -p node_modules/@novnc/novnc/core node_modules/@novnc/novnc/vendor/pako node_modules/@novnc/novnc/docs
mkdir -p node_modules/dom-accessibility-api/dist/parts
cd node_modules/dom-accessibility-api
echo MIT > LICENSE.md; echo 'exports.name = require("./parts/name").name;' > dist/index.js
echo 'exports.name = "found";' > dist/parts/name.js; echo types > dist/index.d.ts
cd ../@novnc/novnc
echo rfb > core/rfb.js; echo pako > vendor/pako/LICENSE; echo MPL > LICENSE.txt; echo readme > docs/API.md
echo MPL > docs/LICENSE.MPL-2.0
"""


def put_npm(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "bin").mkdir(exist_ok=True)
    npm = folder / "bin/npm"
    npm.write_text(script)
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")


def test_what_the_page_needs_is_copied_with_its_licences_and_nothing_else_and_modules_become_one_expression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_npm(tmp_path, NPM, monkeypatch)
    target, pages = tmp_path / "novnc", tmp_path / "pages"
    assert tool.vendor(target, pages) is True
    files = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert files == {"core/rfb.js", "vendor/pako/LICENSE", "LICENSE.txt", "docs/LICENSE.MPL-2.0", ".pinned"}
    module = "dom-accessibility-api"
    assert {path.name for path in pages.iterdir()} == {f"{module}.js", f"{module}.LICENSE.md", ".pinned"}
    written = (pages / f"{module}.js").read_text()
    assert '"index": (exports, require) => {' in written
    assert '"parts/name": (exports, require) => {\nexports.name = "found";' in written
    # A second run needs no npm.
    put_npm(tmp_path, "#!/bin/sh\nexit 1\n", monkeypatch)
    assert tool.vendor(target, pages) is False


def test_failure_of_npm_is_told_with_what_npm_said_and_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_npm(tmp_path, "#!/bin/sh\necho 'npm error ENOTFOUND' >&2\nexit 1\n", monkeypatch)
    with pytest.raises(tool.AssetsError, match=r"(?s)ENOTFOUND.*make assets"):
        tool.vendor(tmp_path / "novnc", tmp_path / "pages")
    assert not (tmp_path / "novnc").exists()


def test_missing_npm_is_told_with_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_absent(name: str) -> None:
        del name

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", is_absent)
    with pytest.raises(tool.AssetsError, match="apt-get install npm"):
        tool.npm_command()


def test_lock_pins_by_checksum_and_names_no_registry() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    for name, version in json.loads((ROOT / "package.json").read_text())["dependencies"].items():
        pinned = lock["packages"][f"node_modules/{name}"]
        assert pinned["version"] == version
        assert pinned["integrity"].startswith("sha512-")
    assert "resolved" not in (ROOT / "package-lock.json").read_text()
