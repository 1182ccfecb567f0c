"""The folder of an OpenEnv environment that serves one of ours: openenv.yaml, its package, and its server."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import Final

from pluriverse_protocol.kinds import CLOCKS

from pluriverse import validation
from pluriverse.errors import ConfigurationError
from pluriverse.remotes.address import SCHEMES, parse_addresses
from pluriverse.remotes.places import one_by_one

_YAML: Final = """\
spec_version: 1
name: {name}
type: space
runtime: fastapi
app: server.app:app
port: 8000
"""

_PYPROJECT: Final = """\
[project]
name = "{name}"
version = "{version}"
description = "{env_id} of pluriverse, served to OpenEnv"
requires-python = ">=3.11"
dependencies = ["openenv-core>=0.3", "pluriverse[openenv]>={version}"]

[project.scripts]
server = "server.app:main"

[build-system]
requires = ["setuptools>=80"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
packages = ["server"]
"""

_APP: Final = '''\
"""Serves {env_id} of pluriverse to OpenEnv's clients, on the remotes of $PLURIVERSE_REMOTES.

Clients send the token in $PLURIVERSE_TOKEN; if that isn't set, one is made and printed.
"""

import os

import uvicorn
from pluriverse.serving.openenv_server import make_app
from pluriverse.serving.web import take_token

HOST = "0.0.0.0"

token, is_new = take_token()
if is_new:
    print(f"token {{token}}", flush=True)
app = make_app({env_id!r}, os.environ.get("PLURIVERSE_REMOTES", {remotes!r}), HOST, token, clock={clock!r})


def main(host: str = HOST, port: int = 8000) -> None:
    uvicorn.run(app, host=host, port=port)


if __name__ == "__main__":
    main()
'''


def write(folder: Path, env_id: str, remotes: str, clock: str) -> list[Path]:
    """Write it into a new folder; return its files. ``uv lock`` in it makes the lock that OpenEnv wants, too.

    Raises:
        ConfigurationError: there is something in the folder already, it can't be written, it could not be served, or a
            password would be in it.
    """
    validation.choice("clock", clock, CLOCKS)
    one_by_one(remotes)
    if remotes.partition(":")[0] in SCHEMES and any(each.password for each in parse_addresses(remotes)):
        raise ConfigurationError(
            "the folder would have the remotes' password; give it to the server: PLURIVERSE_PASSWORD"
        )
    name = re.sub(r"[^a-z0-9]+", "-", env_id.lower()).strip("-")
    values = {"name": name, "env_id": env_id, "remotes": remotes, "clock": clock, "version": version("pluriverse")}
    files = {"openenv.yaml": _YAML, "pyproject.toml": _PYPROJECT, "server/__init__.py": "", "server/app.py": _APP}
    try:
        if folder.exists() and any(folder.iterdir()):
            raise ConfigurationError(f"{folder} is not empty; name a new folder")
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text.format(**values), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{folder}: {error.strerror}") from error
    return [folder / path for path in files]
