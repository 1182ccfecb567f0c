from __future__ import annotations

import numpy as np
from pluriverse_server.authoring.cutting import MAX_TRIED, SAMPLE, best_ways
from support.glyphs import Style, draw

STYLE = Style("DejaVuSans", colour=(255, 220, 0), behind=(30, 30, 120))


def test_the_best_way_cuts_by_the_glyphs_own_colour() -> None:
    labels = ["012", "345", "6789"]
    ways = best_ways([draw(label, STYLE) for label in labels], labels)
    assert len(ways) == MAX_TRIED
    assert ways[0].cut_well == 3
    assert ways[0].characters == set("0123456789")
    assert ways[0].ink.strength(np.array([[(0, 220, 255, 0), (120, 30, 30, 0)]], np.uint8)).tolist() == [[1, 0]]


def test_a_way_that_a_sample_suggests_is_applied_to_all_crops() -> None:
    labels = [str(number) for number in range(100, 100 + 3 * SAMPLE)]
    way = best_ways([draw(label, STYLE) for label in labels], labels)[0]
    assert len(way.pieces) == len(way.labels) == len(labels)
    assert way.cut_well == len(labels)


def test_a_rare_character_gets_into_the_sample() -> None:
    labels = ["1"] * (4 * SAMPLE)
    labels[SAMPLE + 5] = "7"
    way = best_ways([draw(label, STYLE) for label in labels], labels)[0]
    assert way.characters == {"1", "7"}


def test_zeros_that_labels_leave_out_are_filled_in() -> None:
    values = [7, 12, 345, 6_890]
    way = best_ways([draw(f"{value:05}", STYLE) for value in values], [str(value) for value in values])[0]
    assert way.labels == ("00007", "00012", "00345", "06890")
