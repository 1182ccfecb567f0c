from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.manifest.table import check_known, fill, placeholders


@given(st.lists(st.text(alphabet="{}!:.[]envsd0 ", max_size=12) | st.text(), max_size=4))
def test_what_is_known_can_be_filled_and_all_else_is_refused(templates: list[str]) -> None:
    try:
        check_known(templates)
    except ValueError:
        return
    values = dict.fromkeys(placeholders(templates), "")
    for template in templates:
        fill(template, values)


def test_values_are_written_as_asked_for() -> None:
    assert fill("a?b={env.x}&{{c}}", {"env.x": "1 & 2"}, lambda value: quote(value, safe="")) == "a?b=1%20%26%202&{c}"
