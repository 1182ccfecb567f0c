"""The image: what it promises about itself, and what docker does with it."""

import re
import subprocess
import time
from collections.abc import Generator
from typing import Any

import docker
import pytest
from docker import DockerClient
from pluriverse.remotes.docker import LIMITS
from support.remotes import HARDENED, IMAGE, PASSWORD, in_container, wait_for_greeting

pytestmark = pytest.mark.container


@pytest.fixture
def engine() -> Generator[DockerClient]:
    client = docker.from_env()
    yield client
    client.close()


def test_image_says_what_it_is(engine: DockerClient) -> None:
    attributes = engine.images.get(IMAGE).attrs
    config = attributes["Config"]
    assert config["User"] == "pluriverse"
    assert config["StopSignal"] == "SIGTERM"
    assert set(config["ExposedPorts"]) == {"5900/tcp", "15900/tcp"}
    assert config["Entrypoint"] == ["pluriverse-entrypoint"]
    labels = config["Labels"]
    assert labels["org.opencontainers.image.title"] == IMAGE
    assert labels["org.opencontainers.image.licenses"] == "MIT"
    assert labels["org.opencontainers.image.version"]


def test_docker_run_prints_where_to_connect() -> None:
    with in_container() as remote:
        said = wait_for_greeting(remote.container)
    assert dict(re.findall(r"^  (\w+) +(\w+://\S+)$", said, re.MULTILINE)) == {
        "screen": "vnc://127.0.0.1:5900",
        "viewer": f"http://127.0.0.1:15900/viewer/?password={PASSWORD}",
        "rewarder": "ws://127.0.0.1:15900",
        "agents": f"pluriverse://127.0.0.1:15900/?password={PASSWORD}",
    }


def test_everybody_can_read_what_is_ours_in_the_image() -> None:
    # The images of make test-all are built from a clone that its owner alone may read.
    ours = "/runtime /opt/pluriverse /usr/bin/pluriverse-*"
    find = f"find {ours} ! -type l \\( ! -perm -o+r -o -type d ! -perm -o+x \\)"
    docker_run = ["docker", "run", "--rm", "--user", "0", "--entrypoint", "sh", IMAGE, "-c", find]
    assert subprocess.run(docker_run, check=True, capture_output=True, text=True).stdout == ""


def test_remote_becomes_healthy_by_itself() -> None:
    with in_container() as remote:
        deadline = time.monotonic() + 60
        while remote.container.attrs["State"]["Health"]["Status"] != "healthy":
            assert time.monotonic() < deadline, remote.container.attrs["State"]["Health"]
            time.sleep(0.2)
            remote.container.reload()


def test_remote_runs_as_whatever_user_the_cluster_picks() -> None:
    with in_container(user="1234567890:0") as remote:
        wait_for_greeting(remote.container)


@pytest.mark.parametrize("limits", [LIMITS, {}])
def test_nothing_runs_as_root(limits: dict[str, Any]) -> None:
    with in_container(limits=limits) as remote:
        listed = remote.container.top(ps_args="-eo pid,uid,args")
        assert {row[1] for row in listed["Processes"]} == {"1000", "59000"}


@pytest.mark.parametrize("variable", ["PLURIVERSE_PASSWORD", "PLURIVERSE_TOKENS"])
def test_program_reads_no_secret_in_the_environment_of_the_first_process(engine: DockerClient, variable: str) -> None:
    secret = "tell-it-nobody"
    given = {variable: f"agent a {secret}" if variable == "PLURIVERSE_TOKENS" else secret}
    container = engine.containers.run(IMAGE, detach=True, environment=given, **HARDENED)
    try:
        wait_for_greeting(container)
        # As the user of the daemon and, where the container is hardened, of the program.
        first = container.exec_run("cat /proc/1/environ", user="1000")
        assert f"{variable}_FILE=".encode() in first.output
        assert secret.encode() not in first.output
    finally:
        container.remove(force=True)


def test_health_check_which_is_given_the_password_shows_it_to_nobody(engine: DockerClient) -> None:
    check = engine.images.get(IMAGE).attrs["Config"]["Healthcheck"]["Test"][1]
    with in_container() as remote:
        looks = f'{check} -c "read _" <"$pipe" & until grep -q bash /proc/$!/comm; do :; done; cat /proc/$!/environ'
        ended = remote.container.exec_run(["sh", "-c", f"pipe=/tmp/pipe; mkfifo $pipe; exec 9<>$pipe; {looks}"])
    assert ended.exit_code != 0
    assert b"Permission denied" in ended.output
