from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pluriverse
import pytest
from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.remotes import parse
from pluriverse.remotes.health import why_not_ready
from pluriverse.remotes.manager import no_progress
from support.remotes import IMAGE, ROOT
from support.swarm import PASSWORD, SERVICE, Swarm, swarm_of_two, why_not_here

PONG = "gym-core.PongDeterministic-v3"

# Nobody dies in it for minutes.
LONG = "gym-core.FreewayNoFrameskip-v3"

WHY_NOT = why_not_here()

# Copying the image into two engines takes most of a minute, on a machine that does nothing else.
pytestmark = [
    pytest.mark.alone,
    pytest.mark.container,
    pytest.mark.timeout(600),
    pytest.mark.skipif(WHY_NOT is not None, reason=f"no swarm of two engines can be started here: {WHY_NOT}"),
]


@pytest.fixture(scope="module")
def engines() -> Generator[Swarm]:
    with swarm_of_two() as swarm:
        yield swarm


@pytest.fixture
def swarm(engines: Swarm, monkeypatch: pytest.MonkeyPatch) -> Generator[Swarm]:
    monkeypatch.setenv("DOCKER_HOST", engines.manager.url)
    monkeypatch.setenv("PLURIVERSE_PASSWORD", PASSWORD)
    yield engines
    engines.remove()


def test_free_remotes_are_claimed_and_those_that_are_missing_are_started_beside(swarm: Swarm) -> None:
    swarm.deploy(2)
    deployed = swarm.running(SERVICE)
    mine, others = parse("swarm:3", PONG), parse(f"swarm:1?service={SERVICE}", PONG)
    try:
        first = mine.start(no_progress)
        assert len(swarm.services()) == 2
        # The third was started for us alone; another agent gets one of its own, not one of ours.
        (second,) = others.start(no_progress)
        assert [why_not_ready(address) for address in (*first, second)] == [None] * 4
        assert len({str(address) for address in (*first, second)}) == 4
        assert {address.host for address in (*first, second)} == {swarm.manager.host, swarm.worker.host}
        assert len(swarm.services()) == 3
        mine.close()
        # What was started goes, and nothing else.
        assert len(swarm.services()) == 2
        assert why_not_ready(second) is None
        assert swarm.running(SERVICE) == deployed
        # What was claimed is free.
        again = parse("swarm:2", PONG)
        again.start(no_progress)
        assert len(swarm.services()) == 2
        again.close()
    finally:
        mine.close()
        others.close()
    assert swarm.services() == {SERVICE}


@contextlib.contextmanager
def drained(swarm: Swarm) -> Generator[None]:
    swarm.drain(swarm.worker)
    try:
        yield
    finally:
        swarm.activate(swarm.worker)


@contextlib.contextmanager
def cut_off(swarm: Swarm) -> Generator[None]:
    with swarm.worker.cut_off():
        yield
    swarm.until(lambda: swarm.is_there(swarm.worker))


@pytest.mark.parametrize("taken_away", [drained, cut_off])
def test_remotes_of_a_node_that_goes_are_replaced_while_the_others_play(
    swarm: Swarm, taken_away: Callable[[Swarm], contextlib.AbstractContextManager[None]]
) -> None:
    swarm.deploy(2)
    with pluriverse.make(LONG, "swarm:4") as env:
        env.reset()

        def step() -> list[Any]:
            env.wait(0.02)
            return env.step([[]] * env.n)[0]

        swarm.until(lambda: all(observation is not None for observation in step()))
        before = addresses_of(env)
        goes = {index for index, address in enumerate(before) if address.startswith(f"{swarm.worker.host}:")}
        assert goes
        with taken_away(swarm):

            def all_play_elsewhere() -> bool:
                observation_n = step()
                # Nobody else is held up, nor replaced.
                assert all(observation_n[index] is not None for index in set(range(env.n)) - goes)
                playing = all(observation is not None for observation in observation_n)
                return playing and all(address.startswith(f"{swarm.manager.host}:") for address in addresses_of(env))

            swarm.until(all_play_elsewhere)
            now = addresses_of(env)
            assert {index for index in range(env.n) if now[index] != before[index]} == goes


def addresses_of(env: Any) -> list[str]:
    """Where each remote is; nothing while one is replaced."""
    return [str(link.address) if link else "" for link in env._connections.by_index]


KILLED = f"""
import sys
from pluriverse.remotes import parse
from pluriverse.remotes.manager import no_progress
from pluriverse.remotes import lease
lease.TTL_S = 5.0
remotes = parse("swarm:2", {PONG!r})
print(*remotes.start(no_progress), flush=True)
sys.stdin.read()
"""


def test_remotes_of_a_killed_agent_are_free_again_and_what_it_started_ends(swarm: Swarm) -> None:
    swarm.deploy(1)
    deployed = swarm.running(SERVICE)
    agent = subprocess.Popen([sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert agent.stdout is not None
    try:
        assert len(agent.stdout.readline().split()) == 2
        (beside,) = swarm.services() - {SERVICE}
    finally:
        agent.kill()
        agent.communicate()
    swarm.until(lambda: not swarm.running(beside))
    assert swarm.running(SERVICE) == deployed
    remotes = parse("swarm:1", PONG)
    # What was left of the other is gone, and one is free.
    assert swarm.services() == {SERVICE}
    remotes.start(no_progress)
    assert swarm.services() == {SERVICE}
    remotes.close()


def test_one_that_was_killed_is_replaced_while_the_other_goes_on(swarm: Swarm) -> None:
    swarm.deploy(1)
    remotes = parse("swarm:2", PONG)
    try:
        addresses = remotes.start(no_progress)
        (beside,) = swarm.services() - {SERVICE}
        (node,) = [node for node in (swarm.manager, swarm.worker) if node.containers(beside)]
        node.docker("kill", *node.containers(beside))
        # Swarm spreads two over two nodes.
        (killed,) = [index for index, each in enumerate(addresses) if each.host == node.host]
        replaced = remotes.replace(killed)
        assert replaced != addresses[killed]
        assert why_not_ready(replaced) is None
        assert remotes.replace(1 - killed) == addresses[1 - killed]
        assert len(swarm.services()) == 2
    finally:
        remotes.close()
    assert swarm.services() == {SERVICE}


def create(swarm: Swarm, name: str, image: str, *options: str) -> None:
    """Create a service that isn't the stack's."""
    published = (word for port in (5900, 15900) for word in ("--publish", f"mode=host,target={port}"))
    environment = ("--env", f"PLURIVERSE_PASSWORD={PASSWORD}")
    words = (*published, *environment, *options, image)
    swarm.manager.docker("service", "create", "--detach", "--no-resolve-image", "--name", name, *words)


def test_swarm_without_room_says_so_and_how_many_got_a_place(swarm: Swarm) -> None:
    cores = swarm.manager.docker("info", "--format", "{{.NCPU}}")
    create(swarm, "greedy", IMAGE, "--reserve-cpu", cores)
    remotes = parse("swarm:3?service=greedy", PONG)
    swarm.until(lambda: swarm.running("greedy"))
    with pytest.raises(RemoteUnavailable, match=r"no room for one more remote, 2 have a place: no suitable node"):
        remotes.start(no_progress)
    assert swarm.services() == {"greedy"}


def test_image_that_no_node_has_is_told_with_what_brings_it_there(swarm: Swarm) -> None:
    create(swarm, "lost", "pluriverse/nothing", "--replicas", "0")
    remotes = parse("swarm:1?service=lost", PONG)
    with pytest.raises(RemoteUnavailable, match=r"No such image: pluriverse/nothing.*docker save"):
        remotes.start(no_progress)
    assert swarm.services() == {"lost"}


def test_remote_that_ends_before_it_is_ready_says_why(swarm: Swarm) -> None:
    create(swarm, "bare", IMAGE, "--replicas", "0")
    remotes = parse("swarm:1?service=bare", "gym-core.Nonsense-v0")
    with pytest.raises(RemoteUnavailable, match=r"(?s)last output.*unknown environment 'gym-core\.Nonsense-v0'"):
        remotes.start(no_progress)
    assert swarm.services() == {"bare"}


def test_password_is_that_of_the_variable_or_of_a_file(
    swarm: Swarm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    swarm.deploy(1)
    monkeypatch.delenv("PLURIVERSE_PASSWORD")
    with pytest.raises(ConfigurationError, match=r"export PLURIVERSE_PASSWORD=.*swarm:N\?secret=FILE"):
        parse("swarm:1", PONG)
    secret = tmp_path / "secret"
    with pytest.raises(ConfigurationError, match="can't be read"):
        parse(f"swarm:1?secret={secret}", PONG)
    secret.write_text(PASSWORD + "\n")
    remotes = parse(f"swarm:1?secret={secret}", PONG)
    remotes.start(no_progress)
    remotes.close()
    secret.write_text("wrong")
    remotes = parse(f"swarm:1?secret={secret}", PONG)
    with pytest.raises(RemoteUnavailable, match="password"):
        remotes.start(no_progress)
    assert swarm.services() == {SERVICE}


def test_worker_is_refused_with_the_managers_address(swarm: Swarm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", swarm.worker.url)
    with pytest.raises(ConfigurationError, match=rf"only managers \({swarm.manager.host}:2377\).*docker node promote"):
        parse("swarm:1", PONG)


def documented() -> list[str]:
    """The blocks of commands of docs/fleet.md's section, without what the engines were started with."""
    section = (ROOT / "docs/fleet.md").read_text().partition("\n## Docker Swarm\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```console\n(.*?)```", section, re.DOTALL)
    ready = ("$ make image ", "$ docker save ")
    lines = ([line for line in block.splitlines() if not line.startswith(ready)] for block in blocks)
    return ["\n".join(line.removeprefix("$ ") for line in block) for block in lines]


def test_documentation_is_followed_step_by_step(swarm: Swarm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docker-compose.yml").symlink_to(ROOT / "docker-compose.yml")
    with_password, with_secret = documented()

    def follow(commands: str) -> None:
        subprocess.run(["bash", "-euc", commands.replace("N=8", "N=2").replace("…", PASSWORD)], check=True)
        swarm.until(lambda: len(swarm.running(SERVICE)) == 2)

    def play(remotes: str) -> None:
        with pluriverse.make(PONG, remotes) as env:
            env.reset()
            swarm.until(lambda: all(observation is not None for observation in env.step([[]] * env.n)[0]))
            assert len(swarm.services()) == 2
        assert swarm.services() == {SERVICE}

    follow(with_password)
    play("swarm:3")
    follow(with_secret)
    monkeypatch.delenv("PLURIVERSE_PASSWORD")
    play("swarm:3?secret=trainer.token")
