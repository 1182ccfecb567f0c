"""The widgets of a real program, and the sources that read them."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from pluriverse_server.authoring import AuthoringError
from pluriverse_server.authoring.look.widgets import also_called, list_widgets, names_on, sources_of_widgets
from support.program import until, until_value
from support.widgets import GAME, Played, playing

pytestmark = [
    pytest.mark.display,
    pytest.mark.skipif(not GAME.exists(), reason="gnome-2048 is not installed"),
]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Generator[Played]:
    with playing(tmp_path_factory.mktemp("home")) as played:
        reader = played.reader(role="frame")
        until_value(reader, "GNOME 2048")
        reader.close()
        yield played


def test_each_widget_that_is_listed_is_read_by_the_source_that_is_written_for_it(played: Played) -> None:
    widgets = list_widgets(played.environment)
    assert {"frame", "label"} <= {widget.role for widget in widgets}
    assert any(widget.path.count(" / ") > 1 for widget in widgets)
    found = sources_of_widgets(widgets)
    assert any(one.value == 0 for one in found), "the score"
    assert len(found) > 5
    for one in found:
        table = dict(one.table)
        del table["from"]
        reader = played.reader(**table)
        until_value(reader, one.value)
        reader.close()


def test_names_on_the_bus_are_those_that_programs_have(played: Played) -> None:
    until(lambda: names_on(played.environment), lambda names: "org.gnome.TwentyFortyEight" in names)


def test_a_program_without_widgets_says_so() -> None:
    with pytest.raises(AuthoringError, match="no widgets: "):
        list_widgets({"HOME": "/"})
    assert names_on({"HOME": "/"}) == []


def test_a_role_may_have_another_name() -> None:
    assert (also_called("push button"), also_called("button"), also_called("label")) == ("button", "push button", None)
