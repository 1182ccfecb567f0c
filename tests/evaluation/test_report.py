from pathlib import Path

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse_eval.report import write_report
from pluriverse_eval.results import Folder
from support.chromium import Chromium
from support.evaluated import episode, run
from support.recordings import played, write

pytestmark = pytest.mark.browser

# Words of the drawing that are beyond its edge.
CUT = """[...document.querySelectorAll("svg text")].filter((text) => {
  const [word, all] = [text, text.closest("svg")].map((each) => each.getBoundingClientRect());
  return word.left < all.left || word.right > all.right || word.top < all.top || word.bottom > all.bottom;
}).map((text) => text.textContent)"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path)
    folder.begin(
        run("openai:<b>bold</b>", modes=["paused", "live+200"], tasks=["pong", "maze"], scales={"pong": (-2, 2)})
    )
    for seed, score in enumerate((10, 90, 50)):
        name = f"recordings/pong-paused-{seed}.plrec"
        write(tmp_path / name, played())
        folder.add(episode(seed=seed, score=score, recording=name))
        folder.add(episode(mode="live+200", seed=seed, score=-score / 10_000, reaction_ms=(200.0, 210.0)))
    folder.add(episode("maze", "live+200", ended="failed", error="it said <script>"))
    return folder


async def test_page_has_a_drawing_scores_lags_and_a_film_of_the_median_run(folder: Folder, tmp_path: Path) -> None:
    told: list[str] = []
    page, _, _ = write_report(folder, report=told.append)
    assert told == []
    browser = await Chromium.start(tmp_path / "profile")
    try:
        await browser.open(page.as_uri())
        await browser.wait_until("document.querySelector('figure img').complete")
        assert await browser.evaluate("document.querySelector('figure img').naturalWidth") > 0
        assert await browser.evaluate("document.querySelector('figcaption').textContent") == (
            "pong, seed 2: earned 0, score 50, stopped at the end of the task's time after 2.0 s"
        )
        assert await browser.evaluate("document.querySelectorAll('svg').length") == 1
        for width in (1400, 390):
            await browser.resize(width, 844)
            assert await browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert await browser.evaluate(CUT) == []
        assert await browser.evaluate("document.querySelector('h1').textContent") == "openai:<b>bold</b> on small 1"
        text = await browser.evaluate("document.body.innerText")
        assert browser.errors == []
    finally:
        await browser.close()
    assert "Each task has a budget" in text
    assert "pong -2 2 50.0 (3 episodes) 0" in " ".join(text.split())
    assert "200.0 210.0" in " ".join(text.split())
    assert "maze: it said <script>" in text


def test_recording_that_is_gone_is_told_and_the_page_is_written_all_the_same(folder: Folder) -> None:
    (folder.path / "recordings/pong-paused-2.plrec").unlink()
    told: list[str] = []
    assert write_report(folder, report=told.append)[0].exists()
    (line,) = told
    assert line.startswith("no film of recordings/pong-paused-2.plrec")


def test_page_of_nothing_is_refused(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.begin(run())
    with pytest.raises(ConfigurationError, match="has no results yet"):
        write_report(folder, report=print)
