"""Parameters of which a few are tested each day, and the others in the night."""

from collections.abc import Iterable
from typing import Any

import pytest


def nightly_but(each_day: Iterable[Any], every: Iterable[Any]) -> list[Any]:
    """Return all of ``every`` as parameters, marked ``nightly`` unless they are in ``each_day``."""
    kept = list(each_day)
    return [value if value in kept else pytest.param(value, marks=pytest.mark.nightly) for value in every]
