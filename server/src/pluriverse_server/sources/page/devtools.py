"""A DevTools connection over a private pipe: calls with their results, and events.

::

    DevToolsError          a call failed
    ├── CallFailed         the browser refused it
    ├── CallTimedOut       it was not answered in time; what was called may hang
    └── ConnectionLost     the browser or the page is gone, or broke the protocol
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import re
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from pluriverse_server.tasks import start_task

log = logging.getLogger(__name__)

Parameters = Mapping[str, Any]
EventHandler = Callable[[Parameters], None]

# The largest message has an observation, whose report is at most 1 MiB; escaped twice it is a few times that.
MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024

# An episode's beginning takes a dozen. A browser that leaves this many unanswered answers nothing at all.
MAX_OUTSTANDING: Final = 256

# A browser with a CPU answers within milliseconds; the rest is for what its pages do meanwhile.
CALL_TIMEOUT_S: Final = 5.0

# How often to look whether a browser that hasn't answered had a CPU, and how many times as long it has if it hadn't.
# What answers at all does so in that time, with thirty others on its CPU.
LOOK_S: Final = 0.25
BUSY: Final = 5

# What ends each message, both ways.
END: Final = b"\0"

# An answer to a call, in as many bytes from its beginning as it takes.
HEAD_BYTES: Final = 32
_ANSWER: Final = re.compile(rb'\{"id": ?(\d{1,15}),')


class DevToolsError(Exception):
    """A call failed; the message names it and the reason."""


class CallFailed(DevToolsError):
    """The browser refused a call."""


class CallTimedOut(DevToolsError):
    """A call was not answered in time."""


class ConnectionLost(DevToolsError):
    """The connection is closed; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    session_id: str
    result: asyncio.Future[dict[str, Any]]


class DevTools:
    def __init__(
        self, stream: asyncio.StreamReader, writer: asyncio.StreamWriter, cpu_wait_s: Callable[[], float]
    ) -> None:
        self._stream = stream
        self._writer = writer
        self._cpu_wait_s = cpu_wait_s
        self._ids = itertools.count(1)
        self._calls: dict[int, _Call] = {}
        self._posted: set[asyncio.Task[None]] = set()
        self._handlers: dict[str, dict[str, EventHandler]] = {}
        self._why_closed: str | None = None
        self._reader = asyncio.create_task(self._read(), name="devtools")

    @classmethod
    async def connect(cls, end: socket.socket, cpu_wait_s: Callable[[], float] = lambda: 0.0) -> DevTools:
        """Speak over one end of a pair of sockets, of which a browser has the other; ``close`` closes it.

        ``cpu_wait_s`` returns for how long the browser has waited for a CPU, which counts less towards time limits.
        """
        return cls(*await asyncio.open_unix_connection(sock=end, limit=MAX_MESSAGE_BYTES), cpu_wait_s)

    async def close(self) -> None:
        self._end("the connection was closed")
        self._reader.cancel()
        (ended,) = await asyncio.gather(self._reader, return_exceptions=True)
        if isinstance(ended, Exception):
            log.error("an event handler failed", exc_info=ended)
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    def on_close(self, callback: Callable[[str], None]) -> None:
        """Call ``callback`` with the reason, from the event loop, once the connection has ended for any reason."""
        self._reader.add_done_callback(lambda _: callback(self._why_closed or ""))

    def listen(self, session_id: str, handlers: Mapping[str, EventHandler]) -> None:
        """Call ``handlers`` by event name with the event's parameters; ``session_id`` is "" for the browser itself."""
        self._handlers.setdefault(session_id, {}).update(handlers)

    def forget(self, session_id: str) -> None:
        """Remove the handlers of a session that has ended, and fail its calls: a dead page answers none."""
        self._handlers.pop(session_id, None)
        self._fail("the page was closed", [call for call in self._calls.values() if call.session_id == session_id])

    async def call(
        self, method: str, parameters: Parameters | None = None, session_id: str = "", timeout_s: float = CALL_TIMEOUT_S
    ) -> dict[str, Any]:
        """Send a command to a session (to the browser if it is "") and return its result; raise DevToolsError.

        ``timeout_s`` leaves out the time that the browser waits for a CPU; with it, a call may take BUSY times that.
        """
        if self._why_closed is not None:
            raise ConnectionLost(f"{method}: {self._why_closed}")
        if len(self._calls) >= MAX_OUTSTANDING:
            raise CallFailed(f"{method}: {MAX_OUTSTANDING} calls wait for an answer already")
        number = next(self._ids)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters or {}}
        if session_id:
            message["sessionId"] = session_id
        call = self._calls[number] = _Call(method, session_id, asyncio.get_running_loop().create_future())
        try:
            async with asyncio.timeout(BUSY * timeout_s):
                self._writer.write(json.dumps(message).encode() + END)
                await self._writer.drain()
                return await self._answered(call, timeout_s)
        except TimeoutError:
            raise CallTimedOut(f"{method} was not answered within {timeout_s:g} s") from None
        except OSError as error:
            raise ConnectionLost(f"{method}: {error}") from error
        finally:
            del self._calls[number]

    async def _answered(self, call: _Call, timeout_s: float) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        looked_at, waited_s = loop.time(), None
        while not (await asyncio.wait({call.result}, timeout=min(LOOK_S, timeout_s)))[0]:
            now, before_s = loop.time(), waited_s
            waited_s = self._cpu_wait_s()
            took_s = now - looked_at
            # Several threads may wait at a time.
            timeout_s -= took_s if before_s is None else took_s - min(max(0.0, waited_s - before_s), took_s)
            looked_at = now
            if timeout_s <= 0:
                raise TimeoutError
        return call.result.result()

    def post(self, method: str, parameters: Parameters | None = None, session_id: str = "") -> None:
        """Send a command without waiting for its result. Commands are sent in the order of the calls."""
        task = start_task(self._call_quietly(method, parameters, session_id), method)
        self._posted.add(task)
        task.add_done_callback(self._posted.discard)

    async def _call_quietly(self, method: str, parameters: Parameters | None, session_id: str) -> None:
        try:
            await self.call(method, parameters, session_id)
        except DevToolsError as error:
            # As a rule its page has gone meanwhile.
            log.debug("%s", error)

    async def _read(self) -> None:
        why = "the browser closed the connection"
        try:
            while True:
                try:
                    message = await self._stream.readuntil(END)
                except asyncio.LimitOverrunError:
                    await self._pass_over()
                else:
                    self._take(_parse(message.removesuffix(END)))
        except (asyncio.IncompleteReadError, OSError):
            pass
        except asyncio.LimitOverrunError:
            why = f"invalid DevTools message: over {MAX_MESSAGE_BYTES} bytes at once"
        except ValueError as error:
            why = f"invalid DevTools message: {error}"
        finally:
            self._end(why)

    async def _pass_over(self) -> None:
        """Fail the call whose answer is too long, and go on after it; raise LimitOverrunError if it is no answer."""
        beginning = await self._stream.readexactly(HEAD_BYTES)
        answer = _ANSWER.match(beginning)
        if answer is None:
            raise asyncio.LimitOverrunError("no answer", 0)
        call = self._calls.get(int(answer[1]))
        if call is not None and not call.result.done():
            call.result.set_exception(CallFailed(f"{call.method}: the answer is over {MAX_MESSAGE_BYTES} bytes long"))
        while True:
            try:
                await self._stream.readuntil(END)
            except asyncio.LimitOverrunError as overrun:
                await self._stream.readexactly(overrun.consumed)
            else:
                return

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answer(message)
            return
        handler = self._handlers.get(message.get("sessionId", ""), {}).get(message["method"])
        if handler is not None:
            handler(message["params"])

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
        self._fail(self._why_closed, self._calls.values())

    def _fail(self, why: str, calls: Iterable[_Call]) -> None:
        for call in calls:
            if not call.result.done():
                call.result.set_exception(ConnectionLost(f"{call.method}: {why}"))


def _parse(text: bytes) -> dict[str, Any]:
    """Parse an answer (``id`` with ``result`` or ``error``) or an event (``method``, ``params``), else ValueError."""
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
    raise ValueError(f"{text[:80]!r}")
