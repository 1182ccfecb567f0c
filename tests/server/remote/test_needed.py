"""What a runtime needs of its machine: told all at once, with the command that installs it."""

from pathlib import Path

import pytest
from pluriverse_server.manifest.runtime import ManifestError, load
from pluriverse_server.process import StartError
from pluriverse_server.remote.needed import require_installed

ROOT = Path(__file__).parents[3]

MANIFEST = """
games = "games"
[runtime]
id = "many"
version = "0.1.0"
title = "Many games"
default_env = "many.First-v0"
"""

GAME = """
[env]
id = "many.{name}-v0"
[program]
command = [{command}]
[reset]
by = "restart"
[sources.score]
from = "log"
file = "log"
pattern = 'score'
[[rewards]]
source = "score"
give = "change"
"""


@pytest.fixture
def doom(tmp_path: Path) -> Path:
    folder = tmp_path / "doom"
    folder.mkdir()
    for name in ("runtime.toml", "pyproject.toml"):
        (folder / name).write_text((ROOT / "runtimes" / "doom" / name).read_text())
    return folder


def refusal(folder: Path, env_id: str = "") -> str:
    with pytest.raises(StartError) as refused:
        require_installed(folder, load(folder), env_id, "xvfb")
    return str(refused.value)


def test_all_that_is_missing_is_told_at_once_with_one_command(doom: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_installed(doom, load(doom), "", "xvfb")
    (doom / "pyproject.toml").write_text(
        '[project]\ndependencies = ["numpy>=2", "no-such-doom >=1.3", "elsewhere; sys_platform == \'x\'"]\n'
    )
    (doom / "debian.txt").write_text("# fonts\n/no/font.ttf:fonts-none\nno-such-compiler:compiler build\n")
    assert refusal(doom) == (
        "doom has missing dependencies (font.ttf, no-such-doom); install it with: "
        "apt-get install fonts-none && pip install 'no-such-doom >=1.3'"
    )
    monkeypatch.setenv("PATH", "/nowhere")
    assert "apt-get install fonts-none tigervnc-scraping-server util-linux xvfb && pip" in refusal(doom)


def test_another_games_program_is_not_needed(tmp_path: Path) -> None:
    (tmp_path / "runtime.toml").write_text(MANIFEST)
    (tmp_path / "games").mkdir()
    for name, command in (("First", '"/no/first", "--quiet"'), ("Second", '"sh", "-c", "exec /no/second"')):
        (tmp_path / "games" / f"{name}.toml").write_text(GAME.format(name=name, command=command))
    (tmp_path / "debian.txt").write_text("/no/first:first\n/no/second:the-second\n/no/library.so:library\n")
    assert refusal(tmp_path, "many.First-v0").endswith("apt-get install first library")
    assert refusal(tmp_path, "many.Second-v0").endswith("apt-get install library the-second")


def test_a_pyproject_that_is_no_toml_is_named(doom: Path) -> None:
    (doom / "pyproject.toml").write_text("[project\n")
    with pytest.raises(ManifestError, match=r"pyproject\.toml: "):
        require_installed(doom, load(doom), "", "xvfb")
