"""Fills ``vendor/`` beside this script: Ruffle, and the games of ``games/``. Quick when up to date.

Run as ``python runtimes/flashgames/vendor.py``. It needs npm, as ``tools/vendor_assets.py`` does, and Debian's haxe.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from vendor_assets import PINS, AssetsError, npm_ci, run

FOLDER: Final = Path(__file__).resolve().parent
TARGET: Final = FOLDER / "vendor"
SOURCES: Final = FOLDER / "games"
PACKAGE: Final = "@ruffle-rs/ruffle"

# What a page loads, and the licences of it; the package's other files are for its developers.
WANTED: Final = ("ruffle.js", "core.ruffle.*.js", "*.wasm", "LICENSE_*")

# Each movie's class, and its header: width, height, frames a second, colour of the ground.
MOVIES: Final = {
    "Racer": "400:400:30:2E6B33",
    "Shooter": "480:400:30:101830",
    "Puzzle": "360:400:30:101010",
    "Wrapper": "550:400:30:000000",
}

# Flash Player 11.2, the last that there was for Linux: enough for all that the movies use.
SWF_VERSION: Final = "15"

# A movie is compiled in half a second; past this something else is wrong.
HAXE_TIMEOUT_S: Final = 120


def vendor(target: Path = TARGET) -> bool:
    """Bring ``target`` up to date with the pinned Ruffle and the games' sources. False if it was already.

    Raises:
        AssetsError: npm is missing, could not reach its registry, or fetched another Ruffle than expected; haxe isn't
            there, or a game doesn't compile.
    """
    stamp = target / ".made-of"
    made_of = _fingerprint()
    if stamp.is_file() and stamp.read_text() == made_of:
        return False
    shutil.rmtree(target, ignore_errors=True)
    _compile_movies(target / "swf")
    with npm_ci(FOLDER, "Ruffle") as packages:
        _copy_ruffle(packages / PACKAGE, target / "ruffle")
    # Last, so that a copy cut short is done again.
    stamp.write_text(made_of)
    return True


def _fingerprint() -> str:
    parts = [Path(__file__), *(FOLDER / name for name in PINS), *sorted(SOURCES.glob("*.hx"))]
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()


def _copy_ruffle(package: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for pattern in WANTED:
        found = sorted(package.glob(pattern))
        if not found:
            raise AssetsError(f"there is no {pattern} in {package}; this Ruffle no longer fits {Path(__file__).name}")
        for source in found:
            shutil.copy(source, target)


def _compile_movies(target: Path) -> None:
    haxe = shutil.which("haxe")
    if haxe is None:
        raise AssetsError("haxe, which compiles the games, is not on PATH; install it: apt-get install haxe")
    target.mkdir(parents=True)
    for name, header in MOVIES.items():
        command = [haxe, "-cp", str(SOURCES), "-main", name, "-swf", str(target / f"{name.lower()}.swf")]
        command += ["-swf-version", SWF_VERSION, "-swf-header", header, "-dce", "full"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=HAXE_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise AssetsError(f"haxe could not compile {name}: {error}") from None
        if done.returncode:
            raise AssetsError(f"haxe could not compile {name}:\n{done.stderr.strip()}")


if __name__ == "__main__":
    sys.exit(run("flashgames/vendor", vendor, "Ruffle and the games", TARGET))
