"""JSON as RFC 8259 has it: an object in UTF-8, no NaN, no infinity, bounded depth, and no error but ValueError."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, Final, NoReturn, cast

# Our own messages are six deep. Parsers and printers recurse, each with a limit of its own; this is below all of them.
MAX_DEPTH: Final = 64


def parse_object(data: str | bytes, *, max_depth: int = MAX_DEPTH) -> dict[str, Any]:
    """The JSON object that ``data`` holds, of at most ``max_depth`` levels.

    Raises:
        ValueError: it holds none; says why.
    """
    try:
        text = data if isinstance(data, str) else data.decode()
        document = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ValueError(f"expected a JSON object, got {type(document).__name__}")
    _check_depth(text, cast("object", document), max_depth)
    return cast("dict[str, Any]", document)


def dump(document: dict[str, Any]) -> str:
    """``document`` on one line.

    Raises:
        ValueError: it holds what JSON can't carry: NaN, infinity, an object, a cycle, over MAX_DEPTH levels.
    """
    try:
        text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    _check_depth(text, document, MAX_DEPTH)
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


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError(f"{literal:.80} is too large")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON's")
