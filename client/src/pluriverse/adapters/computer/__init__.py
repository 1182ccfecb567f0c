"""Computer use: a screen to look at and hands that act.

``Computer`` plays an environment, ``AsyncComputer`` for asyncio; ``calls.read`` reads what language models ask for.
"""

from __future__ import annotations

from .acts import (
    Act,
    ActFor,
    Click,
    Drag,
    Hold,
    Look,
    Mark,
    Move,
    Place,
    Press,
    Scroll,
    Step,
    Submit,
    Type,
    Wait,
    Where,
)
from .answer import Answer
from .asynchronous import AsyncComputer
from .computer import Computer, Frame
from .images import Image
from .tree import Tree
from .view import View

__all__ = [
    "Act",
    "ActFor",
    "Answer",
    "AsyncComputer",
    "Click",
    "Computer",
    "Drag",
    "Frame",
    "Hold",
    "Image",
    "Look",
    "Mark",
    "Move",
    "Place",
    "Press",
    "Scroll",
    "Step",
    "Submit",
    "Tree",
    "Type",
    "View",
    "Wait",
    "Where",
]
