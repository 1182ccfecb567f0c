"""Fills ``www/vendor/`` beside this script: the Minesweeper of ``www/minesweeper.html``. Quick when up to date.

Run as ``python runtimes/internet/vendor.py``. It needs npm, as ``tools/vendor_assets.py`` does.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from vendor_assets import PINS, AssetsError, npm_ci

FOLDER: Final = Path(__file__).resolve().parent
TARGET: Final = FOLDER / "www/vendor"
PACKAGE: Final = "node_modules/minesweeper-for-web"

# The one file of it that pages load, and its licence.
WANTED: Final = {"dist/custom-element.js": "minesweeper.js", "LICENSE": "minesweeper.LICENSE"}


def vendor(target: Path = TARGET) -> bool:
    """Bring ``target`` up to date with the pinned package. False if it was already.

    Raises:
        AssetsError: npm is missing, could not reach its registry, or fetched another package than expected.
    """
    stamp = target / ".made-of"
    made_of = hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in (*PINS, "vendor.py"))).hexdigest()
    if stamp.is_file() and stamp.read_text() == made_of:
        return False
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    with tempfile.TemporaryDirectory(prefix="pluriverse-internet-") as folder:
        for name in PINS:
            shutil.copy(FOLDER / name, folder)
        npm_ci(Path(folder), "Minesweeper")
        for source, name in WANTED.items():
            if not (fetched := Path(folder, PACKAGE, source)).is_file():
                raise AssetsError(f"npm fetched a Minesweeper without {source}; {PINS[1]} no longer fits vendor.py")
            shutil.copy(fetched, target / name)
    # Last, so that a copy cut short is done again.
    stamp.write_text(made_of)
    return True


def main() -> int:
    """Fetch what is missing and say so; 1 if it could not be had."""
    try:
        fetched = vendor()
    except AssetsError as error:
        sys.stderr.write(f"internet/vendor: {error}\n")
        return 1
    sys.stdout.write(f"internet: Minesweeper is {'now' if fetched else 'up to date'} in {TARGET}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
