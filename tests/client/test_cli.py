import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import docker
import pytest
from pluriverse import cli
from support.remotes import MachineRemote, started
from support.served import free_port
from support.waiting import until
from typer.testing import CliRunner

pytestmark = pytest.mark.display

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "pluriverse.cli"]


def run(*arguments: str, env: dict[str, str] | None = None, timeout: float = 100) -> subprocess.CompletedProcess[str]:
    merged = {**os.environ, "TERM": "dumb", "NO_COLOR": "1", **(env or {})}
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=merged, timeout=timeout)


def test_random_plays_and_prints_rates_lags_and_rewards(remote: MachineRemote) -> None:
    result = run("random", "-e", "gym-core.PongDeterministic-v3", "-r", remote.address, "--seconds", "3")
    assert result.returncode == 0, result.stderr
    *lines, total = result.stdout.splitlines()
    assert len(lines) >= 2
    for words in ("steps/s", "frames/s", "reward", "observation lag", "action lag", "1/1 remotes"):
        assert words in total
    assert total.startswith("in all 3 s: ")


@pytest.mark.slow
def test_random_ends_in_good_order_at_ctrl_c() -> None:
    command = [*COMMAND, "random", "-r", "local:1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert "steps/s" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=60)
    assert (process.returncode, complained) == (0, "")
    assert "in all" in said


def test_ping_tells_how_far_away_a_remote_is(remote: MachineRemote) -> None:
    result = run("ping", remote.address, "-c", "5")
    assert result.returncode == 0, result.stderr
    for pattern in (
        r"rewarder  gym-core\.\S+ of gym-core, \w+, 60 fps; connected in [\d.]+ ms",
        r"pings     5: min [\d.]+ ms, median [\d.]+ ms, max [\d.]+ ms",
        r"clock     ours is -?[\d.]+ to -?[\d.]+ ms ahead",
        r"screen    1024x768; connected in [\d.]+ ms, first picture after [\d.]+ ms",
    ):
        assert re.search(pattern, result.stdout), result.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (["ping", "nowhere"], 2, "expected vnc://"),
        (["ping", f"vnc://127.0.0.1:{free_port()}+{free_port()}"], 1, "can't be reached"),
        (["random", "-r", "many"], 2, "expected a number"),
        (["random", "-e", "nonsense.Game-v0"], 2, "can be run neither in Docker nor locally"),
        (["envs", "nonsense"], 1, "there is no runtime 'nonsense'"),
        (["run", "nonsense"], 2, "can't be run"),
        (["run", "--engine", "podman"], 2, "expected docker, local or auto"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line_with_a_status(arguments: list[str], status: int, expected: str) -> None:
    result = run(*arguments)
    assert (result.returncode, expected in result.stderr) == (status, True), result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("engine", ["local", "docker"])
def test_run_keeps_the_password_out_of_the_command_line(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def replace_process(_program: str, command: list[str]) -> None:
        commands.append(command)

    def nothing(*_arguments: object) -> None:
        """Where it says why something can't be done: it can."""

    # What takes this process' place would be seen by others from its first moment.
    monkeypatch.setattr(os, "execv", replace_process)
    monkeypatch.setattr(os, "execvp", replace_process)
    monkeypatch.setattr(cli, "_remove_afterwards", nothing)
    monkeypatch.setattr("pluriverse.remotes.docker.why_unavailable", nothing)
    monkeypatch.setattr("shutil.which", str)
    monkeypatch.setenv("PLURIVERSE_PASSWORD", "")
    CliRunner().invoke(cli.app, ["run", "gym-core", "--engine", engine, "--password", "secret12", "--no-status"])
    assert os.environ["PLURIVERSE_PASSWORD"] == "secret12"
    words = " ".join(commands[0])
    assert "secret12" not in words
    assert words.endswith("--no-status")
    assert ("--env PLURIVERSE_PASSWORD" in words) == (engine == "docker")


@pytest.mark.container
def test_container_of_a_command_that_is_killed_is_removed() -> None:
    port = str(free_port())
    ports = ["--vnc-port", str(free_port()), "--rewarder-port", port]
    client = docker.from_env()

    def containers() -> list[str]:
        found = client.containers.list(all=True, ignore_removed=True)
        return [str(each.id) for each in found if port in each.attrs["Args"]]

    with started([*COMMAND, "run", "gym-core", "--engine", "docker", *ports, "--password", "secret12"]) as (process, _):
        assert len(containers()) == 1
        process.kill()
        process.wait()
        until(lambda: not containers())
    client.close()


def test_doctor_has_played_what_it_vouches_for() -> None:
    well = run("doctor", "doom")
    assert well.returncode == 0, well.stdout
    for line in ("VNC driver: seeing and acting", "local remotes", "doom can be played", "the display xvnc"):
        assert f"ok       {line}" in well.stdout


def test_doctor_tells_what_is_missing_with_the_command_that_installs_it(tmp_path: Path) -> None:
    nothing = run("doctor", env={"PATH": "/nonexistent", "DOCKER_HOST": f"unix://{tmp_path}/no.sock"})
    assert nothing.returncode == 1
    assert "missing  Docker with pluriverse/gym-core: the Docker engine doesn't answer" in nothing.stdout
    assert "apt-get install docker.io" in nothing.stdout
    assert "missing  local remotes: " in nothing.stdout
    assert "apt-get install util-linux" in nothing.stdout
    assert "remotes='vnc://HOST:5900+15900?password=…'" in nothing.stdout


@pytest.mark.slow
def test_what_a_runtime_lacks_is_one_line_of_doctor_run_and_make(tmp_path: Path) -> None:
    (tmp_path / "doom").mkdir()
    (tmp_path / "doom" / "runtime.toml").write_text((ROOT / "runtimes" / "doom" / "runtime.toml").read_text())
    (tmp_path / "doom" / "pyproject.toml").write_text('[project]\ndependencies = ["no-such-doom>=1"]\n')
    (tmp_path / "bin").mkdir()
    for program in ("setpriv", "nice"):
        (tmp_path / "bin" / program).symlink_to(f"/usr/bin/{program}")
    lacking = {
        "PLURIVERSE_RUNTIMES": str(tmp_path),
        "PATH": str(tmp_path / "bin"),
        "DOCKER_HOST": f"unix://{tmp_path}/no.sock",
    }
    why = "doom has missing dependencies (Xvfb, X0tigervnc, no-such-doom)"
    fix = "install it with: apt-get install tigervnc-scraping-server xvfb && pip install 'no-such-doom>=1'"
    ill = run("doctor", "doom", env=lacking)
    assert ill.returncode == 1
    assert f"missing  local remotes: {why}" in ill.stdout
    assert fix in ill.stdout
    ran = run("run", "doom", env=lacking)
    assert (ran.returncode, ran.stderr) == (2, f"pluriverse-server: {why}; {fix}\n")
    made = run("random", "-e", "doom.Basic-v0", env=lacking)
    assert (made.returncode, made.stderr) == (2, f"pluriverse: {why}; {fix}\n")


@pytest.mark.slow
def test_doctor_tells_why_a_screen_does_not_start_whose_programs_are_there(tmp_path: Path) -> None:
    for name in ("Xvfb", "Xtigervnc"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho no screens found; exit 1\n")
        program.chmod(0o755)
    ill = run("doctor", env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "DOCKER_HOST": f"unix://{tmp_path}/no.sock"})
    assert ill.returncode == 1
    assert "missing  local remotes: the X server ended at once, exit status 1:\nno screens found" in ill.stdout
    assert "missing  the display xvnc: the X server ended at once" in ill.stdout
