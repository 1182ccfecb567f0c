"""The page that labels recordings, in a real browser, with a real recording."""

import contextlib
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from pluriverse_authoring.frames import RecordedFrames
from pluriverse_authoring.label import Kind, Known, LabelServer, RewardSource
from support.chromium import Chromium
from support.recorded import FRAMES, picture, read, recorded, write_recording
from support.waiting import eventually

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@dataclass
class Served:
    address: str
    labels: Path

    @property
    def folder(self) -> str:
        """The address without what the page shows."""
        return self.address.removesuffix("?label")

    @property
    def saved(self) -> dict[str, Any]:
        """What is in the file; nothing while there is none."""
        return json.loads(self.labels.read_text()) if self.labels.exists() else {}


@contextlib.asynccontextmanager
async def labelling(path: Path, known: dict[str, Known], earned: Sequence[RewardSource] = ()) -> AsyncGenerator[Served]:
    film = RecordedFrames(path)
    async with LabelServer(path, film, known, list(earned)).serving() as address:
        yield Served(address, path.with_name("first.labels.json"))
    film.close()


@pytest_asyncio.fixture(loop_scope="module")
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    path = write_recording(tmp_path / "first.plrec")
    async with labelling(path, {"score": Known([8, 8, 40, 12])}, [RewardSource("score", 0.5)]) as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Chromium]:
    browser = await Chromium.start(tmp_path_factory.mktemp("browser") / "profile")
    yield browser
    await browser.close()


@pytest.fixture
def browser(chromium: Chromium) -> Chromium:
    """The browser, which has seen no errors yet."""
    chromium.errors.clear()
    return chromium


async def press(browser: Chromium, *keys: str) -> None:
    """Press and release keys one after the other: characters, or names of JavaScript's."""
    codes = {"ArrowLeft": 37, "ArrowRight": 39, "ArrowUp": 38, "ArrowDown": 40, "Enter": 13, "Home": 36, "Escape": 27}
    for key in keys:
        if key == "Enter":
            await browser.press("\r", "Enter", 13)
        else:
            await browser.press(key, key if key in codes else "", codes.get(key, ord(key[0].upper())))


MOMENT = "document.getElementById('moment').textContent"
STATUS = "document.getElementById('link').textContent"
ROWS = "[...document.querySelectorAll('#labels tbody tr')].map(row => row.innerText)"
READY = "document.querySelector('#tracks input:checked') !== null && document.getElementById('frame').naturalWidth > 0"


async def opened(browser: Chromium, served: Served) -> None:
    await browser.open(served.address)
    await browser.wait_until(READY)


def shows_frame(frame: int) -> str:
    return f"{MOMENT}.includes('frame {frame + 1} of {FRAMES}')"


async def test_only_who_has_the_address_gets_anything(served: Served) -> None:
    async with aiohttp.ClientSession() as session:
        origin = served.folder.rsplit("/", 2)[0]
        for path in ("/", "/recording", "/wrong-token/recording"):
            async with session.get(origin + path) as answer:
                assert answer.status == 404
        async with session.get(served.folder + "frames/9999.png") as answer:
            assert answer.status == 404
        async with session.put(served.folder + "labels", data="{") as answer:
            assert answer.status == 400
    assert served.saved == {}


async def test_values_are_labelled_with_the_keyboard_alone_and_saved_at_each_change(
    served: Served, browser: Chromium
) -> None:
    await opened(browser, served)
    assert await browser.evaluate("document.querySelector('#tracks input:checked').value") == "score"
    await press(browser, "0", "Enter")
    await browser.wait_until(f"{ROWS}.length === 1 && {STATUS} === 'saved'")
    await press(browser, "n")
    await browser.wait_until(shows_frame(10))
    await press(browser, "Enter", "n")
    await browser.wait_until(shows_frame(20))
    await press(browser, "ArrowRight", "2", "Enter")
    await browser.wait_until(f"{ROWS}.length === 3 && {STATUS} === 'saved'")
    assert served.saved["sources"] == {"score": [[0, 0], [1, 1], [2.1, 2]]}
    await press(browser, "u")
    await browser.wait_until(f"{ROWS}.length === 2 && {STATUS} === 'saved'")
    assert served.saved["sources"] == {"score": [[0, 0], [1, 1]]}
    await press(browser, "p")
    await browser.wait_until(shows_frame(20))
    await press(browser, "p", "x")
    await browser.wait_until(f"{ROWS}.length === 1 && {STATUS} === 'saved'")
    assert browser.errors == []


async def test_what_was_read_is_taken_as_a_whole_and_corrected(served: Served, browser: Chromium) -> None:
    await opened(browser, served)
    await press(browser, "a")
    await eventually(lambda: served.saved)
    assert served.saved["sources"]["score"] == [[0, 0], [1, 1], [3, 3], [12, 0]]
    assert (await browser.evaluate(ROWS))[1].split("\t")[:2] == ["0:01.000", "1 accepted"]


async def test_episodes_and_rewards_are_labelled(served: Served, browser: Chromium) -> None:
    await opened(browser, served)
    await press(browser, "b", "ArrowUp", "n")
    await browser.wait_until(shows_frame(120))
    first = {"begin": 0, "end": 12, "done": "terminated", "reason": ""}
    await press(browser, "e")
    await eventually(lambda: served.saved.get("episodes") == [first])
    await press(browser, "e")
    await eventually(lambda: served.saved.get("episodes") == [{**first, "done": "truncated"}])
    await press(browser, "e")
    await eventually(lambda: served.saved.get("episodes") == [{**first, "end": None, "done": None}])
    # Where the next begins, one that nobody saw end has ended.
    await press(browser, "b")
    second = {**first, "begin": 12, "end": None, "done": None}
    await eventually(lambda: served.saved.get("episodes") == [{**first, "done": None}, second])
    await press(browser, "ArrowDown", "ArrowDown", "Home", "n", "Enter", "n", "5", "Enter")
    await eventually(lambda: served.saved.get("rewards") == [[1, 1], [3, 5]])
    assert browser.errors == []


async def test_recorded_episodes_are_accepted_and_an_end_stays_where_the_next_begins_in_its_frame(
    served: Served, browser: Chromium
) -> None:
    await opened(browser, served)
    await press(browser, "ArrowUp", "a")
    ended = {"begin": 0, "end": 12, "done": "terminated", "reason": "no lives left"}
    second = {"begin": 12, "end": None, "done": None, "reason": ""}
    await eventually(lambda: served.saved.get("episodes") == [ended, second])
    # In that frame: the end is of the first, and what is removed is the next one's beginning.
    await press(browser, "n")
    await browser.wait_until(shows_frame(120))
    await press(browser, "e")
    await eventually(lambda: served.saved.get("episodes") == [{**ended, "done": "truncated", "reason": ""}, second])
    await press(browser, "Enter", "x")
    await eventually(lambda: served.saved.get("episodes") == [ended])
    await press(browser, "Enter")
    await eventually(lambda: served.saved.get("episodes") == [ended, second])
    assert browser.errors == []


async def test_rewards_are_worked_out_from_what_the_score_was_in_each_episode(
    served: Served, browser: Chromium
) -> None:
    labels = {
        "recording": "first.plrec",
        "episodes": [{"begin": 0, "end": 12}, {"begin": 12}],
        "sources": {"score": [[0, 10], [1, 11], [3, 13], [12.1, 0], [12.2, 4]]},
    }
    async with aiohttp.ClientSession() as session, session.put(served.folder + "labels", json=labels) as answer:
        assert answer.status == 204
    await opened(browser, served)
    await press(browser, "ArrowDown", "a")
    # The second episode began with what the first had ended with, and its change to nothing counts.
    await eventually(lambda: served.saved.get("rewards") == [[1, 0.5], [3, 1], [12.1, -6.5], [12.2, 2]])
    assert browser.errors == []


async def test_reward_counts_from_what_each_episode_begins_with_where_nothing_is_there_to_be_read(
    tmp_path: Path, browser: Chromium
) -> None:
    # The second episode ends with what the first had, and in between nothing was to be read.
    records = [read(0, None), read(1, 1), read(2, 3), read(3, None), read(4, 3), read(5, 4)]
    path = recorded(tmp_path / "first.plrec", [*records, *(picture(at) for at in range(6))])
    labels = {"recording": "first.plrec", "episodes": [{"begin": 0, "end": 2, "done": "terminated"}, {"begin": 3}]}
    (tmp_path / "first.labels.json").write_text(json.dumps(labels))
    async with labelling(path, {"score": Known([0, 0, 8, 8], "number")}, [RewardSource("score", -1, 0)]) as served:
        await opened(browser, served)
        await press(browser, "a")
        await eventually(lambda: served.saved.get("sources") == {"score": [[1, 1], [2, 3], [4, 3], [5, 4]]})
        await press(browser, "ArrowDown", "a")
        await eventually(lambda: served.saved.get("rewards") == [[1, -1], [2, -2], [4, -3], [5, -1]])
    assert browser.errors == []


@pytest.mark.parametrize(
    ("kind", "keys", "truth", "complaint"),
    [
        ("string", ["1", "x", "Enter"], "1x", ""),
        ("boolean", ["v", "y", "e", "s", "Enter"], True, ""),
        ("boolean", ["v", "N", "o", "Enter"], False, ""),
        ("boolean", ["1", "Enter"], None, "Enter yes or no."),
        ("number", ["1", "x", "Enter"], None, "Enter a number"),
        (None, ["1", "Enter"], 1, ""),
        (None, ["v", "o", "n", "Enter"], "on", ""),
    ],
)
async def test_a_source_that_nothing_could_read_yet_is_labelled_with_values_of_its_kind(
    tmp_path: Path,
    browser: Chromium,
    kind: Kind | None,
    keys: list[str],
    truth: bool | str | int | None,
    complaint: str,
) -> None:
    path = recorded(tmp_path / "first.plrec", [picture(0), picture(1)])
    async with labelling(path, {"source": Known([0, 0, 8, 8], kind)}) as served:
        await opened(browser, served)
        await press(browser, *keys)
        if complaint:
            await browser.wait_until(f"document.getElementById('entry-error').innerText.includes('{complaint}')")
            assert served.saved == {}
        else:
            await eventually(lambda: served.saved.get("sources") == {"source": [[0, truth]]})
    assert browser.errors == []


async def test_what_cannot_be_saved_is_told(served: Served, browser: Chromium) -> None:
    await opened(browser, served)
    # A folder can't be replaced by a file.
    served.labels.mkdir()
    await press(browser, "3", "x", "Escape", "4", "Enter")
    await browser.wait_until(f"{STATUS}.includes('first.labels.json: Is a directory')")


async def test_page_speaks_to_no_one_else_and_has_names_for_what_it_shows(served: Served, browser: Chromium) -> None:
    await opened(browser, served)
    addresses = await browser.evaluate("performance.getEntries().map(e => e.name).filter(n => n.includes('://'))")
    assert len(addresses) > 5
    assert all(address.startswith(served.folder) for address in addresses), addresses
    nameless = await browser.evaluate(
        "[...document.querySelectorAll('button, input')]"
        ".filter(e => !e.textContent && !e.ariaLabel && !e.labels?.length).length"
    )
    assert nameless == 0
    assert browser.errors == []
