"""Builds the native VNC driver where it can be; see pyproject.toml for everything else.

It also writes the ids of all environments of the runtimes beside it into src/pluriverse/adapters/listed.txt: an agent's
machine doesn't have the runtimes. In an sdist the list is there already.

``PLURIVERSE_NATIVE=require`` makes a failed build an error, ``skip`` doesn't try. Otherwise a failure leaves the
decoder in Python, and says so. libjpeg-turbo becomes part of the module where its static library can be linked, so that
a wheel carries it; ``PLURIVERSE_JPEG=shared`` takes the system's library instead.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from setuptools.errors import CompileError, LinkError

HERE = Path(__file__).resolve().parent
NATIVE = HERE / "native"
# What the server compiles, too; an sdist has its copy.
SHARED = next(folder for folder in (HERE.parent / "protocol/native", NATIVE / "shared") if folder.is_dir())
PROTOCOL = HERE.parent / "protocol" / "src"
RUNTIMES = HERE.parent / "runtimes"
LISTED = HERE / "src/pluriverse/adapters/listed.txt"
WISH = os.environ.get("PLURIVERSE_NATIVE", "")
MEND = "install a C compiler and the headers, on Debian: apt-get install gcc libc6-dev libjpeg62-turbo-dev zlib1g-dev"

# The stable interface of the oldest Python that is supported: one wheel serves all later ones.
LIMITED_API = "0x030B0000"

# Without these the linker would export the static library's names, and another libjpeg in the process might win.
STATIC_JPEG = ["-Wl,-Bstatic", "-ljpeg", "-Wl,-Bdynamic", "-Wl,--exclude-libs,ALL"]
SHARED_JPEG = ["-ljpeg"]


class BuildNative(build_ext):
    """Links libjpeg-turbo statically, or else as a shared library."""

    def build_extension(self, ext: Extension) -> None:
        """Build one module, with the first way of linking that works."""
        ways = [SHARED_JPEG] if os.environ.get("PLURIVERSE_JPEG") == "shared" else [STATIC_JPEG, SHARED_JPEG]
        for way in ways:
            ext.extra_link_args = [*way, "-lz", "-pthread"]
            try:
                super().build_extension(ext)  # pyright: ignore[reportUnknownMemberType] - it has no types
            except (CompileError, LinkError) as error:
                if isinstance(error, LinkError) and way is not ways[-1]:
                    continue
                print(f"the native part can't be built ({error}); {MEND}", file=sys.stderr)
                raise
            else:
                return


class WithShared(sdist):
    """Adds what isn't below this folder."""

    def make_release_tree(self, base_dir: str, files: Sequence[str]) -> None:
        """Copy the shared C into the tree."""
        super().make_release_tree(base_dir, files)  # pyright: ignore[reportUnknownMemberType] - it has no types
        shutil.copytree(SHARED, Path(base_dir) / "native/shared")


def sources() -> list[str]:
    """All C files; paths are relative, as an sdist wants them."""
    return sorted(f"native/{path.name}" for path in NATIVE.glob("*.c"))


def list_environments() -> None:
    """Write the ids of all environments that come with pluriverse, sorted, and the splits of those that are tasks."""
    # The protocol need not be installed yet.
    sys.path.append(str(PROTOCOL))
    from pluriverse_protocol.installed import task_id, task_splits

    ids: list[str] = []
    for path in RUNTIMES.glob("*/runtime.toml"):
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
        tables = manifest.get("envs", [])
        tasks = [path.parent / file for file in manifest.get("tasks", [])]
        if "catalogue" in manifest:
            command = [sys.executable, *manifest["catalogue"]["command"][1:]]
            made = subprocess.run(
                command,
                cwd=path.parent,
                env=os.environ | {"PYTHONPATH": str(PROTOCOL)},
                stdout=subprocess.PIPE,
                check=True,
            )
            tables = json.loads(made.stdout)
        elif "games" in manifest:
            folder = path.parent / manifest["games"]
            games = [tomllib.loads(game.read_text(encoding="utf-8")) for game in folder.glob("*.toml")]
            tables = [game["env"] for game in games if "env" in game]
            tasks = [folder / game["tasks"] for game in games if "tasks" in game]
        ids += [table["id"] for table in tables]
        for file in tasks:
            splits = task_splits(file.read_text(encoding="utf-8"))
            ids += [f"{task_id(manifest['runtime']['id'], name)} {split}" for name, split in splits.items()]
    LISTED.write_text("\n".join(sorted(ids)) + "\n", encoding="utf-8")


if RUNTIMES.is_dir():
    list_environments()

setup(
    ext_modules=[
        Extension(
            "pluriverse.rfb._native",
            sources(),
            depends=sorted(f"native/{path.name}" for path in NATIVE.glob("*.h")),
            include_dirs=[str(SHARED)],
            define_macros=[("_GNU_SOURCE", "1"), ("Py_LIMITED_API", LIMITED_API)],
            extra_compile_args=["-std=c11", "-O3", "-Wall", "-Wextra", "-fvisibility=hidden"],
            py_limited_api=True,
            # A failure is then a warning, and the decoder in Python is what there is.
            optional=WISH != "require",
        )
    ]
    if WISH != "skip"
    else [],
    cmdclass={"build_ext": BuildNative, "sdist": WithShared},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if WISH != "skip" else {},
)
