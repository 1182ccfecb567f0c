"""Bytes ↔ messages. Strict: a message that was decoded can be used without a further check."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from .errors import BadBody, LocalProtocolError, MalformedEnvelope, MessageId, RemoteProtocolError, UnknownMethod
from .kinds import read, write
from .limits import MAX_EPISODE_ID, MAX_MESSAGE_BYTES
from .messages import AGENT_METHODS, SERVER_METHODS, AgentMessage, Headers, Message, ServerMessage, method_of
from .strict_json import MAX_DEPTH, dump, parse_object

_MAX_EPISODE_ID_CHARS: Final = len(str(MAX_EPISODE_ID))

# A decimal integer; Universe's documentation has "1.2" for one.
_EPISODE_ID: Final = re.compile(rf"([0-9]{{1,{_MAX_EPISODE_ID_CHARS}}})(?:\.[0-9]{{1,{_MAX_EPISODE_ID_CHARS}}})?")

M_co = TypeVar("M_co", bound=Message, covariant=True)


class Envelope(NamedTuple, Generic[M_co]):
    message: M_co
    headers: Headers


def encode(message: Message, headers: Headers) -> str:
    """Return the text frame that carries ``message``: one line of JSON."""
    try:
        return dump({"method": method_of(message), "headers": _headers(headers), "body": _body(message)})
    except ValueError as error:
        raise _unfit(message, error) from error


def encode_body(message: Message) -> str:
    """Return the body of ``message`` as JSON, for ``envelop``: once for all connections that it is sent on."""
    try:
        return dump(_body(message), max_depth=MAX_DEPTH - 1)
    except ValueError as error:
        raise _unfit(message, error) from error


def envelop(message: Message, body: str, headers: Headers) -> str:
    """Return the text frame of ``message``, whose encoded body is ``body``."""
    try:
        return f'{{"method":"{method_of(message)}","headers":{dump(_headers(headers))},"body":{body}}}'
    except ValueError as error:
        raise _unfit(message, error) from error


def decode_from_agent(data: str | bytes) -> Envelope[AgentMessage]:
    if len(data) > MAX_MESSAGE_BYTES:
        raise MalformedEnvelope(f"a message of {len(data)} bytes, over {MAX_MESSAGE_BYTES}")
    return _decode(data, AGENT_METHODS)


def decode_from_server(data: str | bytes) -> Envelope[ServerMessage]:
    """Return the message that a server sent. Its size is limited where it is received: observations may be large."""
    return _decode(data, SERVER_METHODS)


def _body(message: Message) -> dict[str, Any]:
    body = write(message)
    del body["method"]  # which stands beside it
    return body


def _headers(headers: Headers) -> dict[str, Any]:
    written = write(headers)
    if headers.episode_id is not None:
        written["episode_id"] = str(headers.episode_id)
    return written


def _unfit(message: Message, error: ValueError) -> LocalProtocolError:
    return LocalProtocolError(f"{method_of(message)} can't be sent: {error}")


def _decode(data: str | bytes, methods: Mapping[str, type[M_co]]) -> Envelope[M_co]:
    try:
        document = parse_object(data)
    except ValueError as error:
        raise MalformedEnvelope(str(error)) from None
    try:
        return _open(document, methods)
    except RemoteProtocolError as error:
        error.message_id = _message_id(document)
        raise


def _open(document: Mapping[str, Any], methods: Mapping[str, type[M_co]]) -> Envelope[M_co]:
    raw_headers: dict[str, Any] | None = document.get("headers")
    method: str | None = document.get("method")
    body: dict[str, Any] | None = document.get("body")
    if not isinstance(raw_headers, dict):
        raise MalformedEnvelope("'headers' is missing or not an object")
    if not isinstance(method, str):
        raise MalformedEnvelope("'method' is missing or not a string")
    if not isinstance(body, dict):
        raise MalformedEnvelope("'body' is missing or not an object")
    episode_id = raw_headers.get("episode_id")
    if isinstance(episode_id, str) and (match := _EPISODE_ID.fullmatch(episode_id)):
        raw_headers["episode_id"] = int(match[1])
    try:
        headers = read(Headers, raw_headers)
    except ValueError as error:
        raise MalformedEnvelope(f"header {error}") from None
    kind = methods.get(method)
    if kind is None:
        raise UnknownMethod(f"unknown method {method!r:.80}; known: {', '.join(methods)}")
    body["method"] = method
    try:
        return Envelope(read(kind, body), headers)
    except ValueError as error:
        raise BadBody(f"{method}: {error}") from None


def _message_id(document: Mapping[str, Any]) -> MessageId | None:
    """Return the sender's ``message_id`` if it has a usable one, whatever else is wrong."""
    headers: Any = document.get("headers")
    try:
        return read(Headers, {"message_id": headers["message_id"], "sent_at": 0}).message_id
    except (LookupError, TypeError, ValueError):
        return None
