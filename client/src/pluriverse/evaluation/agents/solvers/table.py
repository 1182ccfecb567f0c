"""Which script plays which task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pluriverse.evaluation.agents.agent import Decide

SOLVERS: Final[dict[str, Callable[[], Decide]]] = {}
