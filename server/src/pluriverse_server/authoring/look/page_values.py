"""The tree of the page that is looked at, and its scripts' own values, each with the expression that reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any, Final

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.sources.page.devtools import DevToolsError
from pluriverse_server.sources.page.page import Page
from pluriverse_server.sources.program.patterns import number_or_text

from .found import Found

# A person waits this long for the list.
MAX_LOOK_S: Final = 5.0

LIMITS: Final = {"elements": 500, "values": 3000, "looked": 50_000, "chars": 200, "depth": 5, "keys": 200}

# A number as pages write it, with thousands apart from each other; in Python's words and in JavaScript's.
_NUMBER: Final = r"-?\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?"
_SEPARATORS: Final = r"[,\u00a0\u202f]"

_TEXT: Final = re.compile(r"(document\.querySelector\(.*\))\.textContent")

_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")


async def values_in_page(page: Page) -> tuple[list[dict[str, Any]], list[Found]]:
    """Return the page's elements with a text (``path``, ``text``, ``expression``, ``box``), and all its values.

    Raises:
        AuthoringError: the page is gone, or hangs.
    """
    script = resources.files("pluriverse_server.authoring.look").joinpath("page_values.js").read_text("utf-8")
    try:
        names = [name for name in await page.declared_names() if _NAME.fullmatch(name)]
        # One that isn't initialised yet throws.
        parts = ", ".join(f"get {name}() {{ try {{ return {name}; }} catch {{}} }}" for name in names)
        declared = f"() => ({{ {parts} }})"
        found: Any = await page.ask(f"({script.strip()})({declared}, {json.dumps(LIMITS)})", MAX_LOOK_S)
    except DevToolsError as error:
        raise AuthoringError(f"the page doesn't answer: {error}") from error
    if not found:
        raise AuthoringError("the page is being loaded; try again")
    elements: list[dict[str, Any]] = found["elements"]
    values = [_found(one["expression"], one["value"]) for one in found["values"] if one["value"] is not None]
    return elements, [source for element in elements for source in _of_text(element)] + values


async def values_at(page: Page, region: Sequence[int]) -> list[Found]:
    """Return the texts, and the numbers in them, of the elements at a region of the screen, the smallest first.

    Raises:
        AuthoringError: the page is gone, or hangs.
    """
    elements, _ = await values_in_page(page)
    there = [
        element for element in elements if _has_middle(element["box"], region) or _has_middle(region, element["box"])
    ]
    there.sort(key=lambda element: element["box"][2] * element["box"][3])
    return [source for element in there for source in _of_text(element)]


def _has_middle(box: Sequence[float], of: Sequence[float]) -> bool:
    x, y = of[0] + of[2] / 2, of[1] + of[3] / 2
    return box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3]


def _of_text(element: dict[str, Any]) -> list[Found]:
    """Return a text as a value, and each number in it."""
    expression, text = element["expression"], element["text"]
    found = [Found(element["path"], number_or_text(text), {"value": expression})]
    for index, number in enumerate(re.findall(_NUMBER, text)):
        # Without the number it is NaN, which is an error rather than a reward.
        nth = f'({expression}.match(/{_NUMBER}/g) ?? [])[{index}]?.replace(/{_SEPARATORS}/g, "")'
        value = number_or_text(re.sub(_SEPARATORS, "", number))
        found.append(Found(f"number in {element['path']}", value, {"value": f"Number({nth})"}))
    return found


def where_seen(expression: str) -> str:
    """Return an element's text only where that can be seen: an end's is often there all the time, hidden."""
    element = _TEXT.fullmatch(expression)
    if element is None:
        return expression
    return f"{element[1]}.checkVisibility({{ opacityProperty: true, visibilityProperty: true }}) && {expression}"


def _found(expression: str, value: Any) -> Found:
    return Found(expression, value, {"value": expression})
