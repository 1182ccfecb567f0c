"""What a task's check looks at, packed for a recording, so that it can be run on it again."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import tarfile
from collections.abc import Generator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.kinds import read, write
from pluriverse_protocol.tree import Node

from pluriverse_server.home import PASSING
from pluriverse_server.task import Look

# Packed, and in base64, it has to fit a message to agents beside what else that says.
MAX_PACKED_BYTES: Final = 36 * 1024

# Of HOME. What is longer isn't packed at all: it would keep the program waiting, and hardly fit.
MAX_HOME_BYTES: Final = 8 * 1024 * 1024

# Homes are small: the fastest level is nearly as good.
_LEVEL: Final = 1


def packed(parameters: Mapping[str, Any], look: Look) -> str:
    """Return what is in HOME, the parameters, and what was asked of widgets and page; "" if they are too long.

    Raises OSError: the program changes its HOME meanwhile.
    """
    kept = [path for path in sorted(look.home.rglob("*")) if path.relative_to(look.home).parts[0] not in PASSING]
    if sum(path.lstat().st_size for path in kept) > MAX_HOME_BYTES:
        return ""
    tree = [write(node) for node in look.tree] if "tree" in vars(look) else []
    said = json.dumps({"parameters": dict(parameters), "tree": tree, "answers": look.answers}).encode()
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:xz", preset=_LEVEL) as tar:
        tar.add(look.home, "home", recursive=False, filter=_undated)
        for path in kept:
            tar.add(path, f"home/{path.relative_to(look.home)}", recursive=False, filter=_undated)
        info = tarfile.TarInfo("said")
        info.size = len(said)
        tar.addfile(info, io.BytesIO(said))
    data = file.getvalue()
    return base64.b64encode(data).decode() if len(data) <= MAX_PACKED_BYTES else ""


@contextlib.contextmanager
def unpacked(text: str, picture: NDArray[np.uint8]) -> Generator[tuple[dict[str, Any], Look]]:
    """Give the parameters and what a check may look at, until the end of the context; raise ValueError if that fails.

    ``picture`` is the screen's: RGB, uint8 of shape (height, width, 3).
    """
    with TemporaryDirectory() as folder:
        try:
            with tarfile.open(fileobj=io.BytesIO(base64.b64decode(text)), errorlevel=0) as tar:
                if sum(member.size for member in tar) > 2 * MAX_HOME_BYTES:
                    raise ValueError("it is longer than any that is written")
                # What leads out of the folder is left out.
                tar.extractall(folder, filter="tar")
            said = json.loads(Path(folder, "said").read_bytes())
            nodes = tuple(read(Node, node) for node in said["tree"])
            parameters, answers = said["parameters"], said["answers"]
        except (tarfile.TarError, EOFError, KeyError, OSError) as error:
            raise ValueError(f"the evidence is damaged: {error}") from error
        yield parameters, Look(Path(folder, "home"), lambda: picture, lambda: nodes, answers.__getitem__)


def _undated(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """The same is played to the same bytes."""
    return info.replace(mtime=0, uid=0, gid=0, uname="", gname="", deep=False)
