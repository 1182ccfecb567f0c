"""Sources whose reading depends on what was before, and the runtime's own code, on a real screen without a program."""

import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pluriverse_protocol.reports import Done
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.scraper import reader_thread
from pluriverse_server.scraper.source_reader import SourceReader
from pluriverse_server.sources.program import ProgramOutput, Target
from pluriverse_server.sources.reading import Reading, ReadingState, SourceError, SourceHangs
from support.scraped import MANIFEST, scraping, x_server
from Xlib.display import Display

pytestmark = pytest.mark.display

BAR = [0, 40, 200, 10]
POINTS = """
def read(picture, previous):
    points = int((picture[5] > 128).all(axis=1).sum()) // 10
    {more}
    return points, 1
"""


def python(folder: Path, more: str = "") -> dict[str, Any]:
    """The table of a bar that is read by code, in ``folder``."""
    (folder / "reader.py").write_text(POINTS.format(more=more))
    return {"from": "python", "file": "reader.py", "region": BAR, "agree": 1, "budget_ms": 10_000}


@contextlib.asynccontextmanager
async def reading(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **sources: Mapping[str, Any]
) -> AsyncGenerator[tuple[SourceReader, Callable[[int], None]]]:
    """A reader of a screen, and what draws a bar of some points on it."""
    async with x_server(folder) as screen:
        for name, value in screen.items():
            monkeypatch.setenv(name, value)
        display = Display(screen["DISPLAY"])
        root = display.screen().root

        def draw(points: int) -> None:
            for colour, width in ((0, 200), (0xFFFFFF, 10 * points)):
                root.fill_rectangle(root.create_gc(foreground=colour), 0, 40, width, 10)
            display.sync()

        target = Target(lambda: None, folder, ProgramOutput(), lambda: None, os.environ)
        game = GameTables.model_validate({"reset": {"by": "restart"}, "sources": sources})
        reader = SourceReader(game, folder, target, screen["DISPLAY"])
        try:
            yield reader, draw
        finally:
            reader.close()
            display.close()


async def read_until(reader: SourceReader, name: str, holds: Callable[[Reading], bool]) -> None:
    async def look() -> bool:
        return holds((await reader.read()).readings[name])

    while not await look():
        pass


async def test_code_of_the_runtimes_own_is_read_of_each_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with reading(tmp_path, monkeypatch, score=python(tmp_path)) as (reader, draw):
        for points in (3, 4):
            draw(points)
            await read_until(reader, "score", lambda reading, points=points: reading.value == points)
        draw(7)
        # A program that stands is read at once, and as of its own time.
        still = reader.read_still(50.0).readings["score"]
        assert (still.value, still.at) == (7, 50.0)


async def test_code_that_fails_has_its_source_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with reading(tmp_path, monkeypatch, score=python(tmp_path, "1 / points")) as (reader, draw):
        draw(0)
        expected = r"source 'score': .*reader\.py, line 4: ZeroDivisionError: division by zero"
        with pytest.raises(SourceError, match=expected):
            await read_until(reader, "score", lambda reading: False)
        with pytest.raises(SourceError, match=expected):
            reader.read_still(50.0)


async def test_code_that_never_ends_is_late_and_then_hangs_and_holds_up_no_other_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_thread, "HANG_S", 0.4)
    wait = "import time\n    while points == 2 and __import__('os').path.exists('{}'): time.sleep(0.01)"
    stuck = tmp_path / "stuck"
    stuck.touch()
    score = python(tmp_path, wait.format(stuck)) | {"budget_ms": 50}
    bar = {"from": "screen", "read": "bar", "region": BAR, "colour": "#ffffff", "agree": 1}
    async with reading(tmp_path, monkeypatch, score=score, bar=bar) as (reader, draw):
        draw(1)
        await read_until(reader, "score", lambda reading: reading.value == 1)
        draw(2)
        await read_until(reader, "score", lambda reading: reading.state is ReadingState.LATE)
        cycle = await reader.read()
        assert (cycle.readings["score"].value, cycle.readings["bar"].value) == (1, 0.1)
        with pytest.raises(SourceHangs, match="source 'score' hangs"):
            await read_until(reader, "score", lambda reading: False)
        with pytest.raises(SourceHangs, match="source 'score' hangs"):
            reader.read_still(50.0)
        stuck.unlink()


@pytest.mark.slow
async def test_a_scraper_whose_code_never_ends_is_replaced_and_the_next_episode_is_fine(tmp_path: Path) -> None:
    score = python(tmp_path, "while points == 2: pass") | {"file": "../reader.py"}
    sources = {**MANIFEST["sources"], "score": score}
    async with scraping(tmp_path, sources=sources, rewards=[{"source": "score"}]) as scraped:
        await scraped.ready()
        await scraped.press("Right", "Right")
        done = await scraped.until(Done)
        assert done.truncated
        assert "source 'score' hangs" in done.reason
        assert "source 'score' hangs" in (await scraped.lost()).reason
        scraped.losses.clear()
        await scraped.ready()
