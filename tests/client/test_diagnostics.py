import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pluriverse.diagnostics import (
    FRAME_AT,
    PLAUSIBLE_S,
    PROBE_LOST_S,
    PROBE_S,
    Diagnostics,
    Frame,
    Place,
    Skew,
    find,
    place_of,
    read,
    reward_lags,
)
from pluriverse_protocol import metadata
from pluriverse_protocol.metadata import MAX_MILLISECONDS, Metadata

NOW = 1_700_000_000.0
MILLISECONDS = int(NOW * 1000)
NO_SKEW = Skew(0.0, 0.0)
PLACE = Place(40, 10)


def frame(block: Metadata | None, place: Place = PLACE, size: tuple[int, int] = (48, 64)) -> Frame:
    picture = np.zeros((*size, 3), np.uint8)
    if block is not None:
        rows = b"".join(metadata.encode(block))
        picture[place.y : place.y + 2, place.x : place.x + 6] = np.frombuffer(rows, np.uint8).reshape(2, 6, 3)
    return picture


def knowing(**options: bool) -> Diagnostics:
    diagnostics = Diagnostics(**options)
    diagnostics.described({"type": "pixels", "x": PLACE.x, "y": PLACE.y})
    return diagnostics


@given(st.integers(0, MAX_MILLISECONDS), st.integers(0, MAX_MILLISECONDS), st.integers(0, 58), st.integers(0, 46))
def test_block_is_found_and_read_wherever_it_is(clock: int, probe: int, x: int, y: int) -> None:
    block, place = Metadata(clock, probe), Place(x, y)
    picture = frame(block, place)
    assert find(picture) == place
    assert read(picture, place) == block


def test_picture_without_a_block_has_none() -> None:
    assert find(frame(None)) is None
    assert read(frame(None), PLACE) is None
    assert read(frame(None), Place(63, 47)) is None
    assert find(np.zeros((1, 3, 3), np.uint8)) is None


@pytest.mark.parametrize(
    "encoding", [None, "pixels", {"type": "qrcode"}, {"type": "pixels", "x": -1, "y": 0}, {"x": 1}]
)
def test_describe_may_tell_no_place(encoding: object) -> None:
    assert place_of(encoding) is None


def test_block_that_is_not_where_it_was_said_is_searched_less_and_less_often() -> None:
    diagnostics = knowing()
    moved = frame(Metadata(MILLISECONDS, 0), Place(3, 3))
    assert diagnostics.read(frame(None), NO_SKEW, NOW) is None
    assert diagnostics.read(frame(None), NO_SKEW, NOW + 1.0) is None
    assert diagnostics.read(moved, NO_SKEW, NOW + 2.5) is None
    assert diagnostics.read(moved, NO_SKEW, NOW + 3.0) == Metadata(MILLISECONDS, 0)


@given(st.integers(-20, 20))
def test_slightly_wrong_anchor_is_taken(off: int) -> None:
    picture = frame(Metadata(MILLISECONDS, 0))
    anchor = picture[10:12, 40:42].astype(int) + off
    picture[10:12, 40:42] = anchor.clip(0, 255)
    assert knowing().read(picture, NO_SKEW, NOW) == Metadata(MILLISECONDS, 0)


def test_block_that_went_through_jpeg_is_read_as_long_as_it_can_be_true() -> None:
    picture = frame(Metadata(MILLISECONDS, 0), size=(48, 64))
    compressed = io.BytesIO()
    Image.fromarray(picture).save(compressed, "JPEG", quality=100, subsampling=0)
    lossy = np.asarray(Image.open(compressed))
    assert not np.array_equal(lossy, picture)
    block = knowing().read(lossy, NO_SKEW, NOW)
    assert block is None or abs(block.clock / 1000 - NOW) <= PLAUSIBLE_S


@given(st.floats(PLAUSIBLE_S + 0.1, 1e6), st.booleans())
def test_clock_that_cannot_be_true_is_dropped(off: float, before: bool) -> None:
    at = NOW - off if before else NOW + off
    assert knowing().read(frame(Metadata(int(at * 1000), 0)), NO_SKEW, NOW) is None


def test_nothing_is_read_before_the_clocks_are_compared() -> None:
    assert knowing().read(frame(Metadata(MILLISECONDS, 0)), None, NOW) is None


def test_age_of_a_picture_is_told_once_with_the_bounds_of_the_skew() -> None:
    diagnostics = knowing()
    skew = Skew(-0.010, 0.010)
    block = Metadata(MILLISECONDS - 30, 0)
    observation, _ = diagnostics.lags(block, skew, NOW)
    assert observation == pytest.approx((0.019, 0.040), abs=1e-6)
    assert diagnostics.lags(block, skew, NOW + 0.01) == (None, None)


def test_way_of_an_action_is_from_the_probe_sent_to_the_probe_received() -> None:
    diagnostics = knowing()
    assert diagnostics.probe_due(NOW)
    assert diagnostics.lags(Metadata(MILLISECONDS, 0), NO_SKEW, NOW)[1] is None
    _, action = diagnostics.lags(Metadata(MILLISECONDS + 20, MILLISECONDS + 7), Skew(0.0, 0.002), NOW + 0.03)
    assert action == pytest.approx((0.007, 0.010), abs=1e-6)


def test_one_probe_is_under_way_at_a_time_and_one_a_second() -> None:
    diagnostics = knowing()
    assert diagnostics.probe_due(NOW)
    assert not diagnostics.probe_due(NOW + 2 * PROBE_S)
    diagnostics.lags(Metadata(MILLISECONDS + 2500, MILLISECONDS + 1), NO_SKEW, NOW + 2.5)
    assert diagnostics.probe_due(NOW + 2.5)
    diagnostics.lags(Metadata(MILLISECONDS + 2700, MILLISECONDS + 2600), NO_SKEW, NOW + 2.7)
    assert not diagnostics.probe_due(NOW + 2.7)
    assert diagnostics.probe_due(NOW + 2.5 + PROBE_S)


def test_lost_probe_is_sent_again() -> None:
    diagnostics = knowing()
    assert diagnostics.probe_due(NOW)
    assert diagnostics.probe_due(NOW + PROBE_LOST_S)
    diagnostics.forget_probe()
    assert diagnostics.probe_due(NOW + PROBE_LOST_S + PROBE_S)


def test_probe_of_somebody_else_tells_nothing() -> None:
    diagnostics = knowing()
    diagnostics.lags(Metadata(MILLISECONDS, MILLISECONDS - 500), NO_SKEW, NOW)
    assert diagnostics.probe_due(NOW)
    assert diagnostics.lags(Metadata(MILLISECONDS + 1, MILLISECONDS - 100), NO_SKEW, NOW + 0.1)[1] is None


def test_lags_of_rewards_are_told_of_what_is_new() -> None:
    assert reward_lags({}, None, NO_SKEW, NOW, earned=True) == (None, None)
    info = {FRAME_AT: NOW - 0.5}
    assert reward_lags(info, None, NO_SKEW, NOW, earned=False) == (None, None)
    reward, message = reward_lags(info, NOW - 0.25, Skew(-0.1, 0.1), NOW, earned=True)
    assert reward == pytest.approx((0.4, 0.6))
    assert message == pytest.approx((0.15, 0.35))


def test_reward_that_was_dated_by_a_clock_that_was_set_since_has_no_lag() -> None:
    for step in (3600.0, -3600.0):
        info = {FRAME_AT: NOW + step}
        lags = reward_lags(info, NOW + step, NO_SKEW, NOW, earned=True, received_at=NOW)
        assert lags == (None, None)


def test_reward_that_was_taken_late_has_all_of_its_lag() -> None:
    info = {FRAME_AT: NOW - 3600.5}
    reward, _ = reward_lags(info, NOW - 3600.25, NO_SKEW, NOW, earned=True, received_at=NOW - 3600.0)
    assert reward == pytest.approx((3600.5, 3600.5))
