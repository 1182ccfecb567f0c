from pathlib import Path

import pytest
from pluriverse_server import home as home_module
from pluriverse_server.home import HomeError, contents, home_environment, make_home, put_back, restore


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


def snapshot_of(home: Path) -> dict[str, tuple[int, bytes]]:
    paths = sorted(home.rglob("*"))
    return {
        str(path.relative_to(home)): (
            path.lstat().st_mode,
            bytes(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b"",
        )
        for path in paths
    }


def test_home_is_put_back_whatever_was_done_in_it(tmp_path: Path) -> None:
    (tmp_path / "saves" / "old").mkdir(parents=True)
    (tmp_path / "saves" / "one").write_text("level 3")
    (tmp_path / "saves" / "old" / "two").write_text("level 1")
    (tmp_path / "script").write_text("echo")
    (tmp_path / "script").chmod(0o555)
    (tmp_path / "link").symlink_to("saves/one")
    before, inode = snapshot_of(tmp_path), (tmp_path / "saves" / "one").stat().st_ino
    kept = contents(tmp_path, {})
    for _ in range(2):
        (tmp_path / "saves" / "one").write_text("level 9, much longer")
        (tmp_path / "saves" / "old" / "two").unlink()
        (tmp_path / "saves" / "old").rmdir()
        (tmp_path / "saves" / "old").write_text("a file now")
        (tmp_path / "script").unlink()
        (tmp_path / "link").unlink()
        (tmp_path / "link").symlink_to("nowhere")
        (tmp_path / "new" / "folder").mkdir(parents=True)
        (tmp_path / "new" / "folder" / "file").touch()
        put_back(tmp_path, kept)
        assert snapshot_of(tmp_path) == before
        # Programs may have it open.
        assert (tmp_path / "saves" / "one").stat().st_ino == inode


def test_two_writes_within_a_tick_are_told_apart(tmp_path: Path) -> None:
    kept: home_module.Contents = {}
    for number in range(50):
        (tmp_path / "file").write_text(f"{number:3}")
        kept = contents(tmp_path, kept)
        assert kept["file"].content == f"{number:3}".encode()


def test_home_that_is_too_large_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home_module, "MAX_KEPT_BYTES", 10)
    (tmp_path / "file").write_text("11 letters.")
    with pytest.raises(HomeError, match="more than 10 bytes"):
        contents(tmp_path, {})
