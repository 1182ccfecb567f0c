"""Bytes ↔ messages. Strict: what comes out of ``decode`` can be used without a further check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from .errors import BadBody, LocalProtocolError, MalformedEnvelope, MessageId, UnknownMethod
from .kinds import read_fields, write_fields
from .limits import MAX_MESSAGE_BYTES
from .messages import AGENT_METHODS, METHOD_OF, SERVER_METHODS, AgentMessage, Headers, Message, Reset, ServerMessage
from .strict_json import dump, parse_object

M_co = TypeVar("M_co", bound=Message, covariant=True)


@dataclass(frozen=True, slots=True)
class Envelope(Generic[M_co]):
    """A message and its headers."""

    message: M_co
    headers: Headers


def encode(message: Message, headers: Headers) -> str:
    """The text frame that carries ``message``: one line of JSON.

    Raises:
        LocalProtocolError: a field holds what the protocol or JSON doesn't allow (NaN, infinity, an object).
    """
    method = METHOD_OF[type(message)]
    try:
        return dump({"method": method, "headers": write_fields(headers), "body": write_fields(message)})
    except ValueError as error:
        raise LocalProtocolError(f"{method} can't be sent: {error}") from error


def decode_from_agent(data: str | bytes) -> Envelope[AgentMessage]:
    """What an agent sent.

    Raises:
        MalformedEnvelope: not one JSON object of method, headers and body, or over MAX_MESSAGE_BYTES.
        UnknownMethod: a method that agents don't send.
        BadBody: a body or a header that doesn't fit the method.
    """
    if len(data) > MAX_MESSAGE_BYTES:
        raise MalformedEnvelope(f"a message of {len(data)} bytes, over {MAX_MESSAGE_BYTES}")
    return _decode(data, AGENT_METHODS)


def decode_from_server(data: str | bytes) -> Envelope[ServerMessage]:
    """What a server sent. Its size is limited where it is received: observations may be large.

    Raises:
        MalformedEnvelope: not one JSON object of method, headers and body.
        UnknownMethod: a method that servers don't send.
        BadBody: a body or a header that doesn't fit the method.
    """
    return _decode(data, SERVER_METHODS)


def _decode(data: str | bytes, methods: Mapping[str, type[M_co]]) -> Envelope[M_co]:
    try:
        document = parse_object(data)
    except ValueError as error:
        raise MalformedEnvelope(str(error)) from None
    raw_headers = document.get("headers")
    if not isinstance(raw_headers, dict):
        raise MalformedEnvelope("'headers' is missing or not an object")
    message_id = _message_id(cast("dict[str, Any]", raw_headers))
    method = document.get("method")
    if not isinstance(method, str):
        raise MalformedEnvelope("'method' is missing or not a string", message_id=message_id)
    body = document.get("body")
    if not isinstance(body, dict):
        raise MalformedEnvelope("'body' is missing or not an object", message_id=message_id)
    try:
        headers = Headers(**read_fields(Headers, cast("dict[str, Any]", raw_headers)))
    except ValueError as error:
        raise MalformedEnvelope(f"header {error}", message_id=message_id) from None
    kind = methods.get(method)
    if kind is None:
        raise UnknownMethod(f"unknown method {method!r:.80}; known: {', '.join(methods)}", message_id=message_id)
    if kind is Reset and headers.episode_id is None:
        raise BadBody(f"{method}: header 'episode_id' is missing", message_id=message_id)
    try:
        return Envelope(kind(**read_fields(kind, cast("dict[str, Any]", body))), headers)
    except ValueError as error:
        raise BadBody(f"{method}: {error}", message_id=message_id) from None


def _message_id(headers: Mapping[str, Any]) -> MessageId | None:
    """The sender's ``message_id`` if it has a usable one, whatever else is wrong."""
    try:
        return Headers(**read_fields(Headers, {"message_id": headers.get("message_id"), "sent_at": 0})).message_id
    except ValueError:
        return None
