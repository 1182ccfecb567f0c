"""Scripts for tasks of World of Bits that are read: they find widgets in the accessibility tree by role and name.

None acts before the instruction has come, which is text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from pluriverse.adapters.computer import Act, Click, Type
from pluriverse.adapters.computer.tree import middle
from pluriverse_eval.agents import Seen
from pluriverse_protocol.tree import Node

from .wob import TOP

PUNCTUATION: Final = ".,;:!?"


def click_button(seen: Seen) -> Any:
    """Click the button that is named."""
    names = quoted(seen.text)
    return click([node for node in find(widgets(seen), "button") if node.name in names])


def click_link(seen: Seen) -> Any:
    """Click the link that is named; these links are text to the page."""
    names = quoted(seen.text)
    return click([node for node in widgets(seen) if node.name in names])


def click_checkboxes(seen: Seen) -> Any:
    """Tick the boxes that are named, then submit."""
    if not seen.text:
        return None
    nodes = widgets(seen)
    names = seen.text.removeprefix("Select ").removesuffix(" and click Submit.").split(", ")
    wanted = [node for node in find(nodes, "checkbox") if node.name in names and node.value == "false"]
    return [*(Click(at=middle(node.box)) for node in wanted), *(click(find(nodes, "button", "Submit")) or ())]


def enter_text(seen: Seen) -> Any:
    """Type the text that is given, then submit."""
    return fill(seen, quoted(seen.text), "Submit")


def login_user(seen: Seen) -> Any:
    """Type the name and the password, then log in."""
    return fill(seen, quoted(seen.text), "Login")


def find_word(seen: Seen) -> Any:
    """Type the word of the text whose number is given, then submit."""
    if not seen.text:
        return None
    number = int(re.findall(r"\d+", seen.text)[0])
    words = " ".join(node.name for node in find(widgets(seen), "text")).split()
    return fill(seen, [words[number - 1].strip(PUNCTUATION)], "Submit") if len(words) >= number else None


def quoted(text: str) -> list[str]:
    """Return what an instruction has in quotation marks."""
    return re.findall(r'"(.*?)"', text)


def widgets(seen: Seen) -> Sequence[Node]:
    """Return what there is below the instruction."""
    return [node for node in seen.play.tree().nodes if node.box[1] >= TOP]


def find(nodes: Sequence[Node], role: str, name: str | None = None) -> list[Node]:
    """Return the nodes of a role, and a name."""
    return [node for node in nodes if node.role == role and name in (None, node.name)]


def click(nodes: Sequence[Node]) -> list[Act] | None:
    """Return a click at the first of some nodes, or None before they appear."""
    return [Click(at=middle(nodes[0].box))] if nodes else None


def fill(seen: Seen, texts: Sequence[str], button: str) -> Any:
    """Return what fills each field with its text, instead of what is there, and then clicks a button."""
    nodes = widgets(seen)
    fields = find(nodes, "textbox")
    if not texts or len(fields) < len(texts):
        return None
    acts: list[Act] = []
    for node, text in zip(fields, texts, strict=False):
        acts += Click(at=middle(node.box), count=3), Type(text)
    return [*acts, *(click(find(nodes, "button", button)) or ())]
