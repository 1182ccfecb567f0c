"""Scripts for desktop games."""

from __future__ import annotations

import re
from typing import Any, Final

from pluriverse.adapters.computer import Act, Press, Type
from pluriverse.adapters.computer.key_names import chord
from pluriverse_eval.agents import Seen


class YadOrder:
    """Fills in the form by keys, following the letter, which comes as text; once."""

    LETTER: Final = re.compile(r"Please send me (\d+) kites of size (\w+) to (\w+)\.\s+Yours, (.+)")
    SIZES: Final = ("small", "medium", "large")

    def __init__(self) -> None:
        self._sent = False

    def __call__(self, seen: Seen) -> Any:
        """Fill in all fields and send them."""
        asked = self.LETTER.search(seen.text)
        if asked is None or self._sent:
            return None
        self._sent = True
        kites, size, town, name = asked.groups()
        acts: list[Act] = []
        # The first field has the focus; what another holds is selected when it gets it.
        for text in (name, town, kites):
            acts += Press(chord("BackSpace")), Type(text), Press(chord("Tab"))
        acts += (Press(chord("Down")) for _ in range(self.SIZES.index(size) + 1))
        return [*acts, Press(chord("Tab")), Press(chord("space"))]
