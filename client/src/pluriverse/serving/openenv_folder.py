"""The folder that OpenEnv builds, validates and publishes: a server of environments in a container."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Final

from pluriverse.errors import ConfigurationError
from pluriverse.remotes.free import Remotes
from pluriverse.runtimes import runtime_of

from .openenv_server import Tasks, environments

# By the rules of OpenEnv's manifest, and of Spaces for the head of the README.
_FILES: Final = {
    "openenv.yaml": """\
spec_version: 1
name: {name}
version: {version}
type: space
runtime: fastapi
app: server.app:app
port: 8000
validation:
  reward:
    range: [-1.0, 1.0]  # of one step; widen it where an environment gives more
    oracle_tolerance: 0.0
    floor_margin: 0.1
  resources:
    cpu: {remotes}.0
    memory_mb: {memory_mb}
    disk_mb: 1024
    episode_timeout_s: 600.0
  capabilities:
    verifier:
      kind: reward_channel
    task_api: true
    declared_task_count: {counts}
  types:
    tags: [computer-use]
  execution:
    kind: openenv_ws
    probe_path: validation/runtime.json
    dockerfile: Dockerfile
""",
    "Dockerfile": """\
FROM pluriverse/{runtime}
USER root
RUN apt-get update \\
 && apt-get install -y --no-install-recommends python3-venv \\
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
COPY . /env
RUN python -m ensurepip && python -m pip install --no-cache-dir /env
ENV PLURIVERSE_RUNTIMES=/runtime
USER pluriverse
EXPOSE 8000
ENTRYPOINT ["tini", "--"]
CMD ["server"]
""",
    "pyproject.toml": """\
[build-system]
requires = ["setuptools>=80"]
build-backend = "setuptools.build_meta"

[project]
name = "openenv-{name}"
version = "{version}"
requires-python = ">=3.11"
dependencies = ["openenv>=0.10", "pluriverse[openenv]=={version}", "pluriverse-server=={version}"]

[project.scripts]
server = "{name}.server.app:main"

[tool.setuptools]
packages = ["{name}", "{name}.server"]
package-dir = {{ "{name}" = ".", "{name}.server" = "server" }}
""",
    "README.md": """\
---
title: {env}
sdk: docker
app_port: 8000
tags: [openenv]
---

# {env}

Programs with a screen as [OpenEnv](https://github.com/huggingface/OpenEnv) environments, made by
`pluriverse openenv {env} --write`. `docker build -t {name} .` builds the server; then:

```python
from pluriverse.adapters.openenv import PluriverseAction, PluriverseEnv

with PluriverseEnv.from_docker_image("{name}").sync() as env:
    result = env.reset(split="{split}", index=0)
    result = env.step(PluriverseAction(computer={{"name": "click", "arguments": {{"x": 80, "y": 100}}}}))
```

Who reaches the port may use it; with `PLURIVERSE_TOKEN` set in the container, those who have the token.
""",
    "__init__.py": """\
\"\"\"The client and the models of {env}.\"\"\"

from .client import PluriverseEnv
from .models import PluriverseAction, PluriverseObservation, PluriverseState

__all__ = ["PluriverseAction", "PluriverseEnv", "PluriverseObservation", "PluriverseState"]
""",
    "client.py": """\
\"\"\"The client.\"\"\"

from pluriverse.adapters.openenv import PluriverseEnv

__all__ = ["PluriverseEnv"]
""",
    "models.py": """\
\"\"\"What it takes and answers.\"\"\"

from pluriverse.adapters.openenv import PluriverseAction, PluriverseObservation, PluriverseState

__all__ = ["PluriverseAction", "PluriverseObservation", "PluriverseState"]
""",
    "server/__init__.py": "",
    "server/app.py": """\
\"\"\"The server.\"\"\"

import os

from pluriverse.serving.openenv_server import make_app
from pluriverse.serving.web import serve

HOST, PORT = "0.0.0.0", int(os.environ.get("PORT", "8000"))

app = make_app("{env}", "local:{remotes}", HOST, os.environ.get("PLURIVERSE_TOKEN"), clock="{clock}")


def main() -> None:
    serve(app, HOST, PORT, lambda: print(f"http://{{HOST}}:{{PORT}}  (Ctrl-C ends it)", flush=True))


if __name__ == "__main__":
    main()
""",
}

# What a remote takes with its program, in MB; a browser's is the largest.
MEMORY_MB: Final = 1024

# What OpenEnv's validator does in an episode.
_ACTIONS: Final = [
    {"computer": {"name": name, "arguments": arguments}}
    for name, arguments in (("wait", {"seconds": 0.1}), ("click", {"x": 1, "y": 1}), ("wait", {"seconds": 0.1}))
]


def write(folder: Path, env: str, remotes: str, clock: str) -> None:
    """Write the folder for an environment, or for those of a pattern.

    Raises:
        ConfigurationError: the folder isn't empty, its name isn't one of Python's, or the runtimes are several.
    """
    env_ids = environments(env, remotes)
    runtimes = sorted(set(map(runtime_of, env_ids)))
    if len(runtimes) > 1:
        raise ConfigurationError(f"{env!r} is of {len(runtimes)} runtimes, {', '.join(runtimes)}; a container has one")
    if folder.exists() and any(folder.iterdir()):
        raise ConfigurationError(f"the folder {folder} isn't empty; name a new one")
    name = folder.resolve().name.replace("-", "_")
    if not name.isidentifier():
        raise ConfigurationError(f"the folder's name is its package's; expected a name of Python's, got {name!r}")
    count = Remotes(remotes).count
    tasks = Tasks(env_ids)
    values = {
        "env": env,
        "name": name,
        "runtime": runtimes[0],
        "version": version("pluriverse"),
        "remotes": count,
        "memory_mb": MEMORY_MB * count,
        "clock": clock,
        "split": next(iter(tasks.splits)),
        "counts": json.dumps({split: tasks.num_tasks(split) for split in tasks.splits}),
    }
    plan = {"plan_schema_version": "1", "reset": {"episode_id": "validation", "seed": 1}, "actions": _ACTIONS}
    files = {path: text.format(**values) for path, text in _FILES.items()}
    files["validation/runtime.json"] = json.dumps(plan, indent=2) + "\n"
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
