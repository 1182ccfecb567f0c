"""Key combinations as runtime.toml names them, such as ``Control+s``. Pure."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pluriverse_server.overlay.rules import ALT, CONTROL, SHIFT, SUPER, Combination, without_shift

from .spaces import keysym
from .table import checked

MODIFIERS: Final = {"Shift": SHIFT, "Control": CONTROL, "Alt": ALT, "Super": SUPER}


def parse_combination(text: str) -> Combination:
    """Parse ``Control+Shift+i``, ``F5`` or ``Alt++``; raise ValueError if there is no such modifier or key."""
    # The key may itself be a plus.
    *names, key = re.split(r"\+(?=.)", text)
    modifiers = 0
    for name in names:
        if name not in MODIFIERS:
            raise ValueError(
                f"{name!r} isn't a modifier; expected a key after any of {', '.join(MODIFIERS)}: Control+s"
            )
        modifiers |= MODIFIERS[name]
    return Combination(without_shift(keysym(key)), modifiers)


CombinationText = Annotated[str, checked(parse_combination)]
