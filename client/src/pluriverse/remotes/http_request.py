"""Requests to a remote's rewarder port by plain HTTP, or with TLS, depending on its address."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pluriverse_protocol.strict_json import parse_object

from pluriverse.errors import RemoteUnavailable, printable

from .address import Address

# A remote that answers at all answers within milliseconds.
ANSWER_S: Final = 2.0

# The answers have a hundred bytes.
MAX_ANSWER_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """The status of an answer, and its JSON; empty if it has none."""

    status: int
    document: Mapping[str, Any]

    @property
    def error(self) -> str:
        return printable(str(self.document.get("error", f"HTTP status {self.status}"))[:500])


def open_http(address: Address, timeout_s: float) -> http.client.HTTPConnection:
    """Return a connection to a remote, not opened yet."""
    context = address.endpoint.context()
    if context is None:
        return http.client.HTTPConnection(address.host, address.rewarder_port, timeout=timeout_s)
    return http.client.HTTPSConnection(address.host, address.rewarder_port, timeout=timeout_s, context=context)


def ask(
    address: Address, method: str, path: str, document: Mapping[str, Any] | None = None, *, timeout_s: float = ANSWER_S
) -> Answer:
    """Send a request with the address' password, and return the answer."""
    body = None if document is None else json.dumps(document)
    try:
        with contextlib.closing(open_http(address, timeout_s)) as connection:
            connection.request(method, address.endpoint.below(path), body, address.endpoint.headers())
            response = connection.getresponse()
            return Answer(response.status, _parse(response.read(MAX_ANSWER_BYTES)))
    except (OSError, http.client.HTTPException) as error:
        what = printable(str(error)) or type(error).__name__
        raise RemoteUnavailable(f"the remote at {address} doesn't answer: {what}") from error


def _parse(body: bytes) -> Mapping[str, Any]:
    with contextlib.suppress(ValueError):
        return parse_object(body)
    return {}
