"""What a program can learn and reach of its remote, on this machine and in containers."""

import json
import secrets
from pathlib import Path
from typing import Any

import pytest
from pluriverse.remotes.docker import LIMITS
from pluriverse_server.remote.child_user import CHILD_USER
from support.agent import connected
from support.remotes import HARDENED, PASSWORD, Listening, in_container, on_machine

pytestmark = pytest.mark.display

# Other tests beside these run remotes with the usual password.
SECRET = f"of-{secrets.token_hex(4)}"

# A program that looks for its remote's password and for a network, and says as text what it found.
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
reset.by = "report"
rewards = [{{ source = "reports" }}]
envs = [{{ id = "spy.Spy-v0" }}]
[runtime]
id = "spy"
version = "1.0.0"
title = "A spy"
default_env = "spy.Spy-v0"
screen = {{ width = 320, height = 200 }}
[program]
command = ["python", "spy.py", "{secret}"]
network = {network}
"""

REFUSED = {"memory": "Permission denied", "tcp": "Permission denied", "udp": "Permission denied"}


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


@pytest.mark.parametrize("network", [False, True])
async def test_program_on_this_machine_learns_no_password_and_has_a_network_if_it_asks(
    tmp_path: Path, network: bool
) -> None:
    with on_machine(runtime=str(make_spy(tmp_path / "spy", SECRET, network=network)), password=SECRET) as remote:
        found = await what_it_found(remote)
    assert found["secret"] == []
    assert found.items() >= (REFUSED | ({"tcp": "had", "udp": "had"} if network else {})).items()


@pytest.mark.container
@pytest.mark.parametrize(
    ("limits", "user"),
    [
        pytest.param({}, CHILD_USER, id="plain"),
        pytest.param(LIMITS, CHILD_USER, id="as the client starts it"),
        pytest.param(
            {"user": "root", "entrypoint": ["tini", "--", "pluriverse-server", "run"]}, CHILD_USER, id="root's daemon"
        ),
        # What gives a container nothing leaves its programs the daemon's user.
        pytest.param(HARDENED, 1000, id="hardened"),
        pytest.param({**HARDENED, "user": "root"}, 0, id="root without privileges"),
    ],
)
async def test_program_in_a_container_learns_no_password_and_has_no_network(
    tmp_path: Path, limits: dict[str, Any], user: int
) -> None:
    folder = make_spy(tmp_path / "spy", PASSWORD)
    with in_container(limits=limits, volumes=[f"{folder}:/runtime:ro"]) as remote:
        found = await what_it_found(remote)
        listed = remote.container.top(ps_args="-eo pid,uid,args")["Processes"]
        daemons_user = next(user for _, user, command in listed if "pluriverse-server run" in command)
    assert found["secret"] == []
    assert found.items() >= REFUSED.items()
    assert found["user"] == user
    assert found["signals"] == ("had" if str(user) == daemons_user else "Operation not permitted")
