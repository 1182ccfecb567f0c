"""Fetches miniwob's pages, pinned with their checksum, into ``vendor/`` beside this script. Quick when they are there.

Run as ``python runtimes/world-of-bits/vendor.py``, with a Python that has pip. Of the package only the pages and their
licence are taken: its Python part drives a browser, which is not needed here.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

VERSION: Final = "1.1.0"
SHA256: Final = "297006e84219d56ad037e843527ed773a4a82509dc43b6031ec4a3ad3e3e61d9"

TARGET: Final = Path(__file__).resolve().parent / "vendor"
PAGES: Final = "miniwob/html/"
LICENCE: Final = f"miniwob-{VERSION}.dist-info/licenses/LICENSE"

# Two megabytes are fetched; past this the network is the trouble.
PIP_TIMEOUT_S: Final = 120


class VendorError(Exception):
    """The pages could not be fetched; the message says why and what fixes it."""


def vendor(target: Path = TARGET) -> bool:
    """Bring ``target`` to the version that is pinned here. False if it was there already.

    Raises:
        VendorError: pip is missing, could not reach its index, or what it fetched is not as expected.
    """
    stamp = target / ".pinned"
    if stamp.is_file() and stamp.read_text() == SHA256:
        return False
    with tempfile.TemporaryDirectory(prefix="pluriverse-miniwob-") as folder:
        _unpack(_download(Path(folder)), target)
    # Last, so that a copy cut short is done again.
    stamp.write_text(SHA256)
    return True


def _download(folder: Path) -> Path:
    pins = folder / "requirements.txt"
    pins.write_text(f"miniwob=={VERSION} --hash=sha256:{SHA256}\n")
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "-r", str(pins), "-d", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise VendorError(
            f"pip did not fetch miniwob within {PIP_TIMEOUT_S} s; try again once the network is there"
        ) from None
    if done.returncode:
        raise VendorError(
            f"pip could not fetch miniwob {VERSION} (exit status {done.returncode}):\n{done.stderr.strip()}\n"
            "Without a network, or behind a proxy, tell pip where its index is (pip config set global.index-url URL)"
        )
    return next(folder.glob("*.whl"))


def _unpack(wheel: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(PAGES) and not name.endswith("/"):
                destination = target / name.removeprefix(PAGES)
                destination.parent.mkdir(parents=True, exist_ok=True)
                destination.write_bytes(archive.read(name))
        (target / "LICENSE").write_bytes(archive.read(LICENCE))


def main() -> int:
    try:
        fetched = vendor()
    except VendorError as error:
        sys.stderr.write(f"vendor.py: {error}\n")
        return 1
    sys.stdout.write(f"miniwob {VERSION} {'fetched into' if fetched else 'is up to date in'} {TARGET}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
