import os
import select
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.control_frames import POLICY_VIOLATION
from pluriverse_protocol.events import KeyEvent
from pluriverse_protocol.limits import MAX_CONTROL_FRAMES_AT_ONCE, MAX_MESSAGE_BYTES
from pluriverse_protocol.messages import AgentStep, ErrorReply, FirstFrame, Headers, Reset, StepReply
from pluriverse_server.kit.step_channel import STEP_CHANNEL_VARIABLE, Asked, HandoverSocket, StepChannel
from support.step_channels import StepChannelAgent, StepChannelListener, tcp_pair
from websockets.frames import Frame, Opcode

STEP = '{"method": "v0.agent.step", "headers": {"message_id": 7, "sent_at": 1, "episode_id": "5"}, "body": %s}'
DEADLINE_S = 60.0


class Pair:
    def __init__(self) -> None:
        mine, theirs = tcp_pair()
        self.agent, self.step_channel = StepChannelAgent(mine), StepChannel(theirs)

    def receive(self) -> list[tuple[Asked, Headers]]:
        """What the step channel receives once anything has come."""
        assert select.select([self.step_channel], [], [], DEADLINE_S)[0]
        return self.step_channel.receive()

    def close(self) -> None:
        self.agent.close()
        self.step_channel.close()


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.close()


# ── what arrives ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_step_arrives_with_its_headers(pair: Pair) -> None:
    message_id = pair.agent.step(3, 4, [KeyEvent(99, True)], episode=5)
    ((step, headers),) = pair.receive()
    assert step == AgentStep(3, 4, (KeyEvent(99, True),))
    assert (headers.message_id, headers.episode_id) == (message_id, 5)
    assert pair.step_channel.receive() == []


def test_a_step_that_arrives_in_parts_is_whole(pair: Pair) -> None:
    pair.agent.protocol.send_text((STEP % '{"n": 1}').encode())
    data = b"".join(pair.agent.protocol.data_to_send())
    pair.agent.socket.sendall(data[:9])
    assert pair.receive() == []
    pair.agent.socket.sendall(data[9:])
    assert [step for step, _ in pair.receive()] == [AgentStep(1)]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (STEP % '{"n": 1, "frames": 0}', "'frames' is 0, expected integer of 1 to 3600"),
        ((STEP % '{"n": 1}').replace(', "episode_id": "5"', ""), "a step names its episode in the header episode_id"),
    ],
)
def test_a_message_that_is_no_step_gets_an_error_and_the_step_channel_goes_on(
    pair: Pair, text: str | bytes, complaint: str
) -> None:
    pair.agent.send_text(text)
    assert pair.receive() == []
    heard = pair.agent.hear()
    assert isinstance(heard.message, ErrorReply)
    assert complaint in heard.message.message
    assert heard.headers.parent_message_id == (7 if "message_id" in str(text) else None)
    pair.agent.step(2)
    assert [asked for asked, _ in pair.receive()] == [AgentStep(2)]


def test_other_messages_and_those_in_fragments_are_no_steps(pair: Pair) -> None:
    pair.agent.send(Reset())
    assert pair.receive() == []
    assert pair.agent.hear_error() == "this takes only steps, snapshots, restores and trees"
    for frame in (Frame(Opcode.BINARY, b"\0"), Frame(Opcode.TEXT, (STEP % '{"n": 1}').encode(), fin=False)):
        pair.agent.socket.sendall(frame.serialize(mask=True))
        assert pair.receive() == []
        assert pair.agent.hear_error() == "expected a whole message in a text frame"
    assert not pair.step_channel.closed


@pytest.mark.parametrize(
    ("data", "code"),
    [
        # Agents mask what they send.
        (Frame(Opcode.TEXT, b"{}").serialize(mask=False), 1002),
        (Frame(Opcode.TEXT, b" " * (MAX_MESSAGE_BYTES + 1)).serialize(mask=True), 1009),
        (b"GET / HTTP/1.1\r\n\r\n" * 3, 1002),
    ],
)
def test_who_does_not_speak_websocket_is_hung_up_on(pair: Pair, data: bytes, code: int) -> None:
    pair.agent.socket.sendall(data)
    while not pair.step_channel.closed:
        assert pair.receive() == []
    assert pair.agent.hear_end() == code


@given(st.binary(min_size=1, max_size=300))
def test_any_bytes_at_all_are_survived(data: bytes) -> None:
    made = Pair()
    made.agent.socket.sendall(data)
    made.agent.socket.shutdown(socket.SHUT_WR)
    while not made.step_channel.closed:
        made.receive()
    made.close()


# ── what is sent ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_answers_carry_episode_request_and_pixels(pair: Pair) -> None:
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    pair.step_channel.send(FirstFrame((2, 4, 3), "hello"), 5, pixels=pixels.tobytes())
    pair.step_channel.send(StepReply(3, 1.0, False, False, False, (2, 4, 3)), 5, 17, pixels.data.cast("B"))
    first, answer = pair.agent.hear(), pair.agent.hear()
    assert (first.headers.episode_id, first.headers.parent_message_id) == (5, None)
    assert (answer.headers.episode_id, answer.headers.parent_message_id) == (5, 17)
    assert (first.pixels == pixels).all()
    assert (answer.pixels == pixels).all()


def test_pings_are_answered_but_no_flood_of_them(pair: Pair) -> None:
    pair.agent.protocol.send_ping(b"there?")
    pair.agent.flush()
    assert pair.receive() == []
    assert pair.agent.socket.recv(100) == Frame(Opcode.PONG, b"there?").serialize(mask=False)
    pair.agent.step(1)
    for _ in range(MAX_CONTROL_FRAMES_AT_ONCE + 1):
        pair.agent.protocol.send_ping(b"")
    pair.agent.flush()
    while not pair.step_channel.closed:
        pair.receive()
    assert pair.agent.hear_end() == POLICY_VIOLATION


def test_a_close_is_answered_and_nothing_is_sent_after_it(pair: Pair) -> None:
    # Neither is what was wrong before it, in the same write.
    pair.agent.protocol.send_text(b"{")
    pair.agent.protocol.send_close(1000)
    pair.agent.flush()
    assert pair.receive() == []
    assert pair.step_channel.closed
    pair.step_channel.send(ErrorReply("too late"), 1)
    pair.step_channel.close()
    assert pair.agent.hear_end() == 1000


def test_an_agent_that_takes_nothing_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pluriverse_server.kit.step_channel._SEND_TIMEOUT", struct.pack("ll", 0, 50_000))
    made = Pair()
    big = bytes(64 << 20)
    made.step_channel.send(FirstFrame((1 << 13, 1 << 13, 1)), 1, pixels=big)
    assert made.step_channel.closed
    made.close()


# ── how it gets to the program ──────────────────────────────────────────────────────────────────────────────────────


def test_step_channels_are_handed_over_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with StepChannelListener(tmp_path) as listener:
        monkeypatch.setenv(STEP_CHANNEL_VARIABLE, os.fspath(listener.path))
        handovers = HandoverSocket.from_environment()
        assert handovers is not None
        for n in (1, 2):
            agent = listener.open_step_channel()
            slot, step_channel = handovers.accept()
            assert slot == 0
            assert step_channel is not None
            assert not os.get_inheritable(step_channel.fileno())
            agent.step(n)
            assert select.select([step_channel], [], [], DEADLINE_S)[0]
            assert [asked for asked, _ in step_channel.receive()] == [AgentStep(n)]
            step_channel.close()
        listener.take_back()
        assert handovers.accept() == (0, None)
        assert listener.program is not None
        listener.program.close()
        with pytest.raises(ConnectionError):
            handovers.accept()
        handovers.close()


def test_without_a_daemon_there_is_no_handover_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STEP_CHANNEL_VARIABLE, raising=False)
    assert HandoverSocket.from_environment() is None
    monkeypatch.setenv(STEP_CHANNEL_VARIABLE, str(tmp_path / "nobody.sock"))
    assert HandoverSocket.from_environment() is None
