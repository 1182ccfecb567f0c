"""What a program plays comes with the steps in which it does, and is the same after a moment was gone back to."""

import asyncio
import contextlib
from pathlib import Path

import pytest
from pluriverse_protocol.sound import FRAME_BYTES, RATE
from pluriverse_protocol.step_channel import View
from pluriverse_server.scraper import sound
from pluriverse_server.scraper.sound import Card
from pluriverse_server.sound import FILE, FRAMES, SoundFile
from support.noise import NOISE
from support.scraped import Scraped
from support.scraped_steps import Agent, begun, stepping
from support.waiting import eventually

pytestmark = pytest.mark.display


async def heard(agent: Agent, steps: int, frames: int = 1) -> list[bytes]:
    """Return what is played in each of so many steps."""
    played: list[bytes] = []
    for number in range(steps):
        agent.step(number, frames)
        played.append((await asyncio.to_thread(agent.hear)).sound.tobytes())
    return played


def make_noise(folder: Path) -> None:
    game = folder / "runtime" / "game.py"
    game.write_text(NOISE + game.read_text())


async def listening(scraped: Scraped, folder: Path) -> Agent:
    make_noise(folder)
    agent = await begun(scraped, view=View(audio=True))
    await agent.first()
    return agent


async def test_sound_goes_on_the_same_after_a_moment_was_gone_back_to(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await listening(scraped, tmp_path)
        before = await heard(agent, 10)
        moment = await agent.snapshot()
        assert moment is not None
        first = await heard(agent, 20)
        assert len({*before, *first}) == 30
        for _ in range(3):
            await agent.restore(moment)
            assert await heard(agent, 20) == first


async def test_only_who_asks_for_sound_gets_it_and_as_much_as_time_passes(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        agent = await listening(scraped, tmp_path)
        parts = await heard(agent, 6), await heard(agent, 2, frames=30)
        assert [{len(each) // FRAME_BYTES for each in part} for part in parts] == [{RATE // 60}, {RATE // 2}]
        agent.close()
        deaf = await begun(scraped, seed=8)
        await deaf.first()
        assert await heard(deaf, 3) == [b""] * 3


def test_without_the_library_sound_goes_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound, "LIBRARY", tmp_path / "nothing")
    assert Card(tmp_path).environment["SDL_AUDIODRIVER"] == "dummy"


async def test_sound_in_real_time_is_what_was_played_since_for_everybody(tmp_path: Path) -> None:
    async with stepping(tmp_path) as scraped:
        make_noise(tmp_path)
        await scraped.ready()
        with contextlib.closing(SoundFile(Path(scraped.screen["XAUTHORITY"]).with_name(FILE))) as file:
            began = file.count
            await eventually(lambda: file.count > began + RATE // 2)
            frames, count = file.since(began)
        assert len(frames) == min(count - began, FRAMES // 2)
        assert frames.any(axis=1).mean() > 0.99
