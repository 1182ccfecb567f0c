"""The catalogue is whole, and says of each task what its page says."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.wob import RUNTIME

PAGES = RUNTIME / "vendor"

# Universe's names of the tasks whose pages there are.
UNIVERSE = """
BisectAngle BookFlight ChaseCircle ChooseDate ChooseList CircleCenter ClickButton ClickButtonSequence ClickCheckboxes
ClickCollapsible ClickCollapsible2 ClickColor ClickDialog ClickDialog2 ClickLink ClickMenu ClickMenu2 ClickOption
ClickPie ClickScrollList ClickShades ClickShape ClickTab ClickTab2 ClickTest ClickTest2 ClickWidget CopyPaste
CopyPaste2 CountShape CountSides DragBox DragCube DragItems DragItemsGrid DragShapes DragSortNumbers EmailInbox
EnterDate EnterPassword EnterText EnterText2 EnterTextDynamic EnterTime FindMidpoint FindWord FocusText FocusText2
GridCoordinate GuessNumber HighlightText HighlightText2 IdentifyShape LoginUser MovingItems NavigateTree
NumberCheckboxes ReadTable ReadTable2 ResizeTextarea RightAngle ScrollText ScrollText2 SearchEngine SimonSays
SimpleAlgebra SimpleArithmetic SocialMedia Terminal TextEditor TextTransform TicTacToe UseAutocomplete UseColorwheel
UseColorwheel2 UseSlider UseSlider2 UseSpinner VisualAddition
"""

Entry = dict[str, Any]


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    command = [sys.executable, "-I", str(RUNTIME / "catalogue.py")]
    return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)


def test_every_page_of_miniwob_is_a_task_with_and_without_decay(entries: list[Entry]) -> None:
    mini = {f"miniwob/{page.name}" for page in (PAGES / "miniwob").glob("*.html")}
    flight = {str(page.relative_to(PAGES)) for page in PAGES.glob("flight/*/wrapper.html")}
    assert (len(mini), len(flight)) == (130, 4)
    for decay in (True, False):
        pages = [entry["page"] for entry in entries if entry["decay"] is decay]
        assert set(pages) == mini | flight
        # Those that Universe had beside them: one by another name, and one that is another in each episode.
        assert len(pages) == len(mini | flight) + 2


def test_ids_are_unique_and_those_that_universe_had(entries: list[Entry]) -> None:
    ids = [entry["id"] for entry in entries]
    assert len(set(ids)) == len(ids)
    assert {f"wob.mini.{name}-v0" for name in UNIVERSE.split()} <= set(ids)
    assert {"wob.mini.DragItem-v0", "wob.MiniWorldOfBits-v0"} <= set(ids)
    assert {"wob.mini.ClickButtonNoDecay-v0", "wob.flight.AlaskaAuto-v0"} <= set(ids)


def test_all_that_miniwob_registers_is_there(entries: list[Entry]) -> None:
    # Importing it would import selenium.
    package = importlib.util.find_spec("miniwob")
    if package is None or package.origin is None:
        pytest.skip("the package miniwob, which the runtime itself doesn't need, isn't installed")
    registration = Path(package.origin).with_name("registration.py").read_text()
    registered = re.findall(r'id="miniwob/(.*)-v\d"', registration)
    pages = [
        name.replace(".", "/") + "/wrapper.html" if name.startswith("flight.") else f"miniwob/{name}.html"
        for name in registered
    ]
    assert len(pages) > 100
    assert set(pages) <= {entry["page"] for entry in entries}


def test_time_limits_are_those_of_the_pages_and_the_remotes_grace_is_a_little(entries: list[Entry]) -> None:
    default = limit_in("core/core.js") or 0
    for entry in entries:
        assert entry["seconds"] == (limit_in(entry["page"]) or default), entry
        longest = max(limit_in(page) or default for page in entry.get("pages", [entry["page"]]))
        assert entry["time_limit_s"] == longest
        assert 0 < entry["time_limit_grace_s"] <= 5


def limit_in(page: str) -> int | None:
    """Seconds that a page gives a task; None if it says nothing."""
    said = re.search(r"EPISODE_MAX_TIME = (\d+)000;", (PAGES / page).read_text())
    return int(said[1]) if said else None


def test_titles_are_short_and_each_has_its_own(entries: list[Entry]) -> None:
    titles = [entry["title"] for entry in entries if entry["decay"]]
    assert len(set(titles)) == len(titles)
    assert all(title and len(title) < 80 and title == title.strip(" .") for title in titles)
