"""What tasks are varied by: words and names, none of which is part of another, and plain texts of them."""

from __future__ import annotations

from random import Random

_WORDS = """
amber birch cedar delta ember fjord grove heron ivory jetty kayak lemon maple north ocean pearl quartz river saddle
timber velvet willow yonder zephyr bridge candle falcon garden hammer island jacket kettle ladder marble needle
orchid pepper rabbit silver tunnel
"""
_NAMES = """
Ada Bruno Clara Dmitri Elena Farid Greta Hugo Ines Jonas Katya Lars Mina Noor Oskar Petra Quinn Rosa Sami Tilda
Umar Vera Wanda Yusuf Zoe
"""
_GOODS = """
apples bread carrots dates eggs flour grapes honey juice kale lentils milk nuts oats pears rice salt tea
"""


def _split(text: str) -> list[str]:
    return text.split()


WORDS = _split(_WORDS)
NAMES = _split(_NAMES)
GOODS = _split(_GOODS)


def line(rng: Random, words: int = 5) -> str:
    return " ".join(rng.sample(WORDS, words))


def lines(rng: Random, count: int, words: int = 5) -> list[str]:
    """Return so many lines, no two the same."""
    return [f"{first} {line(rng, words - 1)}" for first in rng.sample(WORDS, count)]


def word(rng: Random) -> str:
    return rng.choice(WORDS)


def file(rng: Random, ending: str = "txt") -> str:
    return f"{word(rng)}{rng.randrange(10, 100)}.{ending}"
