from __future__ import annotations

import pytest
from realtime.forms import quoted
from support.solved import Earned

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_names_are_quoted() -> None:
    assert quoted('Enter the username "ann" and the password "x y".') == ["ann", "x y"]


@pytest.mark.parametrize(
    "name", ["click-button", "click-link", "click-checkboxes", "enter-text", "login-user", "find-word"]
)
def test_form_is_done_as_it_says(earned_in_page: Earned, name: str) -> None:
    task, points = earned_in_page(name, seed=3)
    assert points >= task.success
