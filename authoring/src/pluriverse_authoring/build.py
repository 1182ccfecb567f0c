"""Builds the image of any runtime's folder, on the same layers as the shipped ones, from a checkout of the sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

from pluriverse_server.manifest.runtime import Manifest

from pluriverse_authoring import AuthoringError

# The parts of a checkout that an image is built from, beside the runtime's folder.
SOURCES: Final = (
    "Dockerfile",
    "package.json",
    "package-lock.json",
    "protocol",
    "pyproject.toml",
    "requirements.lock",
    "server",
    "tools/entrypoint",
    "tools/healthcheck",
    "tools/vendor_assets.py",
)

# Made in the image, or not needed there: recordings alone may have gigabytes.
LEFT_OUT: Final = re.compile(
    r"(^|/)(__pycache__|\.[^/]+|[^/]+\.egg-info|node_modules|viewer/static/vendor|sources/page/vendor)(/|$)"
)
# Below the top of a runtime's folder, hidden files are the program's, such as home/.config.
LEFT_OUT_OF_RUNTIME: Final = re.compile(r"^(\.[^/]+|recordings|vendor)(/|$)|(^|/)(__pycache__|node_modules)(/|$)")

# The layer beneath a runtime, by what its debian.txt lists: a browser, or programs, which may draw by OpenGL.
LAYERS: Final = {
    "browser": re.compile(r"^[^#\n:]*:chromium$", re.MULTILINE),
    "programs": re.compile(r"^[^#\n:]*:\S+$", re.MULTILINE),
}


def checkout() -> Path:
    """Return the checkout that this package runs from; raise AuthoringError if it was installed from a package."""
    root = Path(__file__).parents[3]
    missing = [name for name in SOURCES if not (root / name).exists()]
    if missing:
        raise AuthoringError(
            f"images are built from a checkout of pluriverse's sources; {root} lacks {missing[0]}; "
            "get one with git clone, run make setup in it, and use its .venv/bin/pluriverse-server"
        )
    return root


def build(directory: Path, manifest: Manifest, tag: str) -> None:
    """Build the image ``tag`` of the runtime in ``directory``; Docker's output goes to standard error."""
    root = checkout()
    docker = shutil.which("docker")
    if docker is None:
        raise AuthoringError("docker was not found on PATH; install it with: apt-get install docker.io docker-buildx")
    command = build_command(docker, directory, manifest, tag)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, "DOCKER_BUILDKIT": "1"})
    assert process.stdin is not None
    sender = threading.Thread(target=_send, args=(process.stdin, root, directory, manifest.runtime.id))
    sender.start()
    status = process.wait()
    sender.join()
    if status != 0:
        raise AuthoringError(f"docker build ended with status {status}; its output is above")


def build_command(docker: str, directory: Path, manifest: Manifest, tag: str) -> Sequence[str]:
    """Return the command that builds the image from a tar on its standard input."""
    packages = directory / "debian.txt"
    listed = packages.read_text(encoding="utf-8") if packages.is_file() else ""
    layer = next((layer for layer, pattern in LAYERS.items() if pattern.search(listed)), "server")
    arguments = {"RUNTIME": manifest.runtime.id, "LAYER": layer, "VERSION": manifest.runtime.version}
    words = [word for name, value in arguments.items() for word in ("--build-arg", f"{name}={value}")]
    # A bridge network may have no name resolution.
    return [docker, "build", "--network=host", *words, "--tag", tag, "-"]


def _send(pipe: IO[bytes], root: Path, directory: Path, name: str) -> None:
    try:
        with pipe:
            write_context(pipe, root, directory, name)
    except BrokenPipeError:
        # Docker has ended, and printed why.
        return


def write_context(stream: IO[bytes], root: Path, directory: Path, name: str) -> None:
    """Write the files that an image is built from as a tar, with ``directory`` as runtimes/``name``."""
    # Docker recognises a tar by its first block, which in Python's default format may not be a file's.
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as tar:
        for source in SOURCES:
            tar.add(root / source, source, filter=lambda entry: _kept(entry, entry.name, LEFT_OUT))
        folder = f"runtimes/{name}"
        tar.add(
            directory.resolve(),
            folder,
            filter=lambda entry: _kept(entry, entry.name.removeprefix(folder).removeprefix("/"), LEFT_OUT_OF_RUNTIME),
        )


def _kept(entry: tarfile.TarInfo, name: str, left_out: re.Pattern[str]) -> tarfile.TarInfo | None:
    if left_out.search(name):
        return None
    # With the builder's user and group, images would differ from person to person.
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
