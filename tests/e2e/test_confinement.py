"""What a program can learn and reach of its remote, on this machine and in containers."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import pytest
from pluriverse.remotes.docker import LIMITS
from pluriverse_server.remote.child_user import CHILD_USER
from support.remotes import HARDENED, PASSWORD, in_container, on_machine
from support.spy import make_spy, what_it_found

pytestmark = pytest.mark.display

# Other tests beside these run remotes with the usual password.
SECRET = f"of-{secrets.token_hex(4)}"

REFUSED = {"memory": "Permission denied", "tcp": "Permission denied", "udp": "Permission denied"}


async def test_program_on_this_machine_learns_no_password_and_has_no_network(tmp_path: Path) -> None:
    with on_machine(runtime=str(make_spy(tmp_path / "spy", SECRET)), password=SECRET) as remote:
        found = await what_it_found(remote)
    assert found["secret"] == []
    assert found.items() >= REFUSED.items()


async def test_program_that_asks_for_the_network_has_it_and_still_no_password(tmp_path: Path) -> None:
    with on_machine(runtime=str(make_spy(tmp_path / "spy", SECRET, network=True)), password=SECRET) as remote:
        found = await what_it_found(remote)
    assert found["secret"] == []
    assert found["memory"] == "Permission denied"
    assert found["tcp"] == found["udp"] == "had"


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
