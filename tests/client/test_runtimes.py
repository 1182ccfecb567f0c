import re
import sys
from pathlib import Path

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.runtimes import VARIABLE, local_runtimes, named_environments, runtime_folder, runtime_of
from pluriverse_server.console.options import find_runtime

PONG = "gym-core.PongDeterministic-v3"


def write(folder: Path, text: str = "") -> Path:
    """A runtime of this text, which may be none."""
    folder.mkdir(parents=True)
    (folder / "runtime.toml").write_text(text)
    return folder


def test_runtime_is_what_stands_before_the_dot() -> None:
    assert runtime_of(PONG) == "gym-core"
    assert runtime_of("wob.mini.ClickTest-v0") == "world-of-bits"
    for env_id in ("Pong", ".Pong", "gym-core.", ""):
        with pytest.raises(ConfigurationError, match=r"expected RUNTIME\.NAME"):
            runtime_of(env_id)


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("ALE/Pong-v5", "gym-core.Pong-v3 or"),
        ("CartPole-v1", "gym-core.CartPole-v1 or"),
        ("pluriverse/gym-core.Breakout-v3", "gym-core.Breakout-v3 or"),
        ("click-test", "wob.mini.ClickTest-v0"),
    ],
)
def test_nearest_environments_are_named_for_ids_of_others(wanted: str, meant: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"\(did you mean .*{re.escape(meant)}"):
        runtime_of(wanted)


def test_nearest_runtime_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"no runtime 'gymcore' .*\(did you mean gym-core\?\)"):
        runtime_folder("gymcore")


def test_runtimes_are_those_of_the_checkout_or_of_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert "gym-core" in local_runtimes()
    other = write(tmp_path / "other")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert local_runtimes() == {"other": other}
    assert runtime_folder("other") == other
    with pytest.raises(ConfigurationError, match="export PLURIVERSE_RUNTIMES="):
        runtime_folder("gym-core")


def test_the_variable_names_folders_of_runtimes_and_runtimes_whose_folders_are_called_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = write(tmp_path / "my-repository", '[runtime]\nid = "mine"')
    first = write(tmp_path / "more" / "a", '[runtime]\nid = "same"')
    write(tmp_path / "more" / "b", '[runtime]\nid = "same"')
    broken = write(tmp_path / "more" / "broken", "no TOML")
    monkeypatch.setenv(VARIABLE, f"{repository}:{tmp_path / 'more'}:{tmp_path / 'nowhere'}")
    assert local_runtimes() == {"broken": broken, "mine": repository, "same": first}
    assert runtime_folder("mine") == repository
    with pytest.raises(ConfigurationError, match="there is no runtime 'my-repository'"):
        runtime_folder("my-repository")


def test_installed_runtimes_are_found_behind_those_of_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tmp_path / "site-packages"
    write(packages / "runtime_of_mine", '[runtime]\nid = "mine"')
    named = packages / "runtime_of_mine-1.dist-info"
    named.mkdir()
    (named / "entry_points.txt").write_text("[pluriverse.runtimes]\nmine = runtime_of_mine\n")
    monkeypatch.setattr(sys, "path", [str(packages), *sys.path])
    assert runtime_folder("mine") == packages / "runtime_of_mine"
    assert find_runtime("mine") == packages / "runtime_of_mine"
    folder = write(tmp_path / "mine", '[runtime]\nid = "mine"')
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert runtime_folder("mine") == folder
    assert find_runtime("mine") == Path("mine")


def test_environments_are_named_by_the_manifest_or_the_games_files_but_not_by_what_is_no_id(tmp_path: Path) -> None:
    one = write(tmp_path / "one", '[[envs]]\nid = "one.A-v0"\n[[envs]]\nid = 3\n[[envs]]\nid = "one.B-v0"')
    assert named_environments(one) == {"one.A-v0": "", "one.B-v0": ""}
    many = write(tmp_path / "many", 'games = "games"\n[runtime]\nid = "many"')
    (many / "games").mkdir()
    (many / "games" / "x.toml").write_text('[env]\nid = "many.X-v0"')
    (many / "games" / "y.toml").write_text("env = 1")
    (many / "games" / "z.toml").write_text('tasks = "z.py"')
    (many / "games" / "z.py").write_text("class _Base: ...\nclass Sort(_Base): ...\nclass Merge(_Base): split = 'test'")
    assert named_environments(many) == {"many.X-v0": "", "many.Sort-v0": "train", "many.Merge-v0": "test"}
    (many / "games" / "z.py").write_text("class Sort(")
    assert named_environments(many) == {"many.X-v0": ""}
    page = write(tmp_path / "page", 'tasks = "tasks.py"\n[runtime]\nid = "page"')
    (page / "tasks.py").write_text("class Order: ...")
    assert named_environments(page) == {"page.Order-v0": "train"}
    (page / "more.py").write_text("class Cancel: ...")
    (page / "runtime.toml").write_text('tasks = ["tasks.py", "more.py"]\n[runtime]\nid = "page"')
    assert named_environments(page) == {"page.Order-v0": "train", "page.Cancel-v0": "train"}
    assert named_environments(write(tmp_path / "script", '[catalogue]\ncommand = ["x"]')) == {}
