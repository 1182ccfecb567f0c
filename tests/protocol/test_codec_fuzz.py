"""The codecs against mutated input: whatever comes, a message or a RemoteProtocolError. Bounded, for each CI run."""

import copy
import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pluriverse_protocol import (
    Envelope,
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


def repeated(envelope: Envelope[Any]) -> bytes:
    return encode(envelope.message, envelope.headers).encode()


@pytest.mark.parametrize(
    ("valid", "decode", "again"),
    [
        pytest.param(st.builds(encode, agent_messages, headers), decode_from_agent, repeated, id="agents"),
        pytest.param(st.builds(encode, server_messages, headers), decode_from_server, repeated, id="servers"),
        pytest.param(program_reports.map(encode_line).map(bytes.decode), decode_report, encode_line, id="reports"),
        pytest.param(program_requests.map(encode_line).map(bytes.decode), decode_request, encode_line, id="requests"),
    ],
)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_mutated_messages_do_no_harm(
    valid: st.SearchStrategy[str], decode: Callable[[bytes], Any], again: Callable[[Any], bytes], data: st.DataObject
) -> None:
    try:
        decoded = decode(data.draw(mutated_documents(valid) | mutated_bytes(valid)))
    except RemoteProtocolError as error:
        # What is said of it can be said to its sender.
        encode(ErrorReply(str(error)), Headers(0, 0.0, parent_message_id=error.message_id))
        return
    # Whatever came through can be sent on.
    assert decode(again(decoded)) == decoded
