import os
from pathlib import Path

import pytest
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.runtime import EnvTable
from pluriverse_server.scraper import play
from pluriverse_server.scraper.cookies import Cookies
from pluriverse_server.scraper.play import Play, PlaySettings, SharedDesktop
from pluriverse_server.scraper.player import Broken


async def test_whatever_keeps_a_play_from_starting_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make_home(home: Path, template: Path | None) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(play, "make_home", make_home)
    monkeypatch.setenv("XAUTHORITY", "")
    desktop = SharedDesktop(os.environ, (320, 200), tmp_path, Cookies(tmp_path / "Xauthority"))
    settings = PlaySettings(
        tmp_path, GameTables.model_validate({"program": {"command": ["true"]}}), EnvTable(id="a.B-v0"), 1, 60.0
    )
    with pytest.raises(Broken, match="could not be started: RuntimeError: can't start new thread"):
        await Play.start(settings, desktop, lambda _, __: None)
    assert not desktop.plays
    assert not list(tmp_path.glob("play-*"))  # noqa: ASYNC240 - it is there, or not
