"""The command, as people type it: in a process of its own, with real signals and exit statuses."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest
from pluriverse_protocol.child_process import dying_with_parent
from pluriverse_protocol.reports import Frame, Reward
from pluriverse_server.console.cli import app
from support.agent import connected
from support.leftovers import Leftovers
from support.ports import free_port
from support.remotes import ROOT
from support.toy import Process, Toy
from support.waiting import DEADLINE_S, eventually
from typer.testing import CliRunner, Result

pytestmark = pytest.mark.display

COMMAND = (sys.executable, "-m", "pluriverse_server")
# Longer than any time limit that the remote of a test has.
PAUSE_S = 4.0
GYM_CORE = ROOT / "runtimes" / "gym-core"


async def finished(*arguments: str) -> tuple[int, str, str]:
    """Run the command to its end: exit status, standard output, standard error."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "COLUMNS": "120", "NO_COLOR": "1"},
    )
    output, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return process.returncode, output.decode(), errors.decode()


@contextlib.asynccontextmanager
async def running(*arguments: str, stdin: int | None = None) -> AsyncGenerator[asyncio.subprocess.Process]:
    command = dying_with_parent([*COMMAND, *arguments], signal.SIGTERM)
    process = await asyncio.create_subprocess_exec(
        *command, stdin=stdin, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.communicate()


async def output_until(process: asyncio.subprocess.Process, words: str) -> str:
    """The output up to the line that has ``words``."""
    assert process.stdout is not None
    text = ""
    async with asyncio.timeout(60):
        while words not in text:
            line = await process.stdout.readline()
            assert line, f"ended before it said {words!r}: {text}"
            text += line.decode()
    return text


def invoked(*arguments: str) -> Result:
    """A command that ends by itself and keeps no secret, in this process."""
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "120", "NO_COLOR": "1"})


def test_validate_counts_environments_warns_and_names_mistakes(tmp_path: Path) -> None:
    valid = invoked("validate", str(GYM_CORE))
    assert valid.exit_code == 0
    assert re.search(r"valid: runtime gym-core \d+\.\d+\.\d+, \d{4} environments", valid.output)
    invoked("init", "my-game", "--directory", str(tmp_path))
    manifest = tmp_path / "runtime.toml"
    text = re.sub(r"^(min|max_jump) = .*$", "", manifest.read_text(), flags=re.MULTILINE)
    for fps, status, told in (("30", 0, "warning: sources.score: "), ('"fast"', 2, "runtime.fps: ")):
        manifest.write_text(text.replace("fps = 30", f"fps = {fps}"))
        checked = invoked("validate", str(tmp_path))
        assert (checked.exit_code, told in checked.stderr) == (status, True), checked.stderr


async def test_init_writes_what_can_be_tried(tmp_path: Path) -> None:
    game = tmp_path / "game"
    assert f"next: pluriverse-server try {game}" in invoked("init", "my-game", "--directory", str(game)).output
    port = free_port()
    options = ("--vnc-port", str(free_port()), "--rewarder-port", str(port), "--password", "sesame")
    async with running("try", str(game), "my-game.Catch-v0", *options) as process:
        said = await output_until(process, "Ctrl-C")
    assert f"http://127.0.0.1:{port}/viewer/?password=sesame&readings=1&control=1" in said


async def test_recording_is_ended_with_ctrl_c_then_labelled_and_scored(tmp_path: Path) -> None:
    leftovers = Leftovers()
    game, recording = tmp_path / "game", tmp_path / "game" / "recordings" / "1.plrec"
    invoked("init", "my-game", "--directory", str(game))
    ports = ("--vnc-port", str(free_port()), "--rewarder-port", str(free_port()))
    async with running("record", str(game), "--agent", "random", *ports) as process:
        await output_until(process, "Ctrl-C")
        await eventually(lambda: Path(f"{recording}.partial").exists())
        process.send_signal(signal.SIGINT)
        said = await output_until(process, "next:")
        assert await process.wait() == 0
    assert re.search(rf"recorded {recording}: \d+\.\d s, \d+\.\d MB; next: pluriverse-server label {recording}", said)
    async with running("label", str(recording)) as process:
        said = await output_until(process, "Ctrl-C")
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", said)
        assert found
        empty: dict[str, object] = {"recording": "1.plrec", "episodes": [], "sources": {}, "rewards": []}
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{found[0]}recording") as answer:
                assert (await answer.json())["earned"] == [{"source": "score", "scale": 1.0, "begins": None}]
            async with session.put(f"{found[0]}labels", json=empty) as answer:
                assert answer.status == 204
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 0
    scored = await asyncio.to_thread(invoked, "score", str(game), "--no-write")
    assert scored.exit_code in (0, 1), scored.stderr
    assert "1.plrec" in scored.output
    leftovers.assert_none()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["label", "{}/none.plrec"], "none.plrec: No such file or directory"),
        (["score", "{}"], "there are no recordings in"),
        (
            ["learn", "{}", "score", "other.Env-v0"],
            "unknown environment 'other.Env-v0'; runtime my-game has 1, such as my-game.Catch-v0",
        ),
    ],
)
def test_what_an_author_forgot_is_told_with_what_mends_it(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    invoked("init", "my-game", "--directory", str(tmp_path / "game"))
    refused = invoked(*(word.format(tmp_path / "game") for word in arguments))
    assert (refused.exit_code, complaint in refused.stderr) == (2, True), refused.stderr


def test_envs_lists_an_id_a_line_or_all_that_is_known_as_json() -> None:
    ids = invoked("envs", str(GYM_CORE)).stdout.split()
    assert "gym-core.PongDeterministic-v3" in ids
    entries = json.loads(invoked("envs", "--json", str(GYM_CORE)).stdout)
    assert [entry["id"] for entry in entries] == ids
    assert entries[0]["clocks"] == ["realtime", "lockstep"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ([], "runtime.toml: no such file"),
        (["--vnc-port", "7000", "--rewarder-port", "7000"], "both 7000"),
        (["--tokens", "/nowhere/tokens"], "the tokens in /nowhere/tokens: they can't be read"),
        (["--audit", "/nowhere/audit"], "the audit log /nowhere/audit can't be written"),
    ],
)
async def test_what_cannot_be_run_is_refused_before_anything_starts(
    tmp_path: Path, options: list[str], complaint: str
) -> None:
    status, _, errors = await finished("run", str(GYM_CORE if options else tmp_path / "nothing"), *options)
    assert (status, complaint in errors) == (2, True), errors


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
async def test_signal_ends_it_in_good_order_and_leaves_nothing(tmp_path: Path, signum: signal.Signals) -> None:
    leftovers = Leftovers()
    toy = await Toy.make(tmp_path)
    port, vnc_port = free_port(), free_port()
    async with running("run", str(tmp_path), "--vnc-port", str(vnc_port), "--rewarder-port", str(port)) as process:
        said = await output_until(process, "Ctrl-C")
        found = re.search(r"password +(\S+)", said)
        assert found
        password = found[1]
        assert len(password) == 8
        assert f"vnc://127.0.0.1:{vnc_port}" in said
        assert f"http://127.0.0.1:{port}/viewer/?password={password}" in said
        async with connected(port, password) as agent:
            await agent.assert_alive()
            process.send_signal(signum)
            assert await agent.hear_end() == 1000
        assert await asyncio.wait_for(process.wait(), 60) == 0
    await toy.close()
    leftovers.assert_none()


async def test_sigterm_lets_the_episode_end_and_a_second_one_does_not(tmp_path: Path) -> None:
    toy = await Toy.make(tmp_path)
    (tmp_path / "tokens").write_text("agent robot robots-token\n")
    port = free_port()
    files = ("--tokens", str(tmp_path / "tokens"), "--audit", str(tmp_path / "audit"))
    ports = ("--vnc-port", str(free_port()), "--rewarder-port", str(port))
    async with running("run", str(tmp_path), *ports, *files, "--drain-s", "60") as process:
        said = await output_until(process, "Ctrl-C")
        assert "password" not in said
        await (await toy.process()).begin()
        async with connected(port, "robots-token") as agent, aiohttp.ClientSession() as session:
            # Only an episode that the daemon knows of, of an agent whose connection has a session, is let end.
            await agent.hear_method("v0.env.describe", env_state="running")
            await agent.assert_alive()
            process.send_signal(signal.SIGTERM)
            await output_until(process, "draining")
            async with session.get(f"http://127.0.0.1:{port}/readyz") as response:
                assert (response.status, (await response.json())["phase"]) == (503, "draining")
            await agent.assert_alive()
            process.send_signal(signal.SIGTERM)
            assert await agent.hear_end() == 1000
        assert await asyncio.wait_for(process.wait(), 60) == 0
    assert json.loads((tmp_path / "audit").read_text())["who"] == {"role": "agent", "name": "robot"}
    await toy.close()


@pytest.mark.slow
async def test_end_of_its_input_ends_it_if_it_was_told_so(tmp_path: Path) -> None:
    toy = await Toy.make(tmp_path)
    ports = ("--vnc-port", str(free_port()), "--rewarder-port", str(free_port()))
    options = ("run", str(tmp_path), *ports, "--until-input-ends")
    async with running(*options, stdin=asyncio.subprocess.PIPE) as process:
        await output_until(process, "Ctrl-C")
        assert process.stdin is not None
        process.stdin.write(b"what is written is ignored\n")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(process.wait(), 0.5)
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), 60) == 0
    async with running(*options, stdin=asyncio.subprocess.DEVNULL) as process:
        await output_until(process, "expected a pipe")
        assert await asyncio.wait_for(process.wait(), 60) == 2
    await toy.close()


async def test_program_that_keeps_dying_is_told_with_how_and_exits_non_zero(tmp_path: Path) -> None:
    toy = await Toy.make(tmp_path)
    (tmp_path / "program.py").write_text("import sys; print('no game here'); sys.exit(3)")
    ports = ("--vnc-port", str(free_port()), "--rewarder-port", str(free_port()))
    status, _, errors = await finished("run", str(tmp_path), *ports)
    await toy.close()
    assert status == 1
    assert "giving up" in errors
    assert "program exit status 3" in errors
    assert "no game here" in errors


@pytest.mark.parametrize(
    "whole", [pytest.param(True, id="with its program"), pytest.param(False, id="alone", marks=pytest.mark.slow)]
)
async def test_paused_remote_resumes_its_episode_where_it_was(tmp_path: Path, whole: bool) -> None:
    toy = await Toy.make(tmp_path, frozen_after_s=1.0)
    port = free_port()
    arguments = ("run", str(tmp_path), "--vnc-port", str(free_port()), "--rewarder-port", str(port))
    async with running(*arguments, "--password", "sesame") as process:
        await output_until(process, "Ctrl-C")
        program = await toy.process()
        episode = (await program.begin()).episode
        daemon = psutil.Process(process.pid)
        paused = [daemon, *(daemon.children(recursive=True) if whole else [])]
        async with connected(port, "sesame") as agent:
            await agent.assert_alive()
            drawing = asyncio.create_task(draw(program, episode))
            for one in paused:
                one.suspend()
            if whole:
                drawing.cancel()
            await asyncio.sleep(PAUSE_S)
            for one in paused:
                one.resume()
            if whole:
                drawing = asyncio.create_task(draw(program, episode))
            await agent.assert_alive()
            # Long enough for everybody who was thought to have stopped.
            await asyncio.sleep(1.0)
            program.report(Reward(episode, 28.0))
            await agent.hear_method("v0.env.reward", reward=28.0, done=False)
            assert not any(message["body"].get("done") for message in agent.heard)
            drawing.cancel()
    await toy.close()


async def draw(program: Process, episode: int) -> None:
    """Report a frame twenty times a second, until cancelled."""
    frames = 0
    while True:
        frames += 1
        program.report(Frame(episode, frames, 0))
        await asyncio.sleep(0.05)


def test_the_remote_of_a_test_that_is_killed_ends() -> None:
    script = "from support.remotes import on_machine as on\nwith on() as it: print(it.process.pid, flush=True); input()"
    environment = {**os.environ, "PYTHONPATH": os.fspath(ROOT / "tests")}
    command = [sys.executable, "-c", script]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": environment}
    with subprocess.Popen(command, **pipes) as killed:
        assert killed.stdout is not None
        remote = psutil.Process(int(killed.stdout.readline()))
        killed.kill()
        remote.wait(DEADLINE_S)
