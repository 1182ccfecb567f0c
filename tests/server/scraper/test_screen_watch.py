import os
from pathlib import Path

import pytest
from pluriverse_server.display import DisplayLost
from pluriverse_server.scraper.cookies import Cookies
from pluriverse_server.scraper.screen_watch import ScreenWatch
from pluriverse_server.x11.connection import open_display
from support.scraped import x_server
from support.waiting import eventually
from support.xwindow import Window

pytestmark = pytest.mark.display


async def test_drawing_is_noticed_each_time_after_rearming_and_whose_windows_there_are(tmp_path: Path) -> None:
    async with x_server(tmp_path) as screen:
        watch = ScreenWatch(screen["DISPLAY"], Path(screen["XAUTHORITY"]))
        assert not watch.has_window_of([os.getpid()])
        with Window(screen["DISPLAY"], Path(screen["XAUTHORITY"])) as window:
            assert watch.has_window_of([1, os.getpid()])
            for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255)):
                watch.rearm()
                # An answer of the server's: it has heard all that came before.
                assert not watch.has_window_of([1])
                window.fill(10, 10, 5, 5, colour)
                await eventually(watch.drawn.is_set)
    with pytest.raises(DisplayLost):
        watch.has_window_of([1])
    watch.rearm()
    watch.close()
    with pytest.raises(DisplayLost):
        ScreenWatch(screen["DISPLAY"], Path(screen["XAUTHORITY"]))


async def test_one_file_opens_each_screen_with_its_own_cookie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XAUTHORITY", "")
    folders = tmp_path / "one", tmp_path / "other"
    for folder in folders:
        folder.mkdir()
    async with x_server(folders[0]) as one, x_server(folders[1]) as other:
        cookies = Cookies(tmp_path / "cookies")
        assert os.environ["XAUTHORITY"] == str(cookies.path)
        for screen in (one, other):
            cookies.add(screen)
        assert cookies.path.stat().st_mode & 0o777 == 0o600
        for screen in (one, other):
            open_display(screen["DISPLAY"]).close()
        cookies.remove(other)
        open_display(one["DISPLAY"]).close()
        with pytest.raises(DisplayLost, match=r"\(256,|No protocol|Authorization"):
            open_display(other["DISPLAY"])
