"""Folders of OpenEnv environments: OpenEnv's validator passes them, and they serve."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import httpx
import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.serving.openenv_folder import write
from support.ports import free_port
from support.remotes import started

VALIDATOR = str(Path(sys.executable).with_name("openenv"))
PONG = "gym-core.PongNoFrameskip-v3"
DEADLINE_S = 60

# The port of its own may be taken.
SERVE = "import sys; from server.app import main; print('Ctrl-C', flush=True); main(port=int(sys.argv[1]))"


@pytest.mark.parametrize("env_id", [PONG, "doom.Basic-v0", "world-of-bits.ClickTest-v0"])
def test_openenvs_validator_passes_the_folder(tmp_path: Path, env_id: str) -> None:
    folder = tmp_path / "environment"
    assert all(path.exists() for path in write(folder, env_id, "local:1", "lockstep"))
    # What ``uv lock`` makes needs the registry.
    (folder / "uv.lock").write_text("version = 1\n")
    validated = subprocess.run([VALIDATOR, "validate", str(folder)], capture_output=True, text=True, timeout=DEADLINE_S)
    assert "[OK]" in validated.stdout, validated.stdout + validated.stderr


def test_what_is_written_serves_the_environment_to_who_has_the_token(tmp_path: Path) -> None:
    folder, port = tmp_path / "environment", free_port()
    write(folder, "gym-core.CartPole-v0", "local:1", "lockstep")
    command = ["env", "--chdir", str(folder), sys.executable, "-c", SERVE, str(port)]
    with started(command) as (_, said):
        assert httpx.get(f"http://127.0.0.1:{port}/metadata").status_code == 401
        url = f"http://token:{said.split()[1]}@127.0.0.1:{port}"
        validated = subprocess.run(
            [VALIDATOR, "validate", "--url", url], capture_output=True, text=True, timeout=DEADLINE_S
        )
    assert validated.returncode == 0, validated.stdout + validated.stderr


def test_the_package_is_of_the_environment(tmp_path: Path) -> None:
    write(tmp_path, PONG, "docker:2", "realtime")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert project["name"] == "gym-core-pongnoframeskip-v3"
    assert "'docker:2'" in (tmp_path / "server/app.py").read_text()


def test_a_folder_that_has_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(ConfigurationError, match="is not empty"):
        write(tmp_path, PONG, "1", "lockstep")
    with pytest.raises(ConfigurationError, match="thesis"):
        write(tmp_path / "thesis.tex", PONG, "1", "lockstep")


@pytest.mark.parametrize(("remotes", "clock"), [("0", "lockstep"), ("1", "slow")])
def test_what_could_not_be_served_is_refused(tmp_path: Path, remotes: str, clock: str) -> None:
    with pytest.raises(ConfigurationError):
        write(tmp_path / "environment", PONG, remotes, clock)


def test_no_password_of_remotes_is_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="PLURIVERSE_PASSWORD") as refused:
        write(tmp_path, PONG, "vnc://127.0.0.1:5900+15900?password=secret12", "realtime")
    assert "secret12" not in str(refused.value)
    assert not list(tmp_path.iterdir())
    write(tmp_path, PONG, "vnc://127.0.0.1:5900+15900", "realtime")
