from __future__ import annotations

from functools import partial

import pytest
from support.remotes import on_machine
from support.solved import Earned, play


@pytest.fixture
def earned() -> Earned:
    """Play a task with its script, by its name; return it and what that earned."""
    return partial(play, on_machine)


@pytest.fixture
def earned_in_page() -> Earned:
    """Play a task that is shown by Chromium, as ``earned``."""
    return partial(play, on_machine)
