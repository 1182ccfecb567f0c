"""Shows what the first environment sees."""

from __future__ import annotations

from typing import Any

from pluriverse.env.base import Env, Wrapper


class Render(Wrapper):
    """Shows each new picture of index 0: in a window (``"human"``), or in the terminal (``"terminal"``)."""

    def __init__(self, env: Env, mode: str = "human") -> None:
        super().__init__(env)
        self._mode = mode

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, see, and show."""
        result = self.env.step(action_n)
        self.env.render(self._mode)
        return result
