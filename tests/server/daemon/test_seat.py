"""The seat of an agent that may come back: what it missed is sent again, all of it and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.messages import Describe, Observation, PingReply, Reward, ServerMessage, Text
from pluriverse_server.daemon import seat as module
from pluriverse_server.daemon.seat import Seat
from pluriverse_server.daemon.send_queue import QueuedMessage


def put(seat: Seat, *messages: ServerMessage) -> None:
    for message in messages:
        seat.send_queue.put(QueuedMessage(message, 1.0, episode_id=1))


def send(seat: Seat) -> list[tuple[int | None, ServerMessage]]:
    """Send what waits; return it with its numbers."""
    sent: list[tuple[int | None, ServerMessage]] = []
    while (queued := seat.send_queue.get()) is not None:
        number = seat.next_number(queued)
        text = queued.encode(0, number)
        assert json.loads(text)["headers"].get("number") == number
        if number is not None:
            seat.keep(queued, len(text))
        sent.append((number, queued.message))
    return sent


def rewards(*values: float) -> list[Reward]:
    return [Reward(value, done=False) for value in values]


def test_what_an_agent_must_not_miss_is_numbered_and_replies_are_not() -> None:
    seat = Seat("a")
    messages = [Describe("toy.First-v0", "running", 60.0), PingReply(), *rewards(1), Text("x"), Observation([1])]
    put(seat, *messages)
    assert send(seat) == list(zip((1, None, 2, 3, 4), messages, strict=True))


def test_queue_of_the_connection_before_is_empty_afterwards() -> None:
    seat = Seat("a")
    before = seat.send_queue
    put(seat, *rewards(1))
    assert seat.resume(0)
    assert before.get() is None
    assert send(seat) == [(1, rewards(1)[0])]


@pytest.mark.parametrize("last_number", [4, 10**9])
def test_agent_that_has_more_than_was_sent_is_not_ours(last_number: int) -> None:
    seat = Seat("a")
    put(seat, *rewards(1, 2, 3))
    send(seat)
    assert not seat.resume(last_number)


def test_too_many_observations_are_forgotten_first_and_rewards_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEPT_MESSAGES", 4)
    seat = Seat("a")
    for value in (1.0, 2.0, 3.0):
        put(seat, Observation([value]), *rewards(value))
    send(seat)
    assert seat.resume(0)
    assert [message for _, message in send(seat)] == [*rewards(1, 2), Observation([3.0]), *rewards(3)]


def test_agent_that_missed_too_many_rewards_cannot_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEPT_MESSAGES", 2)
    seat = Seat("a")
    put(seat, *rewards(1, 2, 3))
    send(seat)
    assert not seat.resume(0)
    assert seat.resume(1)


def test_kept_bytes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEPT_BYTES", 5000)
    seat = Seat("a")
    put(seat, *[Observation("x" * 2000) for _ in range(5)], *rewards(1))
    send(seat)
    assert seat.resume(0)
    assert [type(message) for _, message in send(seat)] == [Observation, Observation, Reward]


@given(st.lists(st.sampled_from(["earn", "send", "arrive", "break"]), max_size=60))
def test_every_reward_arrives_once_whenever_the_line_breaks(steps: list[str]) -> None:
    seat = Seat("a")
    given = 0
    # What was sent and hasn't arrived, and what the agent has.
    under_way: list[tuple[int, ServerMessage]] = []
    had: list[ServerMessage] = []
    last_number = 0
    for step in [*steps, "break", "send", *["arrive"] * 70]:
        match step:
            case "earn":
                given += 1
                put(seat, *rewards(given))
            case "send":
                under_way += [(number, message) for number, message in send(seat) if number is not None]
            case "arrive" if under_way:
                number, message = under_way.pop(0)
                assert number == last_number + 1
                last_number = number
                had.append(message)
                if given % 3 == 0:
                    seat.acknowledge(last_number)
            case "break":
                under_way.clear()
                assert seat.resume(last_number)
            case _:
                pass
    assert had == rewards(*range(1, given + 1))
