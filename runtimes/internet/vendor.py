"""Fills ``www/vendor/`` beside this script: the Minesweeper of ``www/minesweeper.html``. Quick when up to date.

Run as ``python runtimes/internet/vendor.py``. It needs npm, as ``tools/vendor_assets.py`` does.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from vendor_assets import PINS, AssetsError, npm_ci, run

FOLDER: Final = Path(__file__).resolve().parent
TARGET: Final = FOLDER / "www/vendor"
PACKAGE: Final = "minesweeper-for-web"

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
    with npm_ci(FOLDER, "Minesweeper") as packages:
        for source, name in WANTED.items():
            if not (fetched := packages / PACKAGE / source).is_file():
                raise AssetsError(f"npm fetched a Minesweeper without {source}; {PINS[1]} no longer fits vendor.py")
            shutil.copy(fetched, target / name)
    # Last, so that a copy cut short is done again.
    stamp.write_text(made_of)
    return True


if __name__ == "__main__":
    sys.exit(run("internet/vendor", vendor, "Minesweeper", TARGET))
