from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from pluriverse.evaluation.plot import HEIGHT, WIDTH, Point, Scale, plot
from pluriverse.evaluation.statistics import Estimate

numbers = st.floats(-1e6, 1e6)


@given(st.lists(numbers, min_size=1, max_size=9))
def test_every_value_is_on_its_scale_between_round_lines(values: list[float]) -> None:
    scale = Scale(values, 10, 110)
    assert all(10 - 1e-6 <= scale.at(value) <= 110 + 1e-6 for value in values)
    assert 2 <= len(scale.lines) <= 12
    assert scale.lines[0] <= min(values)
    assert scale.lines[-1] >= max(values)


@given(st.lists(st.builds(Point, st.text(), st.floats(0, 60_000), st.just(Estimate(50, 40, 60, 9))), min_size=1))
def test_drawing_is_whole_whatever_modes_are_called(points: list[Point]) -> None:
    points = [Point("".join(c for c in each.name if c.isprintable()), each.lag_ms, each.score) for each in points]
    drawn = ET.fromstring(plot(points))  # noqa: S314 - it is ours
    circles = drawn.findall("circle")
    assert len(circles) == len(points)
    assert all(0 <= float(each.attrib["cx"]) <= WIDTH and 0 <= float(each.attrib["cy"]) <= HEIGHT for each in circles)
