"""The program's side: questions as they come on standard input, and answers to standard output."""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from PIL import Image

from pluriverse_server.manifest.conditions import Value


@dataclass(frozen=True, slots=True)
class Question:
    """What a picture shows of a source, whose values are of a ``kind``; ``region`` is x, y, width, height in pixels."""

    id: int
    source: str
    kind: str | None
    region: tuple[int, int, int, int]
    png: bytes

    def crop(self) -> Image.Image:
        """Return what is in the region, in RGB."""
        picture = Image.open(io.BytesIO(self.png)).convert("RGB")
        x, y, width, height = self.region
        return picture if picture.size == (width, height) else picture.crop((x, y, x + width, y + height))


def questions() -> Iterator[Question]:
    """Yield each question, until there are no more."""
    for line in sys.stdin:
        asked = json.loads(line)
        region = tuple(asked["region"])
        yield Question(asked["id"], asked["source"], asked["kind"], region, base64.b64decode(asked["png"]))


def answer(question: Question, value: Value, confidence: float) -> None:
    """Answer a question; a ``value`` of None says that the picture doesn't show one."""
    print(json.dumps({"id": question.id, "value": value, "confidence": confidence}), flush=True)
