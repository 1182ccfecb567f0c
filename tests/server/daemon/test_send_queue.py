"""The send queue against a reader that may be as slow as it likes."""

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from pluriverse_protocol import Headers, encode
from pluriverse_protocol.messages import Describe, ErrorReply, Observation, PingReply, Reward, ServerMessage, Text
from pluriverse_server.daemon.send_queue import MAX_OBSERVATIONS, MAX_WAITING, MERGE_ABOVE, QueuedMessage, SendQueue
from support.wire import server_messages


def waiting(message: ServerMessage, episode_id: int | None = 1, queued_at: float = 0.0) -> QueuedMessage:
    return QueuedMessage(message, queued_at, episode_id)


def reward(amount: float, *, done: bool = False, **info: Any) -> Reward:
    return Reward(amount, done, dict(info))


def drain(send_queue: SendQueue) -> list[QueuedMessage]:
    taken: list[QueuedMessage] = []
    while (item := send_queue.get()) is not None:
        taken.append(item)
    return taken


def behind() -> SendQueue:
    """A send queue whose reader is just so far behind that rewards are merged, with a reward of 1 last."""
    send_queue = SendQueue()
    for _ in range(MERGE_ABOVE - 1):
        send_queue.put(waiting(PingReply(), None))
    send_queue.put(waiting(reward(1.0, frames=1, first=True), queued_at=1.0))
    assert len(send_queue) == MERGE_ABOVE
    return send_queue


class Reader(RuleBasedStateMachine):
    """One episode after the other goes in, in the machine's order; a reader takes some of it now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.send_queue = SendQueue()
        self.episode_id = 1
        self.serial = 0
        self.sums_in: Counter[int] = Counter()
        # What can be neither merged nor dropped, in order, as it went in.
        self.kept_in: list[Any] = [("running", 1)]
        self.observations_in: list[int] = []
        self.out: list[QueuedMessage] = []
        self.unmergeable = 1
        self.send_queue.put(waiting(Describe("toy", "running", 60.0)))

    @rule(amounts=st.lists(st.integers(-3, 3), min_size=1, max_size=100))
    def rewards(self, amounts: list[int]) -> None:
        for amount in amounts:
            self.sums_in[self.episode_id] += amount
            self.send_queue.put(waiting(reward(float(amount)), self.episode_id))

    @rule(count=st.integers(1, 100), text=st.booleans())
    def observations(self, count: int, *, text: bool) -> None:
        for _ in range(count):
            self.serial += 1
            self.observations_in.append(self.serial)
            message = Text(str(self.serial)) if text else Observation(self.serial)
            self.send_queue.put(waiting(message, self.episode_id))

    @rule(amount=st.integers(-3, 3))
    def episode_ends(self, amount: int) -> None:
        self.sums_in[self.episode_id] += amount
        self.send_queue.put(waiting(reward(float(amount), done=True), self.episode_id))
        self.kept_in.append(("done", self.episode_id))
        self.episode_id += 1
        for state in ("resetting", "running"):
            self.send_queue.put(waiting(Describe("toy", state, 60.0), self.episode_id))  # pyright: ignore[reportArgumentType]
            self.kept_in.append((state, self.episode_id))
        self.unmergeable += 3

    @rule(text=st.text(max_size=3))
    def reply(self, text: str) -> None:
        self.send_queue.put(waiting(ErrorReply(text), None))
        self.kept_in.append(("reply", text))
        self.unmergeable += 1

    @rule(count=st.integers(1, 300))
    def read(self, count: int) -> None:
        for _ in range(count):
            item = self.send_queue.get()
            if item is None:
                assert len(self.send_queue) == 0
                break
            self.out.append(item)

    @invariant()
    def what_waits_is_bounded(self) -> None:
        # Between two that can't be merged there is at most one reward more than what waited as it was.
        assert len(self.send_queue) <= MERGE_ABOVE + 2 * self.unmergeable + MAX_OBSERVATIONS

    def teardown(self) -> None:
        """All that is left is read, and nothing that counts has been lost, doubled or moved."""
        self.out += drain(self.send_queue)
        sums: Counter[int] = Counter()
        kept: list[Any] = []
        observations: list[int] = []
        ended: set[int] = set()
        for item in self.out:
            match item.message:
                case Reward(reward=amount, done=done):
                    assert item.episode_id is not None
                    assert item.episode_id not in ended
                    sums[item.episode_id] += int(amount)
                    if done:
                        ended.add(item.episode_id)
                        kept.append(("done", item.episode_id))
                case Describe(env_state=state):
                    kept.append((state, item.episode_id))
                case ErrorReply(message=text):
                    kept.append(("reply", text))
                case Observation(observation=serial):
                    observations.append(serial)
                case Text(text=text):
                    observations.append(int(text))
                case _:
                    raise AssertionError(item)
        assert kept == self.kept_in
        assert {key: value for key, value in sums.items() if value} == {
            key: value for key, value in self.sums_in.items() if value
        }
        assert observations == sorted(observations)
        assert len(observations) + self.send_queue.dropped_observations == len(self.observations_in)
        # Those that were dropped are older than all that waited at the time; the newest are always among what came.
        assert observations[-MAX_OBSERVATIONS:] == self.observations_in[-MAX_OBSERVATIONS:]


Reader.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
test_reader_of_any_pace_loses_nothing_that_counts = Reader.TestCase


def test_reward_of_a_reader_that_is_behind_is_merged_into_the_last_one() -> None:
    send_queue = behind()
    send_queue.put(QueuedMessage(Reward(2.0, done=True, info={"frames": 2}, terminated=True, frame_at=7.0), 2.0, 1))
    assert len(send_queue) == MERGE_ABOVE
    assert send_queue.merged_rewards == 1
    last = drain(send_queue)[-1]
    # It says of time what the later one says: that is when the sum was reached.
    assert last == QueuedMessage(
        Reward(3.0, done=True, info={"frames": 2, "first": True}, terminated=True, frame_at=7.0), 2.0, 1
    )


def test_reward_is_merged_past_observations_but_not_past_a_description() -> None:
    send_queue = behind()
    send_queue.put(waiting(Observation("seen")))
    send_queue.put(waiting(reward(2.0)))
    send_queue.put(waiting(Describe("toy", "resetting", 60.0), 2))
    send_queue.put(waiting(reward(4.0), 2))
    rewards = [(item.message.reward, item.episode_id) for item in drain(send_queue) if isinstance(item.message, Reward)]
    assert rewards == [(3.0, 1), (4.0, 2)]


def test_merged_rewards_beyond_all_numbers_stay_numbers() -> None:
    send_queue = behind()
    for _ in range(3):
        send_queue.put(waiting(reward(1.7e308)))
    last = drain(send_queue)[-1].message
    assert isinstance(last, Reward)
    assert 1.7e308 <= last.reward < float("inf")


def test_reader_that_is_hopelessly_behind_is_overflowing() -> None:
    send_queue = SendQueue()
    for _ in range(MAX_WAITING):
        send_queue.put(waiting(PingReply(), None))
    assert not send_queue.overflowing
    send_queue.put(waiting(PingReply(), None))
    assert send_queue.overflowing


@given(server_messages, st.integers(0, 99))
def test_each_connection_gets_the_frame_that_the_codec_would_make(message: ServerMessage, parent: int) -> None:
    queued = QueuedMessage(message, 1.5, 7, parent, 0.25, 1.25)
    for message_id in (0, 1):
        assert queued.encode(message_id) == encode(message, Headers(message_id, 1.5, 7, parent, 0.25, 1.25))
