import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.kit.pacer import Pacer

RATES = st.floats(0.5, 1000)
PAUSES = st.lists(st.floats(0, 0.2), max_size=60)
STARTS = st.floats(0, 1e6)


def test_first_frame_is_due_at_the_start() -> None:
    pacer = Pacer(60, 10.0)
    assert not pacer.take(9.999)
    assert pacer.take(10.0)
    assert pacer.next_due == pytest.approx(10 + 1 / 60)


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf")])
def test_a_rate_that_cannot_be_paced_is_refused(fps: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        Pacer(fps, 0.0)


@given(RATES, STARTS, PAUSES)
def test_frames_that_were_due_were_taken_or_are_late_and_no_two_fall_into_one_period(
    fps: float, start: float, pauses: list[float]
) -> None:
    pacer, now = Pacer(fps, start), start
    for pause in pauses:
        now += pause
        pacer.take(now)
        assert not pacer.take(now)
        assert now < pacer.next_due <= max(start, now + 1 / fps + 1e-9)
    due = pacer.frames + pacer.late_frames
    assert start + (due - 1) / fps <= now or due == 0
    assert now < start + due / fps or due == 0
