"""One DevTools connection: calls and their results, events to whoever listens, over a plain WebSocket.

::

    DevToolsError          a call brought nothing
    ├── CallFailed         the browser refused it
    ├── CallTimedOut       it did not answer in time; what was called may hang
    └── ConnectionLost     the browser is gone, or said what no browser says
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import aiohttp

log = logging.getLogger(__name__)

Parameters = Mapping[str, Any]
Listener = Callable[[Parameters], None]

# The largest that is asked for is an observation, whose report is at most 1 MiB; escaped twice it is a few times that.
MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024

# An episode's beginning takes a dozen. More than this unanswered means that the browser answers nothing at all.
MAX_OUTSTANDING: Final = 256

# Any answer of a browser that isn't busy comes within milliseconds; a busy machine is given the benefit of the doubt.
CALL_TIMEOUT_S: Final = 5.0

# The browser listens on this machine, before its port is known to us.
CONNECT_TIMEOUT_S: Final = 5.0


class DevToolsError(Exception):
    """A call brought nothing; the message says which, and why."""


class CallFailed(DevToolsError):
    """The browser refused a call."""


class CallTimedOut(DevToolsError):
    """A call was not answered in time."""


class ConnectionLost(DevToolsError):
    """The connection is closed, for the reason that the message gives."""


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    result: asyncio.Future[dict[str, Any]]


class DevTools:
    """A connection to a browser. Made by ``connect``; ``close`` ends it. All sessions are flattened into it."""

    def __init__(self, client: aiohttp.ClientSession, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._client = client
        self._socket = socket
        self._ids = itertools.count(1)
        self._calls: dict[int, _Call] = {}
        self._posted: set[asyncio.Task[None]] = set()
        self._listeners: dict[str, dict[str, Listener]] = {}
        self._why_closed: str | None = None
        self._reader = asyncio.create_task(self._read(), name="devtools")

    @classmethod
    async def connect(cls, address: str) -> DevTools:
        """Connect to ``ws://127.0.0.1:PORT/devtools/browser/ID``.

        Raises:
            ConnectionLost: nothing there speaks DevTools.
        """
        client = aiohttp.ClientSession()
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                socket = await client.ws_connect(address, max_msg_size=MAX_MESSAGE_BYTES, compress=0)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            await client.close()
            raise ConnectionLost(f"no DevTools at {address}: {error!r}") from error
        except BaseException:
            await client.close()
            raise
        return cls(client, socket)

    async def close(self) -> None:
        """Hang up; every call that waits fails."""
        self._end("the connection was closed")
        self._reader.cancel()
        (ended,) = await asyncio.gather(self._reader, return_exceptions=True)
        if isinstance(ended, Exception):
            log.error("a listener failed", exc_info=ended)
        with contextlib.suppress(OSError):
            await self._socket.close()
        await self._client.close()

    def on_close(self, callback: Callable[[str], None]) -> None:
        """Call ``callback`` with the reason from the event loop once the connection has ended, whoever ended it."""
        self._reader.add_done_callback(lambda _: callback(self._why_closed or ""))

    def listen(self, session_id: str, listeners: Mapping[str, Listener]) -> None:
        """Call these, by event, with the event's parameters; ``session_id`` is "" for the browser's own events."""
        self._listeners.setdefault(session_id, {}).update(listeners)

    def forget(self, session_id: str) -> None:
        """Listen no more to a session that has ended."""
        self._listeners.pop(session_id, None)

    async def call(
        self, method: str, parameters: Parameters | None = None, session_id: str = "", timeout_s: float = CALL_TIMEOUT_S
    ) -> dict[str, Any]:
        """One command to the session (the browser itself, if it is ""), and its result.

        Raises:
            DevToolsError: it brought nothing; see the module.
        """
        if self._why_closed is not None:
            raise ConnectionLost(f"{method}: {self._why_closed}")
        if len(self._calls) >= MAX_OUTSTANDING:
            raise CallFailed(f"{method}: {MAX_OUTSTANDING} calls wait for an answer already")
        number = next(self._ids)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters or {}}
        if session_id:
            message["sessionId"] = session_id
        call = self._calls[number] = _Call(method, asyncio.get_running_loop().create_future())
        try:
            async with asyncio.timeout(timeout_s):
                await self._socket.send_str(json.dumps(message))
                return await call.result
        except TimeoutError:
            raise CallTimedOut(f"{method} was not answered within {timeout_s:g} s") from None
        except OSError as error:
            raise ConnectionLost(f"{method}: {error}") from error
        finally:
            del self._calls[number]

    def post(self, method: str, parameters: Parameters | None = None, session_id: str = "") -> None:
        """One command whose result nobody waits for. Commands go out in the order of their calls."""
        task = asyncio.create_task(self._call_quietly(method, parameters, session_id), name=method)
        self._posted.add(task)
        task.add_done_callback(self._posted.discard)

    async def _call_quietly(self, method: str, parameters: Parameters | None, session_id: str) -> None:
        try:
            await self.call(method, parameters, session_id)
        except DevToolsError as error:
            # What it was about has gone meanwhile, as a rule.
            log.debug("%s", error)

    # ── what the browser says ───────────────────────────────────────────────────────────────────────────────────────

    async def _read(self) -> None:
        why = "the browser closed the connection"
        try:
            async for frame in self._socket:
                if frame.type is not aiohttp.WSMsgType.TEXT:
                    why = f"the browser said what isn't DevTools: {self._socket.exception() or frame.type.name}"
                    break
                self._take(_parse(frame.data))
        except ValueError as error:
            why = f"the browser said what isn't DevTools: {error}"
        finally:
            self._end(why)

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answer(message)
            return
        listener = self._listeners.get(message.get("sessionId", ""), {}).get(message["method"])
        if listener is not None:
            listener(message["params"])

    def _answer(self, message: dict[str, Any]) -> None:
        call = self._calls.get(message["id"])
        if call is None or call.result.done():
            return
        if "error" in message:
            call.result.set_exception(CallFailed(f"{call.method}: {message['error'].get('message')}"))
        else:
            call.result.set_result(message["result"])

    def _end(self, why: str) -> None:
        if self._why_closed is None:
            self._why_closed = why
        for call in self._calls.values():
            if not call.result.done():
                call.result.set_exception(ConnectionLost(f"{call.method}: {self._why_closed}"))


def _parse(text: str) -> dict[str, Any]:
    """An answer (``id`` with ``result`` or ``error``) or an event (``method`` with ``params``).

    Raises:
        ValueError: it is neither.
    """
    try:
        message: Any = json.loads(text)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    if isinstance(message, dict):
        fields = cast("dict[str, Any]", message)
        of_session = isinstance(fields.get("sessionId", ""), str)
        answer = isinstance(fields.get("id"), int) and isinstance(fields.get("error", fields.get("result")), dict)
        event = isinstance(fields.get("method"), str) and isinstance(fields.get("params"), dict)
        if of_session and (answer or event):
            return fields
    raise ValueError(f"{text:.80}")
