"""Builds what of the server is in C, where there is a compiler.

That is what is preloaded into programs, a clock (native/lockstep), gamepads (native/pads) and what is theirs of what is
outside (native/outside), what makes pictures as agents ask for them (native/views), from the source with which agents
make them themselves (protocol/native), what is preloaded into X0tigervnc so that it gives back what it takes
(native/vnc), and into the X servers of programs whose moments are kept (native/xserver).

``PLURIVERSE_NATIVE=require`` makes a failed build an error, ``skip`` doesn't try. Otherwise lockstep is only frozen
without it, programs have no gamepads and no network, pictures are sent whole, and a TigerVNC before 1.14 leaks.
``python hatch_build.py`` builds it into the source tree.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).parent
OUTSIDE = HERE / "src/pluriverse_server/scraper/preloaded_outside.so"
PADS = HERE / "src/pluriverse_server/scraper/preloaded_pads.so"
CLOCK = HERE / "src/pluriverse_server/lockstep/preloaded.so"
VIEWS = HERE / "src/pluriverse_server/kit/make_view.so"
XSERVER = HERE / "src/pluriverse_server/lockstep/xserver.so"
DETACH = HERE / "src/pluriverse_server/display/detach.so"

# What the client compiles, too; an sdist has its copy.
SHARED_SOURCES = (HERE.parent / "protocol/native", HERE / "native/views")
MEND = "install a C compiler and the headers, on Debian: apt-get install gcc libc6-dev"

# Compilers hold promises of glibc's headers to be true of arguments; these are programs', which may break them.
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wno-nonnull-compare"]
FLAGS += ["-fno-delete-null-pointer-checks", "-include", str(HERE / "native/glibc.h")]

# Preloaded libraries are there from the start: their variables of a thread need no function to be found.
SHARED = ["-shared", "-fPIC", "-ftls-model=initial-exec", "-pthread"]


def build() -> bool:
    """Build all and return whether they are there."""
    wish = os.environ.get("PLURIVERSE_NATIVE", "")
    for library in (CLOCK, OUTSIDE, PADS, XSERVER, VIEWS, DETACH):
        library.unlink(missing_ok=True)
    if wish == "skip":
        return False
    clock = sorted(str(path) for path in (HERE / "native/lockstep").glob("*.c"))
    shared = next(folder for folder in SHARED_SOURCES if (folder / "rfb_picture.c").exists())
    views = [f"-I{shared}", str(HERE / "native/views/view.c")]
    compiler = os.environ.get("CC", "cc")
    try:
        subprocess.run([compiler, *FLAGS, *SHARED, "-o", str(CLOCK), *clock, "-ldl"], check=True)
        for library, name in ((OUTSIDE, "outside"), (PADS, "pads")):
            sources = sorted(str(path) for path in (HERE / "native" / name).glob("*.c"))
            subprocess.run([compiler, *FLAGS, *SHARED, "-o", str(library), *sources, "-ldl"], check=True)
        xserver = [str(HERE / "native/xserver/xserver.c"), str(HERE / "native/lockstep/template.c")]
        subprocess.run([compiler, *FLAGS, *SHARED, "-o", str(XSERVER), *xserver, "-ldl"], check=True)
        subprocess.run([compiler, *FLAGS, "-O3", "-shared", "-fPIC", "-o", str(VIEWS), *views], check=True)
        detach = str(HERE / "native/vnc/detach.c")
        subprocess.run([compiler, *FLAGS, *SHARED, "-o", str(DETACH), detach, "-ldl"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the server's native parts can't be built ({error}); {MEND}", file=sys.stderr)
        if wish == "require":
            raise
        return False
    return True


class BuildNative(BuildHookInterface):
    """Has a wheel with native parts say which machines it is for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: D102 - hatchling's
        if self.target_name == "wheel" and build():
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data.update(pure_python=False, tag=f"py3-none-{platform}")


if __name__ == "__main__":
    sys.exit(0 if build() else 1)
