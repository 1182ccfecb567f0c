"""``spaces`` of runtime.toml, where keys have names; converted to ``pluriverse_protocol.env_spaces``."""

from __future__ import annotations

import difflib
from typing import Annotated, Any, Final
from weakref import WeakValueDictionary

from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.keysyms import keysyms
from pluriverse_protocol.limits import MAX_KEYSYM
from pydantic import BeforeValidator, ValidatorFunctionWrapHandler, WrapValidator, model_validator

from .table import Table

# Keysyms of characters: in Latin-1 the character's own number, elsewhere this and its number.
_LATIN_1: Final = (range(0x20, 0x7F), range(0xA0, 0x100))
_UNICODE: Final = 0x0100_0000


def keysym(key: object) -> int:
    """Return the keysym of a key: X's name for it (``"Left"``, ``"space"``), one character (``"z"``), or the keysym."""
    match key:
        case int() if not isinstance(key, bool) and 0 < key <= MAX_KEYSYM:
            return key
        case str() if len(key) == 1 and key.isprintable():
            number = ord(key)
            return number if any(number in latin for latin in _LATIN_1) else _UNICODE + number
        case str() if key in keysyms():
            return keysyms()[key]
        case str():
            raise ValueError(f"unknown key{_hint(key)}; expected an X key name, a character, or a number")
        case _:
            raise ValueError(f"expected an X key name, a character, or a number of 1 to {MAX_KEYSYM:#x}")


def _hint(key: str) -> str:
    folded = {name.casefold(): name for name in keysyms()}
    close = [folded[name] for name in difflib.get_close_matches(key.casefold(), folded)]
    return f" (case matters); the nearest: {', '.join(close)}" if close else ""


Key = Annotated[int, BeforeValidator(keysym)]


class ChoiceTable(Table):
    """One action of a discrete set: the keys that are held, or with ``tap`` pressed and released."""

    name: str
    keys: list[Key]


class SpacesTable(Table):
    """The actions and observations of an environment; see ``pluriverse_protocol.env_spaces.Spaces``."""

    discrete: list[ChoiceTable] = []
    tap: bool = False
    keys: list[Key] = []
    pointer: bool = False
    relative: bool = False
    buttons: int = 3
    text: bool = False
    observation: list[int] | None = None
    step: Key | None = None
    submit: bool = False

    @model_validator(mode="after")
    def _fits_the_protocol(self) -> SpacesTable:
        self.spaces().as_json()
        return self

    def spaces(self, pads: int = 0) -> Spaces:
        return Spaces(
            discrete=tuple(Choice(choice.name, tuple(choice.keys)) for choice in self.discrete),
            tap=self.tap,
            keys=tuple(self.keys),
            pointer=self.pointer,
            relative=self.relative,
            buttons=self.buttons,
            text=self.text,
            observation=tuple(self.observation) if self.observation is not None else None,
            step=self.step,
            pads=pads,
            submit=self.submit,
        )


_known: WeakValueDictionary[str, SpacesTable] = WeakValueDictionary()


def _shared(value: Any, validate: ValidatorFunctionWrapHandler) -> SpacesTable:
    # Catalogues list thousands of environments that share few spaces: validate and keep each once.
    text = repr(value)
    table = _known.get(text)
    if table is None:
        table = _known[text] = validate(value)
    return table


SharedSpacesTable = Annotated[SpacesTable, WrapValidator(_shared)]
