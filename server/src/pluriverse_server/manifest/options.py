"""``options`` of an environment in runtime.toml; see ``pluriverse_protocol.env_options``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, cast
from weakref import WeakValueDictionary

from pluriverse_protocol.env_options import Option, parse
from pluriverse_protocol.kinds import write
from pydantic import PlainSerializer, PlainValidator

_KEYS: Final = Option.__struct_fields__


class Options(dict[str, Option]):
    """Options by name; a class of its own, since dicts can't be shared by weak references."""


_known: WeakValueDictionary[str, Options] = WeakValueDictionary()


def _read(value: Any) -> Options:
    # Catalogues list thousands of environments that share few options: read and keep each once.
    text = repr(value)
    options = _known.get(text)
    if options is None:
        _check_keys(value)
        options = _known[text] = Options(parse(value))
    return options


def _check_keys(value: Any) -> None:
    """Check that no option has a key that is misspelt; agents pass over what they don't know."""
    if not isinstance(value, Mapping):
        return
    for name, option in cast("Mapping[Any, Any]", value).items():
        for key in cast("Mapping[Any, Any]", option) if isinstance(option, Mapping) else ():
            if key not in _KEYS:
                raise ValueError(f"the option {name!r}: unknown key {key!r}, expected one of: {', '.join(_KEYS)}")


def _write(options: Options) -> dict[str, Any]:
    return {name: write(option) for name, option in options.items()}


OptionsTable = Annotated[Options, PlainValidator(_read), PlainSerializer(_write)]
