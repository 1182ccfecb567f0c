from __future__ import annotations

from pathlib import Path

import pytest
from pluriverse_server.scraper.home import HomeError, home_environment, make_home, restore


def test_home_is_a_copy_with_private_folders(tmp_path: Path) -> None:
    template, home = tmp_path / "template", tmp_path / "home"
    (template / ".config" / "game").mkdir(parents=True)
    (template / ".config" / "game" / "settings").write_text("easy")
    (template / "link").symlink_to("/nowhere")
    make_home(home, template)
    assert (home / ".config" / "game" / "settings").read_text() == "easy"
    assert (home / "link").is_symlink()
    assert (home / ".run").stat().st_mode & 0o777 == 0o700
    (home / ".config" / "game" / "settings").write_text("hard")
    assert (template / ".config" / "game" / "settings").read_text() == "easy"


def test_what_keeps_a_home_from_being_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(HomeError, match="nothing-here"):
        make_home(tmp_path / "home", tmp_path / "nothing-here")
    with pytest.raises(HomeError, match="no-save"):
        restore(tmp_path / "no-save", tmp_path, "save")
    (tmp_path / "file").touch()
    with pytest.raises(HomeError, match=r"^HOME could not be made: "):
        make_home(tmp_path / "file", None)


def test_environment_leads_into_the_home(tmp_path: Path) -> None:
    env = home_environment(tmp_path, {"DISPLAY": ":7"}, {"LANG": "C", "TMPDIR": "/else"})
    assert (env["HOME"], env["DISPLAY"], env["LANG"], env["TMPDIR"]) == (str(tmp_path), ":7", "C", "/else")
    assert env["XDG_CONFIG_HOME"] == str(tmp_path / ".config")


def test_restored_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    home, source = tmp_path / "home", tmp_path / "save"
    source.write_text("level 3")
    (home / "saves").mkdir(parents=True)
    (home / "saves" / "one").write_text("level 9")
    restore(source, home, "saves/one")
    assert (home / "saves" / "one").read_text() == "level 3"
    restore(source, home, "new/folder/two")
    assert [path.name for path in (home / "new" / "folder").iterdir()] == ["two"]


@pytest.mark.parametrize("to", ["../outside", "/etc/outside", "link/outside"])
def test_nothing_is_restored_outside_of_the_home(tmp_path: Path, to: str) -> None:
    home, source, outside = tmp_path / "home", tmp_path / "save", tmp_path / "elsewhere"
    source.write_text("level 3")
    home.mkdir()
    outside.mkdir()
    (home / "link").symlink_to(outside)
    with pytest.raises(HomeError, match="not below HOME"):
        restore(source, home, to)
    assert not list(outside.iterdir())
