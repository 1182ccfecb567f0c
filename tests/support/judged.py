"""How well a reader reads crops that it hasn't seen before."""

from collections.abc import Callable, Iterable

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import Source
from pluriverse_server.sources.reading import ScreenReader

from .glyphs import Pixels

# A reading with less doesn't count.
CONFIDENCE: float = Source.model_fields["confidence"].default


def judged(
    reader: ScreenReader,
    crops: Iterable[tuple[Pixels, Value]],
    same: Callable[[Value, Value], bool] = lambda a, b: a == b,
) -> tuple[float, int]:
    """The share of crops that are read right, and how many are read wrong; a reading without confidence is neither."""
    right: list[bool] = []
    wrong = 0
    for pixels, true in crops:
        value, confidence = reader.read(pixels)
        sure = confidence >= CONFIDENCE
        right.append(sure and same(value, true))
        wrong += sure and value is not None and not same(value, true)
    return sum(right) / len(right), wrong


def near(within: float) -> Callable[[Value, Value], bool]:
    """Whether two numbers differ by that at most."""
    return lambda one, other: isinstance(one, float) and isinstance(other, float) and abs(one - other) <= within
