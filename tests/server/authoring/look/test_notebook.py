from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pluriverse_server.authoring import AuthoringError
from pluriverse_server.authoring.look.beginning import begin, name_of
from pluriverse_server.authoring.look.notebook import Notebook
from pluriverse_server.authoring.validate import validate
from pluriverse_server.manifest.runtime import load
from pluriverse_server.sources.screen.python import PythonReader

REGION = {"from": "screen", "region": [0, 0, 20, 10]}


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(begin(["sleep", "600"], tmp_path / "still", (320, 200)))


def test_a_number_is_written_with_its_reward_and_only_once(notebook: Notebook) -> None:
    for _ in range(2):
        notebook.add_source("score", {**REGION, "read": "number"}, "120 then.", reward=True)
    assert notebook.text.count("[sources.score]") == notebook.text.count("[[rewards]]") == 1
    assert "# 120 then.\n[sources.score]" in notebook.text
    game = load(notebook.folder)
    assert [reward.source for reward in game.rewards] == list(game.sources) == ["score"]


def test_a_template_is_written_with_its_picture(notebook: Notebook) -> None:
    notebook.add_source("menu", {**REGION, "read": "template"}, "", reward=False, picture=b"a picture")
    assert notebook.tables.sources["menu"].model_dump()["image"] == "templates/menu.png"
    assert (notebook.folder / "templates" / "menu.png").read_bytes() == b"a picture"


def test_a_function_is_begun_and_then_its_authors(notebook: Notebook) -> None:
    table = {"from": "python", "region": REGION["region"]}
    notebook.add_source("lamps", table, "", reward=False)
    assert not validate(notebook.folder).mistakes
    path = notebook.folder / "readers" / "lamps.py"
    assert PythonReader(path, "lamps").read(np.zeros((10, 20, 4), np.uint8)) == (None, 0.0)
    path.write_text("def read(picture, previous):\n    return 3, 1.0\n")
    notebook.add_source("lamps", table, "", reward=False)
    assert "return 3" in path.read_text()


def test_a_point_that_is_chosen_again_has_one_more_colour(notebook: Notebook) -> None:
    for point, colours in (([3, 4], {"red": "#ff0000"}), ([3, 4], {"green": "#00ff00"}), ([5, 4], {"blue": "#0000ff"})):
        table = {"from": "screen", "read": "pixel", "point": point, "colours": colours}
        notebook.add_source("lamp", table, "", reward=False)
        if point == [3, 4]:
            expected = {"red": "#ff0000", **colours}
            assert notebook.tables.sources["lamp"].model_dump()["colours"] == expected
    assert notebook.tables.sources["lamp"].model_dump()["colours"] == {"blue": "#0000ff"}


@pytest.mark.parametrize(("name", "read"), [("Score", "number"), ("score", "numbre"), ("score", "template")])
def test_what_would_be_no_valid_runtime_is_not_written(notebook: Notebook, name: str, read: str) -> None:
    before = notebook.text
    with pytest.raises(AuthoringError, match="not written: "):
        notebook.add_source(name, {**REGION, "read": read}, "", reward=False)
    assert notebook.text == before


def test_a_source_that_something_needs_stays(notebook: Notebook) -> None:
    notebook.add_source("score", {**REGION, "read": "number"}, "", reward=False)
    notebook.set_keys("episode", {"ready": "score == 0"})
    with pytest.raises(AuthoringError, match=r"episode\.ready names the source 'score'"):
        notebook.remove_source("score")
    notebook.set_keys("episode", {"ready": None})
    notebook.remove_source("score")
    assert not notebook.tables.sources


def test_steps_are_written_and_the_rest_of_the_reset_stays(notebook: Notebook) -> None:
    notebook.set_keys("reset", {"by": "restart", "start": [{"keys": ["Escape"]}]})
    notebook.set_steps([{"keys": ["space"]}, {"click": [1, 2]}], by="keys", comment="As they were done.")
    reset = load(notebook.folder).reset
    assert (reset.by, len(reset.start), [step.click for step in reset.steps]) == ("keys", 1, [None, [1, 2]])


def test_a_page_is_a_runtime_too(tmp_path: Path) -> None:
    (tmp_path / "game.html").touch()
    page = load(begin([str(tmp_path / "game.html")], tmp_path / "mine", (640, 480))).page
    assert page is not None
    assert (page.files, page.start) == (str(tmp_path), "game.html")
    page = load(begin(["https://example.org/play?a={b}"], tmp_path / "other", (640, 480))).page
    assert page is not None
    assert page.url == "https://example.org/play?a={{b}}"


def test_a_runtime_that_is_there_is_looked_at_and_none_is_overwritten(notebook: Notebook) -> None:
    assert begin([str(notebook.folder)], None, (320, 200)) == notebook.folder
    with pytest.raises(AuthoringError, match="is there already; look at it with: pluriverse-server look"):
        begin(["sleep", "1"], notebook.folder, (320, 200))
    with pytest.raises(AuthoringError, match="there is no program 'no-such-program'"):
        begin(["no-such-program"], notebook.folder.parent / "new", (320, 200))


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("xterm", "xterm"),
        ("xterm -e /usr/games/greed", "greed"),
        ("https://play.example.org/2048/", "play-example-org"),
        ("/usr/games/gnome-2048", "gnome-2048"),
    ],
)
def test_a_runtime_is_called_after_what_is_played(command: str, name: str) -> None:
    assert name_of(command.split()) == name
