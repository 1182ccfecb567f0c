import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from pluriverse_protocol import (
    BadBody,
    Envelope,
    Headers,
    LocalProtocolError,
    MalformedEnvelope,
    MessageId,
    RemoteProtocolError,
    UnknownMethod,
    decode_from_agent,
    decode_from_server,
    encode,
)
from pluriverse_protocol.limits import MAX_MESSAGE_BYTES
from pluriverse_protocol.messages import (
    Action,
    AgentMessage,
    Ping,
    Reset,
    Reward,
    ServerMessage,
)
from support.wire import agent_messages, headers, json_objects, message_ids, server_messages


def frame(method: Any = "v0.control.ping", body: Any = None, **changed: Any) -> str:
    """A frame whose headers fit unless ``changed`` says otherwise."""
    return json.dumps(
        {
            "method": method,
            "headers": {"message_id": 1, "sent_at": 1.5, **changed},
            "body": {} if body is None else body,
        }
    )


def refused(data: str | bytes) -> RemoteProtocolError:
    with pytest.raises(RemoteProtocolError) as error:
        decode_from_agent(data)
    return error.value


@given(server_messages, headers)
def test_each_message_of_a_server_comes_back_as_it_was_sent(message: ServerMessage, header: Headers) -> None:
    text = encode(message, header)
    assert "\n" not in text
    assert decode_from_server(text) == Envelope(message, header)
    assert decode_from_server(text.encode()) == Envelope(message, header)


@given(agent_messages, headers)
def test_each_message_of_an_agent_comes_back_as_it_was_sent(message: AgentMessage, header: Headers) -> None:
    text = encode(message, header)
    envelope = decode_from_agent(text)
    assert envelope == Envelope(message, header)
    assert type(envelope.headers.message_id) is type(header.message_id)


@given(server_messages, headers)
def test_what_servers_send_agents_may_not(message: ServerMessage, header: Headers) -> None:
    text = encode(message, header)
    if len(text) <= MAX_MESSAGE_BYTES:
        error = refused(text)
        assert isinstance(error, UnknownMethod)
        assert error.message_id == header.message_id


@pytest.mark.parametrize("episode_id", ["3", 3, "3.2", "3.0"])
def test_episode_ids_are_read_from_strings_and_integers_up_to_a_dot(episode_id: str | int) -> None:
    assert decode_from_agent(frame(episode_id=episode_id)).headers.episode_id == 3


@given(message_ids, json_objects, json_objects)
def test_keys_that_are_not_known_are_ignored_everywhere(
    message_id: MessageId, more: dict[str, Any], beside: dict[str, Any]
) -> None:
    document = {
        **beside,
        "method": "v0.control.ping",
        "headers": {**{f"x-{key}": value for key, value in more.items()}, "message_id": message_id, "sent_at": 0},
        "body": more,
    }
    assert decode_from_agent(json.dumps(document)) == Envelope(Ping(), Headers(message_id, 0.0))


# ── what is wrong, and how it is told apart ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "data",
    [
        "",
        "{",
        "[]",
        b"\xff",
        '{"method": "v0.control.ping", "body": {}}',
        '{"method": "v0.control.ping", "headers": [], "body": {}}',
        '{"method": "v0.control.ping", "headers": {"sent_at": NaN}, "body": {}}',
    ],
)
def test_a_frame_without_readable_headers_is_malformed_and_names_no_message(data: str | bytes) -> None:
    error = refused(data)
    assert isinstance(error, MalformedEnvelope)
    assert error.message_id is None


@pytest.mark.parametrize(
    ("method", "body", "changed", "expected"),
    [
        (None, {}, {}, MalformedEnvelope),
        ("v0.control.ping", [], {}, MalformedEnvelope),
        ("v0.control.ping", {}, {"sent_at": None}, MalformedEnvelope),
        ("v0.control.ping", {}, {"episode_id": "1."}, MalformedEnvelope),
        ("v0.control.ping", {}, {"episode_id": "1.٢"}, MalformedEnvelope),
        ("v0.control.ping", {}, {"parent_message_id": 1.5}, MalformedEnvelope),
        ("v0.env.reward", {}, {}, UnknownMethod),
        ("v0.env.reset", {"env_id": ""}, {"episode_id": "0"}, BadBody),
        ("v0.env.reset", {"env_id": "a", "seed": -1}, {"episode_id": "0"}, BadBody),
        ("v0.agent.action", {}, {}, BadBody),
    ],
)
@given(message_id=message_ids)
def test_each_mistake_is_of_its_kind_and_names_the_message_that_made_it(
    message_id: MessageId, method: Any, body: Any, changed: dict[str, Any], expected: type[RemoteProtocolError]
) -> None:
    document = {"method": method, "headers": {"message_id": message_id, "sent_at": 1, **changed}, "body": body}
    error = refused(json.dumps(document))
    assert type(error) is expected
    assert error.message_id == message_id
    assert type(error.message_id) is type(message_id)


@pytest.mark.parametrize("message_id", [None, True, 1.5, [], {}, 2**63, 10**300, "x" * 257])
def test_a_message_id_that_cannot_be_echoed_is_not(message_id: Any) -> None:
    error = refused(frame(message_id=message_id))
    assert isinstance(error, MalformedEnvelope)
    assert error.message_id is None
    assert "message_id" in str(error)


# ── limits ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_size_of_an_agents_message_is_limited_at_exactly_the_limit() -> None:
    padding = " " * (MAX_MESSAGE_BYTES - len(frame()))
    assert decode_from_agent(frame() + padding)
    assert decode_from_agent((frame() + padding).encode())
    error = refused(frame() + padding + " ")
    assert isinstance(error, MalformedEnvelope)
    assert str(MAX_MESSAGE_BYTES) in str(error)


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400])
def test_numbers_that_json_lacks_are_our_own_bug(value: float) -> None:
    with pytest.raises(LocalProtocolError, match=r"v0\.env\.reward can't be sent"):
        encode(Reward(value, done=False), Headers(0, 1.0))
    with pytest.raises(LocalProtocolError, match="'sent_at'"):
        encode(Ping(), Headers(0, value))


# ── old agents, literally ───────────────────────────────────────────────────────────────────────────────────────────


def test_reset_of_an_old_agent_is_read() -> None:
    data = (
        '{"body": {"seed": null, "env_id": "gym-core.PongDeterministic-v3", "fps": 60}, "method": "v0.env.reset", '
        '"headers": {"episode_id": "0", "message_id": 0, "sent_at": 1480546560.263108}}'
    )
    assert decode_from_agent(data) == Envelope(
        Reset("gym-core.PongDeterministic-v3", seed=None, fps=60.0),
        Headers(message_id=0, sent_at=1480546560.263108, episode_id=0),
    )


@pytest.mark.parametrize("headers", ["", '"episode_id": null, ', '"episode_id": "1.2", '])
def test_reset_as_the_old_documentation_shows_it_is_read(headers: str) -> None:
    data = (
        '{"method": "v0.env.reset", "body": {"env_id": null, "seed": null}, "headers": {%s"message_id": 0, '
        '"sent_at": 1480546560.263108}}'
    )
    assert decode_from_agent(data % headers) == Envelope(
        Reset(), Headers(0, 1480546560.263108, episode_id=1 if "1.2" in headers else None)
    )


def test_action_of_an_old_agent_is_read() -> None:
    data = (
        '{"method": "v0.agent.action", "body": {"env_id": "flashgames.NeonRace2-v0", "action": '
        '[["KeyEvent", 65361, true], ["PointerEvent", 15, 20, 1], '
        '["JoystickAxisXEvent", 0.25], ["JoystickAxisZEvent", 1]]}, '
        '"headers": {"message_id": "d1e3", "sent_at": 1480546562, "episode_id": "2"}}'
    )
    envelope = decode_from_agent(data)
    assert envelope.headers == Headers(message_id="d1e3", sent_at=1480546562.0, episode_id=2)
    assert isinstance(envelope.message, Action)
    assert envelope.message.env_id == "flashgames.NeonRace2-v0"
    assert len(envelope.message.action) == 4


def test_frames_of_version_0_1_are_read_and_written_as_they_were() -> None:
    kept = (Path(__file__).parent / "data/wire-0.1.jsonl").read_text().splitlines()
    for line in kept:
        sent = json.loads(line)
        decode = decode_from_server if sent["from"] == "server" else decode_from_agent
        envelope = decode(sent["frame"])
        assert encode(envelope.message, envelope.headers) == sent["frame"]
