"""docker-compose.yml as compose reads it, with the file beside it. No engine is asked."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.manifests import ROOT

pytestmark = pytest.mark.container


def services(*files: str, **variables: str) -> dict[str, Any]:
    """The services of these files, or of those that compose looks for, with these variables and none else of ours."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(("PLURIVERSE_", "GRACE"))}
    command = ["docker", "compose", *(f"--file={file}" for file in files), "config", "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, env={**others, **variables}, check=True, capture_output=True, timeout=60)
    return json.loads(done.stdout)["services"]


def configured(**variables: str) -> dict[str, Any]:
    """The remote's service, with these variables and none else of ours."""
    return services(**variables)["remote"]


def seconds(duration: str) -> int:
    """A duration as Go writes it."""
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", duration)
    assert match is not None, duration
    hours, minutes, rest = (int(each or 0) for each in match.groups())
    return 3600 * hours + 60 * minutes + rest


def test_remote_is_given_longer_to_end_than_its_episode() -> None:
    remote = configured()
    assert seconds(remote["stop_grace_period"]) >= int(remote["environment"]["PLURIVERSE_DRAIN_S"]) + 10
    longer = configured(PLURIVERSE_DRAIN_S="300", GRACE="310s")
    assert (longer["environment"]["PLURIVERSE_DRAIN_S"], seconds(longer["stop_grace_period"])) == ("300", 310)


def test_tokens_are_passed_on_line_by_line() -> None:
    tokens = "agent trainer Ieth7aepaeyahsh4\nobserver wall aeW3ooteiz6Shoo0\n"
    assert configured(PLURIVERSE_TOKENS=tokens)["environment"]["PLURIVERSE_TOKENS"] == tokens


def test_file_with_tokens_is_mounted_where_the_remote_looks_for_it(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("agent trainer Ieth7aepaeyahsh4\n")
    remote = configured(PLURIVERSE_TOKENS_FILE=str(tmp_path / "tokens"))
    (mounted,) = (each for each in remote["volumes"] if each["type"] == "bind")
    assert (mounted["source"], mounted["read_only"]) == (str(tmp_path / "tokens"), True)
    assert remote["environment"]["PLURIVERSE_TOKENS_FILE"] == mounted["target"]
    assert not configured()["environment"]["PLURIVERSE_TOKENS_FILE"]


def test_swarm_takes_the_compose_file_as_it_is() -> None:
    command = ["docker", "stack", "config", "--compose-file", "docker-compose.yml"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60)
    remote = yaml.safe_load(done.stdout)["services"]["remote"]
    assert [(port["target"], port["mode"]) for port in remote["ports"]] == [(5900, "host"), (15900, "host")]


def test_caddy_alone_has_ports_where_it_is_before_the_remotes() -> None:
    found = services("docker-compose.yml", "examples/caddy/compose.yml", N="2")
    assert not found["remote"].get("ports")
    (mounted,) = (each for each in found["caddy"]["volumes"] if each["type"] == "bind")
    sites = re.findall(
        r"\{\$DOMAIN:localhost\}:(\d+) \{\n\treverse_proxy pluriverse-remote-(\d):15900\n\}",
        Path(mounted["source"]).read_text(),
    )
    assert [number for _, number in sites] == ["1", "2"]
    assert {port for port, _ in sites} <= {each["published"] for each in found["caddy"]["ports"]}
