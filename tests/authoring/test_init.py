"""The runtime that ``init`` writes, run for real: nothing of it reports, all that agents get is read."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pluriverse_authoring import AuthoringError
from pluriverse_authoring.init import init
from pluriverse_authoring.validate import validate
from support.agent import Message
from support.in_process import playing
from support.leftovers import Leftovers
from support.waiting import eventually

pytestmark = pytest.mark.display


def earned(message: Message) -> float:
    return message["body"]["reward"]


def test_what_it_writes_is_valid_and_named(tmp_path: Path) -> None:
    files = init("my-game", tmp_path / "my-game")
    assert {str(path.relative_to(tmp_path / "my-game")) for path in files} == {
        ".github/workflows/test.yml",
        ".gitignore",
        "README.md",
        "debian.txt",
        "game.py",
        "glyphs/digits.png",
        "pyproject.toml",
        "runtime.toml",
        "test_runtime.py",
    }
    found = validate(tmp_path / "my-game")
    assert (found.mistakes, found.warnings) == ([], [])
    assert list(found.catalogue) == ["my-game.Catch-v0"]
    assert not any(re.search("@[A-Z]+@", path.read_text()) for path in files if path.suffix != ".png")


def test_it_is_a_package_that_servers_find_by_its_id(tmp_path: Path) -> None:
    init("my-game", tmp_path / "my-game")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=tmp_path / "my-game", check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert "pluriverse_runtime_my_game/runtime.toml" in packed.namelist()
        points = packed.read("pluriverse_runtime_my_game-0.1.0.dist-info/entry_points.txt").decode()
    assert points == "[pluriverse.runtimes]\nmy-game = pluriverse_runtime_my_game\n"


@pytest.mark.slow
def test_its_test_passes_and_says_what_is_wrong(tmp_path: Path) -> None:
    init("my-game", tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "test_runtime.py")]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "1 passed, 1 skipped" in said.stdout, said.stdout
    manifest = tmp_path / "runtime.toml"
    manifest.write_text(manifest.read_text().replace("fps = 30", 'fps = "30"'))
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "runtime.fps: " in said.stdout, said.stdout


def test_its_check_by_git_hosts_installs_the_packages_of_debian_txt(tmp_path: Path) -> None:
    init("my-game", tmp_path)
    workflow = (tmp_path / ".github" / "workflows" / "test.yml").read_text()
    packages = re.search(r"\$\((sed .*debian.txt)\)", workflow)
    assert packages is not None
    assert subprocess.check_output(packages[1], shell=True, cwd=tmp_path) == b""  # noqa: S602 - our own
    with (tmp_path / "debian.txt").open("a") as file:
        file.write("/usr/games/greed:greed\nmake:make build\n")
    assert subprocess.check_output(packages[1], shell=True, cwd=tmp_path) == b"greed\nmake\n"  # noqa: S602 - our own


def test_a_folder_with_anything_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text("mine")
    with pytest.raises(AuthoringError, match="is not empty"):
        init("my-game", tmp_path)
    assert (tmp_path / "game.py").read_text() == "mine"


async def test_an_agent_gets_rewards_and_ends_that_were_read_from_the_screen(tmp_path: Path) -> None:
    leftovers = Leftovers()
    init("my-game", tmp_path / "my-game")
    async with playing(tmp_path / "my-game") as (remote, agent):
        # Whoever stands still catches one in five: some within seconds, and three lives are gone as soon.
        heard = [await agent.hear_method("v0.env.reward")]
        while not (any(earned(message) > 0 for message in heard) and heard[-1]["body"]["done"]):
            heard.append(await agent.hear_method("v0.env.reward"))
        assert heard[-1]["body"]["info"]["reason"] == "no lives left"
        assert heard[-1]["body"]["terminated"]
        assert all(earned(message) in (0, 1) for message in heard)
        await eventually(lambda: set(remote.status()["readings"]) == {"score", "lives", "title"})
        shown = remote.status()
        assert shown["readings"]["score"]["region"] == [8, 8, 72, 20]
        assert [given["reason"] for given in shown["rewards"] if given["done"]][-1] == "no lives left"
    leftovers.assert_none()
