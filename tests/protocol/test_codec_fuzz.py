"""The codecs against mutated input: whatever comes, a message or a RemoteProtocolError. Bounded, for each CI run."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pluriverse_protocol import (
    Headers,
    RemoteProtocolError,
    decode_from_agent,
    decode_from_server,
    encode,
)
from pluriverse_protocol.messages import ErrorReply
from pluriverse_protocol.reports import decode_report, decode_request, encode_line
from support.wire import agent_messages, headers, json_values, program_reports, program_requests, server_messages

# Some seconds together; each example is a mutation of a valid message.
EXAMPLES: Final = 200

bounded = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Values that parsers trip over, beside whatever hypothesis thinks of.
_NASTY: Final[list[Any]] = [None, True, -1, 2**53 + 1, 10**400, 1e308, "", "NaN", "\ud800", [], [[]], {}, {"": None}]
_nasty_values: st.SearchStrategy[Any] = st.sampled_from(_NASTY) | json_values
_LITERALS: Final = [b"NaN", b"1e999", b"[" * 3000, b'{"a":' * 3000, b"9" * 5000, b"\xff", b"\x00", b'"', b""]


def _places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    elif isinstance(value, list):
        items = list(enumerate(value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return [place for key, item in items for place in [(*path, key), *_places(item, (*path, key))]]


@st.composite
def mutated_documents(draw: st.DrawFn, valid: st.SearchStrategy[str]) -> bytes:
    """A valid document with some values replaced, removed, or put elsewhere too."""
    document: Any = json.loads(draw(valid))
    for _ in range(draw(st.integers(1, 3))):
        places = _places(document)
        if not places:
            break
        *parents, last = draw(st.sampled_from(places))
        target = document
        for key in parents:
            target = target[key]
        match draw(st.sampled_from(["replace", "remove", "copy"])):
            case "replace":
                target[last] = copy.deepcopy(draw(_nasty_values))
            case "remove":
                del target[last]
            case _:
                target[last] = copy.deepcopy(document)
    return json.dumps(document).encode()


@st.composite
def mutated_bytes(draw: st.DrawFn, valid: st.SearchStrategy[str]) -> bytes:
    """A valid document with a stretch of its bytes replaced by what no document has there."""
    data = draw(valid).encode()
    start = draw(st.integers(0, len(data)))
    end = draw(st.integers(start, min(len(data), start + 20)))
    return data[:start] + draw(st.sampled_from(_LITERALS) | st.binary(max_size=8)) + data[end:]


def mutated(valid: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    return mutated_documents(valid) | mutated_bytes(valid)


agent_frames = st.builds(encode, agent_messages, headers)
server_frames = st.builds(encode, server_messages, headers)
report_lines = program_reports.map(lambda report: encode_line(report).decode())
request_lines = program_requests.map(lambda request: encode_line(request).decode())


def _survives(decode: Callable[[bytes], Any], again: Callable[[Any], str | bytes], data: bytes) -> None:
    try:
        decoded = decode(data)
    except RemoteProtocolError as error:
        # What is said of it can be said to its sender.
        encode(ErrorReply(str(error)), Headers(0, 0.0, parent_message_id=error.message_id))
        return
    # Whatever came through can be sent on.
    repeated = again(decoded)
    assert decode(repeated if isinstance(repeated, bytes) else repeated.encode()) == decoded


@bounded
@given(mutated(agent_frames))
def test_mutated_frames_of_agents_do_no_harm(data: bytes) -> None:
    _survives(decode_from_agent, lambda envelope: encode(envelope.message, envelope.headers), data)


@bounded
@given(mutated(server_frames))
def test_mutated_frames_of_servers_do_no_harm(data: bytes) -> None:
    _survives(decode_from_server, lambda envelope: encode(envelope.message, envelope.headers), data)


@bounded
@given(mutated(report_lines))
def test_mutated_reports_do_no_harm(data: bytes) -> None:
    _survives(decode_report, encode_line, data)


@bounded
@given(mutated(request_lines))
def test_mutated_requests_do_no_harm(data: bytes) -> None:
    _survives(decode_request, encode_line, data)
