import math

import pytest
from pluriverse_protocol.reports import Readings, decode_report, encode_line
from pluriverse_server.sources.reading import Reading, ReadingState, Sample


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_can_not_carry_is_told_as_nothing(value: float) -> None:
    told = Reading(3, 1.0, ReadingState.IMPLAUSIBLE, Sample(value, 2.0)).as_json()
    assert (told["value"], told["raw"], told["state"]) == (3, None, "implausible")
    report = Readings(1, {"score": told}, 2.0, 1.0)
    assert decode_report(encode_line(report)) == report


@pytest.mark.parametrize("value", [None, True, 7, 2.5, "nan"])
def test_all_else_is_told_as_it_was_read(value: float | str | None) -> None:
    assert Reading(sample=Sample(value, 2.0)).as_json()["raw"] is value
