"""Numbers whose glyphs touch, overlap, have outlines, stand on any flat ground or in tilted lines: learnt, and read."""

from __future__ import annotations

import numpy as np
import pytest
from pluriverse_server.authoring.learn import learn
from pluriverse_server.sources.screen.line import CLEAR, Line
from support.glyphs import Style, draw

BOLD = "DejaVuSans-Bold"
TAUGHT, UNSEEN = 120, 150

STYLES = {
    "touching": Style(BOLD, 18, squeeze=2),
    "overlapping": Style(BOLD, 18, squeeze=3, colour=(255, 220, 0), align="right"),
    "outlined": Style(BOLD, 18, outline=2, background="clouds", align="right"),
    "on flat grounds that vary": Style(size=18, background="flats", colour=(128, 128, 128)),
    "tilted and scaled": Style(BOLD, 18, tilt=4, scale=0.06, height=40),
}


def numbers(count: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [str(random.integers(0, 10 ** random.integers(2, 7))) for _ in range(count)]


# Finding the ink takes some seconds of a processor.
@pytest.mark.timeout(300)
@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_what_was_learnt_reads_what_was_not_seen_and_never_wrongly(style: Style) -> None:
    lesson = learn([(draw(text, style, seed), text) for seed, text in enumerate(numbers(TAUGHT, 0))])
    line = Line(lesson.glyphs)
    read = right = 0
    for seed, text in enumerate(numbers(UNSEEN, 1)):
        spelling = line.read(draw(text, style, 5000 + seed))
        if spelling.confidence >= CLEAR:
            read += 1
            right += spelling.text == text
    assert right == read
    assert right >= 0.98 * UNSEEN
