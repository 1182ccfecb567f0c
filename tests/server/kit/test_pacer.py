"""The pacer."""

from __future__ import annotations

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


def test_frames_in_time_are_never_late() -> None:
    pacer = Pacer(60, 0.0)
    for _ in range(1000):
        assert pacer.take(pacer.next_due)
    assert (pacer.frames, pacer.late_frames) == (1000, 0)


def test_a_program_behind_by_three_periods_skips_three_frames_and_stays_on_the_grid() -> None:
    pacer = Pacer(10, 0.0)
    assert pacer.take(0.0)
    assert pacer.take(0.45)
    assert (pacer.frames, pacer.late_frames) == (2, 3)
    assert pacer.next_due == pytest.approx(0.5)


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf")])
def test_a_rate_that_cannot_be_paced_is_refused(fps: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        Pacer(fps, 0.0)


@given(RATES, STARTS, PAUSES)
def test_frames_and_late_frames_are_all_frames_that_were_due(fps: float, start: float, pauses: list[float]) -> None:
    pacer, now = Pacer(fps, start), start
    for pause in pauses:
        now += pause
        pacer.take(now)
    due = pacer.frames + pacer.late_frames
    assert start + (due - 1) / fps <= now or due == 0
    assert now < start + due / fps or due == 0


@given(RATES, STARTS, PAUSES)
def test_no_two_frames_fall_into_one_period(fps: float, start: float, pauses: list[float]) -> None:
    pacer, now = Pacer(fps, start), start
    for pause in pauses:
        now += pause
        pacer.take(now)
        assert not pacer.take(now)
        assert now < pacer.next_due <= max(start, now + 1 / fps + 1e-9)
