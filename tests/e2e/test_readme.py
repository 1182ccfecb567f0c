"""What the documentation tells people to type, typed."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from support.agent import connected
from support.leftovers import Leftovers
from support.ports import free_port
from support.remotes import ROOT, find, on_machine, started
from support.rfb import RfbClient
from support.waiting import eventually

pytestmark = pytest.mark.display

README = (ROOT / "README.md").read_text()

PLURIVERSE = str(Path(sys.executable).with_name("pluriverse"))

# Where the client of OpenEnv in docs/models.md looks for its server.
SERVED = "http://token:xY3…@127.0.0.1:8000"


def test_protocol_shows_the_very_script_that_docs_has() -> None:
    script = (ROOT / "docs/talk.py").read_text()
    blocks = [block.split("```")[0] for block in (ROOT / "docs/protocol.md").read_text().split("```python\n")[1:]]
    assert any(script.endswith(block) for block in blocks)


def test_readmes_links_lead_somewhere() -> None:
    for document in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "bench/README.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            # The site makes this page.
            is_made = target == "environments/index.md"
            assert is_made or (document.parent / target).exists(), f"{document.name} links to {target}"


async def test_make_run_says_how_to_connect_and_ctrl_c_leaves_nothing() -> None:
    leftovers = Leftovers()
    port, vnc_port = free_port(), free_port()
    command = ["make", "run", f"VNC_PORT={vnc_port}", f"REWARDER_PORT={port}", "ENV=gym-core.BreakoutDeterministic-v3"]
    with started(command) as (process, said):
        password = find(r"password +(\S+)", said)
        assert f"http://127.0.0.1:{port}/viewer/?password={password}" in said
        async with connected(port, password) as agent:
            described = await agent.hear_method("v0.env.describe", env_state="running")
            assert described["body"]["env_id"] == "gym-core.BreakoutDeterministic-v3"
            with RfbClient("127.0.0.1", vnc_port, password) as screen:
                assert screen.update()
            os.killpg(process.pid, signal.SIGINT)
            assert await agent.hear_end() == 1000
        process.wait(60)
    leftovers.assert_none()


def test_script_resets_to_another_game_and_prints_what_it_hears() -> None:
    with on_machine() as remote:
        command = [sys.executable, "-u", "docs/talk.py", remote.password, f"ws://127.0.0.1:{remote.port}"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert any("BreakoutDeterministic" in line and "running" in line for line in process.stdout)
            process.terminate()


@pytest.mark.container
def test_make_up_starts_remotes_and_make_down_removes_them() -> None:
    project = f"pluriverse-test-{os.getpid()}"
    environment = {**os.environ, "COMPOSE_PROJECT_NAME": project, "PLURIVERSE_PASSWORD": "composed"}
    compose = ["docker", "compose", "--project-name", project]
    up = [*compose, "up", "--detach", "--wait", "--scale", "remote=2"]
    try:
        subprocess.run(up, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=120)
        listed = subprocess.run(
            [*compose, "ps", "--format", "json"], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        ).stdout
        ports = re.findall(r'"PublishedPort":\s*(159\d\d)', listed)
        assert len(set(ports)) == 2
        assert listed.count('"Health":"healthy"') == 2
        configured = subprocess.run([*compose, "config"], cwd=ROOT, env=environment, check=True, capture_output=True)
        assert re.search(
            rb"logging:\s+driver: json-file\s+options:\s+max-file: \"3\"\s+max-size: 10m", configured.stdout
        )
    finally:
        subprocess.run([*compose, "down", "--timeout", "5"], cwd=ROOT, env=environment, check=True, capture_output=True)
    left = subprocess.run(
        [*compose, "ps", "--all", "--quiet"], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    assert left.stdout == ""


async def test_runtime_of_the_documentation_runs_as_it_stands(tmp_path: Path) -> None:
    text = (ROOT / "docs/runtimes.md").read_text()
    example = text.split("<!-- begin example -->")[1].split("<!-- end example -->")[0]
    for language, name in (("python", "game.py"), ("toml", "runtime.toml")):
        (tmp_path / name).write_text(example.split(f"```{language}\n")[1].split("```")[0])
    port = free_port()
    command = [sys.executable, "-m", "pluriverse_server", "run", str(tmp_path), "--password", "guess"]
    with started([*command, "--vnc-port", str(free_port()), "--rewarder-port", str(port)]):
        async with connected(port, "guess") as agent:
            await agent.reset("guess.Parity-v0", seed=4, leaving="999999")
            last = await agent.hear_method("v0.env.reward", done=True, reward=1.0)
            assert last["body"]["info"]["reason"] == "guessed"
            await eventually(lambda: "v0.env.text" in agent.methods())


def samples() -> list[Any]:
    """Every agent that the documents show, by document and place; of fleets' those that need no cluster."""
    return [
        pytest.param(sample, id=f"{document}-{number}", marks=[] if document == "README.md" else pytest.mark.slow)
        for document in ("README.md", "docs/agents.md", "docs/fleet.md", "docs/interfaces.md", "docs/time.md")
        for number, sample in enumerate(re.findall(r"(?s)```python\n(.*?)```", (ROOT / document).read_text()))
        if ("pluriverse.remotes import" if document == "docs/fleet.md" else "pluriverse") in sample
    ]


# The README's agent plays for ever, on as many remotes as there are, and fleets are large; a test has less time.
FEWER = {
    "while True:": "for _ in range(200):",
    "remotes=4": "remotes='local:2'",
}


@pytest.mark.parametrize("source", samples())
def test_sample_agents_play(source: str, tmp_path: Path) -> None:
    for shown, here in FEWER.items():
        source = source.replace(shown, here)
    agent = tmp_path / "agent.py"
    agent.write_text(source)
    leftovers = Leftovers()
    subprocess.run([sys.executable, agent], cwd=ROOT, check=True, timeout=120, capture_output=True, text=True)
    leftovers.assert_none()


@pytest.mark.slow
def test_client_of_openenv_plays_what_is_served() -> None:
    models = (ROOT / "docs/models.md").read_text()
    (sample,) = (block.split("```")[0] for block in models.split("```python\n")[1:] if SERVED in block)
    (command,) = re.findall(r"\$ pluriverse (openenv .*) --remotes", models)
    where, token = f"127.0.0.1:{free_port()}", "let-me-in-to-play"
    environment = {**os.environ, "PLURIVERSE_TOKEN": token}
    with started([PLURIVERSE, *command.split(), "--remotes", "local:1", "--http", where], environment):
        sample = sample.replace(SERVED, f"http://token:{token}@{where}").replace(
            "while not result.done", "for _ in range(3)"
        )
        played = subprocess.run(
            [sys.executable, "-c", f"{sample}\nprint(picture.shape)"],
            check=True,
            timeout=120,
            capture_output=True,
            text=True,
        )
    assert played.stdout == "(210, 160, 3)\n"


async def test_readmes_configuration_lets_a_model_play() -> None:
    leftovers = Leftovers()
    (block,) = re.findall(r"(?s)```json\n(.*?)```", README)
    configured = json.loads(block)["mcpServers"]["pluriverse"]
    assert configured["command"] == Path(PLURIVERSE).name
    parameters = StdioServerParameters(command=PLURIVERSE, args=[*configured["args"], "--remotes", "local:1"])
    async with Client(stdio_client(parameters)) as client:
        begun: Any = await client.call_tool("begin_episode", {"environment": "gym-core.PongNoFrameskip-v3"})
        handle = begun.structured_content["handle"]
        acted: Any = await client.call_tool("press_keys", {"handle": handle, "keys": "Up"})
        assert not acted.is_error, acted.content
    leftovers.assert_none(60)


@pytest.mark.slow
def test_make_run_with_an_agent_prints_what_it_measures_and_ctrl_c_ends_both() -> None:
    leftovers = Leftovers()
    command = ["make", "run", "AGENT=random", f"VNC_PORT={free_port()}", f"REWARDER_PORT={free_port()}"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    assert process.stdout is not None
    heard = ""
    for line in process.stdout:
        heard += line
        if "steps/s" in line and "1/1 remotes" in line:
            break
    assert "observation lag" in heard, heard
    os.killpg(process.pid, signal.SIGINT)
    process.stdout.close()
    process.wait(60)
    leftovers.assert_none()
