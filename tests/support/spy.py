"""A runtime whose program looks for its remote's password and for a network, and says as text what it found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.agent import connected
from support.remotes import Listening

PROGRAM = """
import glob, json, os, socket, sys
from pluriverse_protocol.reports import Ready, Reset, Text, decode_request, encode_line

def attempt(action):
    try:
        action()
        return "had"
    except OSError as error:
        return error.strerror

def holds(path):
    try:
        with open(path, "rb") as file:
            return secret in file.read()
    except OSError:
        return False

secret, parent = sys.argv[1][::-1].encode(), os.getppid()
found = {
    "user": os.getuid(),
    "secret": [path for name in ("environ", "cmdline") for path in glob.glob(f"/proc/[0-9]*/{name}") if holds(path)],
    "memory": attempt(lambda: open(f"/proc/{parent}/mem", "rb").close()),
    "signals": attempt(lambda: os.kill(parent, 0)),
    "tcp": attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()),
    "udp": attempt(lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).close()),
}

daemon = socket.socket(socket.AF_UNIX)
daemon.connect(os.environ["PLURIVERSE_SOCKET"])
for line in daemon.makefile("rb"):
    request = decode_request(line)
    if isinstance(request, Reset):
        daemon.sendall(encode_line(Ready(request.episode)) + encode_line(Text(request.episode, json.dumps(found))))
"""

MANIFEST = """
[runtime]
id = "spy"
version = "1.0.0"
title = "A spy"
default_env = "spy.Spy-v0"
screen = {{ width = 320, height = 200 }}
[program]
command = ["python", "spy.py", "{secret}"]
network = {network}
[reset]
by = "report"
[[rewards]]
source = "reports"
[[envs]]
id = "spy.Spy-v0"
"""


def make_spy(folder: Path, secret: str, *, network: bool = False) -> Path:
    """Write the runtime. It is told the secret backwards, so as not to find what it was told."""
    folder.mkdir(mode=0o755)
    (folder / "spy.py").write_text(PROGRAM)
    (folder / "runtime.toml").write_text(MANIFEST.format(secret=secret[::-1], network=str(network).lower()))
    return folder


async def what_it_found(remote: Listening) -> dict[str, Any]:
    """What the spy of a remote that has just begun has found."""
    async with connected(remote.port, remote.password) as agent:
        await agent.reset("spy.Spy-v0", seed=1)
        return json.loads((await agent.hear_method("v0.env.text"))["body"]["text"])
