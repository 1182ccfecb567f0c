"""Waiting until a remote is ready: it runs an environment, and the servers behind both of its ports answer."""

from __future__ import annotations

import contextlib
import http.client
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pluriverse_protocol.rfb.errors import AuthenticationFailed, RfbError
from pluriverse_protocol.rfb.handshake import Handshake
from pluriverse_protocol.strict_json import parse_object

from pluriverse.errors import RemoteUnavailable
from pluriverse.screen_socket import ScreenSocket

from .address import Address
from .http_request import ANSWER_S, MAX_ANSWER_BYTES, open_http

# That its daemon is alive is answered at once, whatever else is going on.
ALIVE_S: Final = 1.0

# Between two requests: neither the delay nor the load is noticeable.
ASK_AGAIN_S: Final = 0.05

# A remote brings a dead program or screen back within a second or two; one that hasn't by now is replaced.
HEAL_S: Final = 5.0


def wait_until_ready(address: Address, timeout_s: float, check: Callable[[], None]) -> None:
    """Return once the remote is ready. ``check`` is called in between, to raise when waiting is in vain."""
    deadline = time.monotonic() + timeout_s
    while (reason := why_not_ready(address)) is not None:
        check()
        if time.monotonic() > deadline:
            raise RemoteUnavailable(f"the remote at {address} wasn't ready within {timeout_s:g} s: {reason}")
        time.sleep(ASK_AGAIN_S)


def is_silent(address: Address) -> bool:
    """Return whether the remote's daemon, which answers while anything else heals, is silent for ALIVE_S."""
    try:
        with contextlib.closing(open_http(address, ALIVE_S)) as connection:
            connection.request("GET", address.endpoint.below("/healthz"))
            connection.getresponse()
    except (OSError, http.client.HTTPException):
        return True
    return False


def why_not_ready(address: Address) -> str | None:
    try:
        with contextlib.closing(open_http(address, ANSWER_S)) as connection:
            connection.request("GET", address.endpoint.below("/readyz"))
            response = connection.getresponse()
            body = response.read(MAX_ANSWER_BYTES)
            if response.status != http.HTTPStatus.OK:
                return _reason(body)
            _shake_hands(address)
    except (OSError, http.client.HTTPException, RfbError) as error:
        return str(error) or type(error).__name__
    return None


def _reason(body: bytes) -> str:
    with contextlib.suppress(ValueError):
        answer = parse_object(body)
        if answer.get("phase") == "draining":
            return "it is draining"
        if answer.get("screen") is False:
            return "its screen does not answer"
        return f"its environment is {answer.get('env_state') or 'not started'}"
    return "its environment is unknown"


def _shake_hands(address: Address) -> None:
    """Return once the VNC server behind the port has answered: a port may take connections that aren't served."""
    if address.vnc_port is None:
        opened = ScreenSocket.of_web(address.endpoint, ANSWER_S)
    else:
        opened = ScreenSocket.of_port(replace(address.endpoint, port=address.vnc_port), ANSWER_S)
    # A server that refuses the password has answered; connecting reports that.
    with opened.raw, contextlib.suppress(AuthenticationFailed):
        opened.shake_hands(Handshake(password=address.password))
