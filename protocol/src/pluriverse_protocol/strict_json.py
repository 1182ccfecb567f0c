"""JSON as RFC 8259 has it: in UTF-8, no NaN, no infinity, bounded depth and numbers, and no error but ValueError."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isfinite
from typing import Any, Final, NoReturn, cast

# Our own messages are six deep. Parsers and printers recurse, each with a limit of its own; this is below all of them.
MAX_DEPTH: Final = 64

# An integer of more doesn't fit a double, so no other number can be added to it.
MAX_DIGITS: Final = 308


def _finite(literal: str) -> float:
    number = float(literal)
    if not isfinite(number):
        raise ValueError(f"{literal:.80} is too large")
    return number


def _integer(literal: str) -> int:
    if len(literal) > MAX_DIGITS:
        raise ValueError(f"{literal:.80} is too large")
    return int(literal)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} isn't a JSON number")


# Made once: json.loads and json.dumps make one for each call that has options.
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, parse_int=_integer)
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def parse(data: str | bytes, *, max_depth: int = MAX_DEPTH) -> Any:
    """Return the JSON value that ``data`` holds, of at most ``max_depth`` levels."""
    try:
        text = data if isinstance(data, str) else data.decode()
        # Hardly any message has whitespace around it, which only ``decode`` takes.
        document, end = _DECODER.raw_decode(text) if text.startswith(("{", "[")) else (None, -1)
        if end != len(text):
            document = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    _check_depth(text, document, max_depth)
    return document


def parse_object(data: str | bytes, *, max_depth: int = MAX_DEPTH) -> dict[str, Any]:
    document = parse(data, max_depth=max_depth)
    if not isinstance(document, dict):
        raise ValueError(f"expected a JSON object, got {type(document).__name__}")
    return cast("dict[str, Any]", document)


def dump(document: dict[str, Any], *, max_depth: int = MAX_DEPTH) -> str:
    try:
        text = _ENCODER.encode(document)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    _check_depth(text, document, max_depth)
    return text


def _check_depth(text: str, document: object, max_depth: int) -> None:
    # Hardly any message has brackets enough to be too deep, so hardly any is walked through.
    if text.count("[") + text.count("{") <= max_depth:
        return
    level: list[Any] = [document]
    for _ in range(max_depth):
        level = [item for container in level for item in _members(container) if isinstance(item, dict | list | tuple)]
        if not level:
            return
    raise ValueError(f"JSON nested too deeply, over {max_depth} levels")


def _members(container: Any) -> Iterable[Any]:
    return cast("dict[str, Any]", container).values() if isinstance(container, dict) else container
