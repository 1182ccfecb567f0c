from xml.etree import ElementTree as ET

from pluriverse_eval.plot import Point, plot
from pluriverse_eval.statistics import Estimate


def test_drawing_names_each_mode_at_its_lag() -> None:
    modes = {"live+200": 218.0, "paused": 0.0, "live": 17.0}
    drawn = ET.fromstring(plot([Point(name, lag, Estimate(50, (40, 60), 9, 9)) for name, lag in modes.items()]))  # noqa: S314 - it is ours
    texts = ["".join(text.itertext()) for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text in modes] == ["paused", "live", "live+200"]
    assert {"lag, ms", "score"} <= set(texts)
