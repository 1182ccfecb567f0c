"""Programs that see other mounts than this machine has, which it doesn't notice."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

import pytest


def with_mounts(mounts: str, command: Sequence[str]) -> list[str]:
    """Return ``command`` so that it runs after the shell's ``mounts``; skips the test where we may not mount those."""
    unshared = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c"]
    if subprocess.run([*unshared, mounts], capture_output=True, check=False).returncode:
        pytest.skip("this system gives us no mounts of our own")
    return [*unshared, f'{mounts} && exec "$@"', "sh", *command]
