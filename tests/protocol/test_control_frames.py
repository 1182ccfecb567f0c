from pluriverse_protocol.control_frames import ControlFrames
from pluriverse_protocol.limits import MAX_CONTROL_FRAMES_AT_ONCE, MAX_CONTROL_FRAMES_PER_S


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_taken_and_no_more_until_time_has_passed() -> None:
    clock = Clock()
    frames = ControlFrames(clock)
    assert all(frames.take() for _ in range(MAX_CONTROL_FRAMES_AT_ONCE))
    assert not frames.take()
    clock.now = 2 / MAX_CONTROL_FRAMES_PER_S
    assert frames.take()
    assert not frames.take()


def test_whoever_keeps_to_the_rate_is_never_over_it() -> None:
    clock = Clock()
    frames = ControlFrames(clock)
    for number in range(10 * MAX_CONTROL_FRAMES_AT_ONCE):
        clock.now = number / MAX_CONTROL_FRAMES_PER_S
        assert frames.take()


def test_a_long_silence_earns_one_burst() -> None:
    clock = Clock()
    frames = ControlFrames(clock)
    clock.now = 1e6
    assert sum(frames.take() for _ in range(2 * MAX_CONTROL_FRAMES_AT_ONCE)) == MAX_CONTROL_FRAMES_AT_ONCE
