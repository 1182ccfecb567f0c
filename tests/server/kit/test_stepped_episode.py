import numpy as np
import pytest
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.reports import TIME_LIMIT, Done, Frame, Observation, Report, Reset, Reward
from pluriverse_server import kit
from pluriverse_server.permitted import Permitted
from support.report_server import ReportServer

A, B = ord("a"), ord("b")


class Counter(kit.SteppedEpisode):
    """Earns 1 for each frame with A held; B ends it."""

    def __init__(self, request: Reset, reporter: kit.Reporter, spaces: Spaces | None = None) -> None:
        super().__init__(request, reporter, spaces)
        self.held: list[frozenset[int]] = []
        self.drawn = 0
        self.skipped = 0

    def step(self, keys: frozenset[int]) -> kit.Outcome:
        self.held.append(keys)
        return kit.Outcome(float(A in keys), terminated=B in keys, reason="b" if B in keys else "")

    def skip(self, keys: frozenset[int]) -> kit.Outcome:
        self.skipped += 1
        return self.step(keys)

    def see(self) -> kit.Seen:
        return kit.Seen(np.full((1, 1, 3), len(self.held), np.uint8))

    def draw(self) -> None:
        self.drawn += 1

    def said(self) -> list[Report]:
        return [Observation(self.episode, len(self.held))]

    def info(self) -> dict[str, object]:
        return {"lives": 3 - len(self.held) // 10}


@pytest.fixture
def counter(reporter: kit.Reporter) -> Counter:
    return Counter(Reset(7, "toy.Counter-v0", 1, 10.0, time_limit_s=2.0), reporter)


def test_agent_may_press_what_the_episodes_spaces_name_or_else_those_declared(reporter: kit.Reporter) -> None:
    request = Reset(7, "toy.Counter-v0", 1, 10.0, spaces=Spaces(keys=(A,)))
    assert Counter(request, reporter).permitted == Permitted(frozenset({A}), pointer=False)
    assert Counter(request, reporter, Spaces(keys=(B,))).permitted == Permitted(frozenset({B}), pointer=False)
    assert Counter(Reset(7, "toy.Counter-v0", 1, 10.0), reporter).permitted is None


def press(keysym: int) -> KeyEvent:
    return KeyEvent(keysym, down=True)


def pay(counter: Counter) -> None:
    due = counter.due(watched=False)
    # On a busy machine it has come already, and they were told as they came.
    if due is not None:
        counter.attend(due, watched=False)


def test_keys_stay_down_until_they_are_released_and_a_tap_counts_in_one_frame(counter: Counter) -> None:
    counter.play([press(A)], 2)
    counter.play([KeyEvent(A, down=False), PointerEvent(1, 1, 0)], 1)
    counter.play([press(A), KeyEvent(A, down=False)], 2)
    assert counter.held == [frozenset({A}), frozenset({A}), frozenset(), frozenset({A}), frozenset()]


def test_step_of_several_frames_earns_what_all_of_them_do(counter: Counter, daemon: ReportServer) -> None:
    assert counter.play([press(A)], 3) == kit.Outcome(3.0)
    reward = daemon.expect(Reward)
    assert (reward.episode, reward.reward, reward.info) == (7, 3.0, {})


def test_change_of_what_is_known_is_told_once_also_without_a_reward(counter: Counter, daemon: ReportServer) -> None:
    counter.play([], 9)
    counter.play([], 1)
    reward = daemon.expect(Reward)
    assert (reward.reward, reward.info) == (0.0, {"lives": 2})
    counter.play([press(A)], 1)
    pay(counter)
    assert daemon.expect(Reward).info == {}


def test_rewards_that_follow_at_once_are_told_together_and_none_is_lost(counter: Counter, daemon: ReportServer) -> None:
    for _ in range(4):
        counter.play([press(A)], 1)
    assert daemon.expect(Reward).reward == 1.0
    pay(counter)
    assert daemon.expect(Reward).reward == 3.0
    assert counter.due(watched=False) is None
    counter.play([], 1)
    assert counter.play([KeyEvent(A, down=False), press(B)], 1).reward == 0.0
    assert daemon.expect(Done).reward == 1.0
    assert counter.due(watched=False) is None


def test_only_the_last_frame_of_a_step_is_to_be_seen(counter: Counter) -> None:
    counter.play([], 3)
    counter.play([press(A)], 1)
    assert (len(counter.held), counter.skipped) == (4, 2)
    counter.play([], 40)
    assert (len(counter.held), counter.skipped) == (20, 17)


def test_time_limit_counts_frames_of_the_program(counter: Counter, daemon: ReportServer) -> None:
    assert not counter.play([], 19).is_last
    outcome = counter.play([press(A)], 5)
    assert (outcome.reward, outcome.truncated, outcome.reason) == (1.0, True, TIME_LIMIT)
    assert len(counter.held) == 20
    assert daemon.expect(Done).truncated


def test_observers_hear_of_frames_now_and_then(counter: Counter, daemon: ReportServer) -> None:
    counter.play([], 1)
    counter.play([], 1)
    frame, observation = daemon.next(), daemon.next()
    assert isinstance(frame, Frame)
    assert (frame.frames, observation) == (1, Observation(7, 1))
    counter.play([press(A)], 1)
    assert isinstance(daemon.next(), Reward)


def test_frame_is_shown_once_and_not_sooner_than_a_sixtieth_of_a_second_after_the_last(counter: Counter) -> None:
    counter.play([], 1)
    counter.attend(100.0, watched=False)
    assert counter.drawn == 0
    assert counter.due(watched=False) is None
    for _ in range(2):
        counter.attend(100.0, watched=True)
    assert counter.drawn == 1
    counter.play([], 1)
    counter.attend(100.01, watched=True)
    assert counter.drawn == 1
    counter.attend(100.02, watched=True)
    assert counter.drawn == 2
    assert counter.due(watched=True) is None


def test_turn_based_steps_are_presses_of_their_keys_whatever_the_frames(counter: Counter) -> None:
    counter.turn_keys = frozenset({A})
    assert counter.play([press(A), KeyEvent(A, down=False), press(ord("x")), press(A)], 3).reward == 2.0
    assert counter.held == [frozenset({A}), frozenset({A})]
