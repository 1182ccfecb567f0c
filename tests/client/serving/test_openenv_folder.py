"""The folder of a container for OpenEnv, by OpenEnv's own validator; by day the container itself is a process here."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import docker
import pytest
from support.later import Later
from support.ports import free_port
from support.remotes import ROOT, published, started, wait_for_greeting

pytestmark = [
    pytest.mark.display,
    pytest.mark.timeout(300),  # it starts several remotes
    pytest.mark.filterwarnings("ignore::DeprecationWarning:openenv"),
]

openenv: Any = Later("openenv.validation")
collector: Any = Later("openenv.validation.runtime.collector")
contracts: Any = Later("openenv.validation.runtime.contracts")

PLURIVERSE = str(Path(sys.executable).with_name("pluriverse"))
FOUR_ROOMS = "gym-core.MiniGrid-FourRooms-v0"

# One of each kind of program: a game of ours, a page, one that is scraped.
KINDS = [
    pytest.param(FOUR_ROOMS),
    pytest.param("wob.mini.Click*", marks=[pytest.mark.slow, pytest.mark.browser]),
    pytest.param("desktop.Vitetris-v0", marks=pytest.mark.slow),
]

DEADLINE_S = 300.0


def write(env: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [PLURIVERSE, "openenv", env, "--remotes", "local:2", "--clock", "lockstep", "--write", str(folder), *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S)


@contextlib.contextmanager
def served(folder: Path) -> Generator[str]:
    port = free_port()
    with started([sys.executable, str(folder / "server/app.py")], {**os.environ, "PORT": str(port)}):
        yield f"http://127.0.0.1:{port}"


class Here:
    """A provider of OpenEnv's validator that runs the folder's server beside it."""

    name = "here"
    capabilities: frozenset[Any]
    supported_network_modes = frozenset({"public"})

    def __init__(self) -> None:
        self.capabilities = frozenset({Later("openenv.validation.types").ProviderCapability.IMAGE_BUILD})
        self.base_url = ""
        self._running = contextlib.ExitStack()
        self._folder = Path()

    def build(self, root: Path, execution: Any) -> str:
        assert (root / execution.dockerfile).exists()
        self._folder = root
        return "sha256:" + 64 * "0"

    def start(self, spec: Any) -> "Here":
        del spec
        self.base_url = self._running.enter_context(served(self._folder))
        return self

    def inspect(self) -> dict[str, Any]:
        return {}

    def stop(self) -> None:
        self._running.close()


@pytest.mark.parametrize("env", KINDS)
def test_openenvs_validator_passes_all_that_it_checks(env: str, tmp_path: Path) -> None:
    folder = tmp_path / "an_env"
    assert write(env, folder).returncode == 0
    report = openenv.run_validation(folder, max_level=openenv.Level.STATIC)
    assert report.verdict.value == "pass", report
    report = openenv.run_validation(folder, max_level=openenv.Level.SEMANTIC, provider=Here())
    outcomes = {result.check_id: result for result in report.results}
    # The others of its policy aren't written yet, and are skipped; so it only warns.
    for check in ("startup", "reward_well_formed", "observation_schema", "state_contract"):
        assert outcomes[f"runtime.{check}"].status.value == "pass", outcomes[f"runtime.{check}"]
    assert {result.status.value for result in report.results} == {"pass", "skip"}
    assert report.verdict.value == "warn"


def episode(address: str, seed: int) -> Sequence[str]:
    """What an episode was answered, told by OpenEnv's collector."""
    click = {"computer": {"name": "click", "arguments": {"x": 40, "y": 90}}}
    actions = [click, {"computer": {"name": "press_keys", "arguments": {"keys": "Up", "seconds": 0.5}}}] * 3
    plan = contracts.RuntimePlan(
        plan_schema_version="1", reset=contracts.RuntimeReset(episode_id="one", seed=seed), actions=actions
    )
    evidence = collector.collect_runtime_evidence(address, plan, episode_timeout_s=DEADLINE_S)
    assert evidence.failure_reason is None, evidence
    return [exchange.response_json for exchange in evidence.exchanges]


@pytest.mark.parametrize("env", KINDS)
def test_what_its_policy_wants_of_seeds_and_episodes_holds(env: str, tmp_path: Path) -> None:
    """Seed control, determinism, isolation and replayability, of which OpenEnv has the names alone."""
    folder = tmp_path / "an_env"
    write(env, folder)
    with served(folder) as address, Later("openenv.core").GenericEnvClient(base_url=address).sync() as other:
        first = episode(address, 7)
        # Another session, on the other remote, is amid its own episode, and has left its traces.
        other.reset(seed=3)
        other.step({"computer": {"name": "type_text", "arguments": {"text": "hello"}}})
        assert episode(address, 7) == first
        assert episode(address, 8) != first


@pytest.mark.nightly
@pytest.mark.container
@pytest.mark.timeout(1800)  # it installs all that OpenEnv asks for
def test_its_container_is_built_and_plays(tmp_path: Path) -> None:
    folder = tmp_path / "an_env"
    write(FOUR_ROOMS, folder)
    # What it asks for may not be published yet.
    subprocess.run([ROOT / ".venv/bin/uv", "build", "-q", ROOT / "client", "--out-dir", folder / "dist"], check=True)
    dockerfile = folder / "Dockerfile"
    dockerfile.write_text(
        dockerfile.read_text().replace("COPY . /env\n", "COPY . /env\nENV PIP_FIND_LINKS=/env/dist\n")
    )
    image = "pluriverse-test-openenv"
    subprocess.run(["docker", "build", "-q", "--network=host", "-t", image, folder], check=True)
    engine = docker.from_env()
    container = engine.containers.run(image, detach=True, publish_all_ports=True)
    try:
        wait_for_greeting(container)
        address = f"http://127.0.0.1:{published(container, 8000)}"
        assert episode(address, 7) == episode(address, 7)
    finally:
        container.remove(force=True, v=True)
        engine.images.remove(image)
        engine.close()


@pytest.mark.parametrize(
    ("env", "name", "said"),
    [
        ("*", "an_env", "a container has one"),
        (FOUR_ROOMS, "an env", "name of Python's"),
        (FOUR_ROOMS, "full", "isn't empty"),
    ],
)
def test_a_folder_that_could_not_serve_is_refused(env: str, name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "full/of").mkdir(parents=True)
    refused = write(env, tmp_path / name)
    assert refused.returncode != 0
    assert said in refused.stderr
