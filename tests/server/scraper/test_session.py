"""Which plays a session keeps when it is asked for the next episode at any time; the plays are stand-ins."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from pluriverse_protocol.reports import Reset
from pluriverse_server.manifest.runtime import load
from pluriverse_server.programs.catalogue import load_catalogue
from pluriverse_server.scraper import session as session_module
from pluriverse_server.scraper.cookies import Cookies
from pluriverse_server.scraper.daemon_connection import DaemonConnection
from pluriverse_server.scraper.play import SharedDesktop
from pluriverse_server.scraper.session import Session
from support.scraped import ENV, write_runtime
from support.waiting import eventually


class Standing:
    """A play that is ready at once; it is shown when it may be, and then nothing ever happens in it."""

    made: ClassVar[list[Standing]] = []
    may_show: ClassVar[asyncio.Event]

    def __init__(self) -> None:
        self.showing = self.playing = self.stopped = False

    @classmethod
    async def start(cls, *_: object, background: bool = False) -> Standing:
        cls.made.append(cls())
        return cls.made[-1]

    def show_screen(self) -> None:
        pass

    async def prepare(self, _: object) -> None:
        pass

    async def rest(self) -> None:
        await asyncio.Event().wait()

    async def show(self) -> None:
        self.showing = True
        await self.may_show.wait()

    said_ready = None

    @property
    def origin(self) -> Any:
        return self

    def begin(self, _: int, __: int) -> list[Any]:
        self.playing = True
        return []

    async def cycle(self) -> None:
        await asyncio.Event().wait()

    async def stop(self) -> None:
        self.stopped = True


class Nobody:
    """A connection on which nobody listens."""

    def send(self, *_: object) -> None:
        pass


@pytest.fixture
async def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("XAUTHORITY", "")
    monkeypatch.setattr(session_module, "Play", Standing)
    monkeypatch.setattr(Standing, "made", [])
    monkeypatch.setattr(Standing, "may_show", asyncio.Event(), raising=False)
    write_runtime(tmp_path, reset={"spares": 1})
    manifest = load(tmp_path)
    desktop = SharedDesktop({}, (320, 200), tmp_path, Cookies(tmp_path / "Xauthority"))
    catalogue = await load_catalogue(tmp_path, manifest)
    return Session(tmp_path, manifest, catalogue, desktop, cast("DaemonConnection", Nobody()))


async def test_play_of_before_ends_though_another_episode_is_wanted_while_its_successor_is_shown(
    session: Session,
) -> None:
    def begin(number: int) -> asyncio.Task[None]:
        return asyncio.create_task(session.episode(Reset(number, ENV, 7, 60.0)))

    async def give_up(episode: asyncio.Task[None]) -> None:
        episode.cancel()
        await asyncio.wait({episode})

    Standing.may_show.set()
    episode = begin(1)
    await eventually(lambda: len(Standing.made) == 2)
    first, second = Standing.made
    assert first.playing
    await give_up(episode)

    Standing.may_show.clear()
    episode = begin(2)
    await eventually(lambda: second.showing)
    await give_up(episode)

    Standing.may_show.set()
    episode = begin(3)
    await eventually(lambda: len(Standing.made) == 4)
    third, spare = Standing.made[2:]
    assert (third.playing, spare.playing) == (True, False)
    await eventually(lambda: first.stopped and second.stopped)
    assert not third.stopped
    assert not spare.stopped
    await give_up(episode)
    await session.close()
    assert spare.stopped
