"""Builds the clock that is preloaded into programs, where there is a compiler; see native/lockstep.

``PLURIVERSE_NATIVE=require`` makes a failed build an error, ``skip`` doesn't try. Otherwise lockstep is only frozen
without it. ``python hatch_build.py`` builds it into the source tree.
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
LIBRARY = HERE / "src/pluriverse_server/lockstep/preloaded.so"
MEND = "install a C compiler and the headers, on Debian: apt-get install gcc libc6-dev"

# Compilers hold promises of glibc's headers to be true of arguments; these are programs', which may break them.
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wno-nonnull-compare"]
FLAGS += ["-fno-delete-null-pointer-checks"]

# Preloaded libraries are there from the start: their variables of a thread need no function to be found.
SHARED = ["-shared", "-fPIC", "-ftls-model=initial-exec", "-pthread"]


def build() -> bool:
    """Build it and return whether there is one."""
    wish = os.environ.get("PLURIVERSE_NATIVE", "")
    LIBRARY.unlink(missing_ok=True)
    if wish == "skip":
        return False
    sources = sorted(str(path) for path in (HERE / "native/lockstep").glob("*.c"))
    try:
        subprocess.run([os.environ.get("CC", "cc"), *FLAGS, *SHARED, "-o", str(LIBRARY), *sources, "-ldl"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the preloaded clock can't be built ({error}); {MEND}", file=sys.stderr)
        if wish == "require":
            raise
        return False
    return True


class BuildClock(BuildHookInterface):
    """Has a wheel with the clock say which machines it is for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: D102 - hatchling's
        if self.target_name == "wheel" and build():
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data.update(pure_python=False, tag=f"py3-none-{platform}")


if __name__ == "__main__":
    sys.exit(0 if build() else 1)
