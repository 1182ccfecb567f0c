"""Listens on the VNC port, and lets those who know the password through to the VNC server behind a Unix socket.

Others come by the rewarder port, which has checked the password, with RFB in a WebSocket. With TLS all come by that.

The VNC server sees only these: a flood of connections or guesses never reaches it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import socket
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final

from pluriverse_protocol.control_frames import POLICY_VIOLATION, ControlFrames
from pluriverse_protocol.rfb.errors import BadWebSocket, RfbError
from pluriverse_protocol.rfb.security import CHALLENGE_BYTES
from pluriverse_protocol.rfb.server_handshake import ServerHandshake, server_init
from pluriverse_protocol.rfb.web_stream import PROTOCOL_ERROR, WebStream

from pluriverse_server.access import audit
from pluriverse_server.access.addresses import address_key
from pluriverse_server.access.connections import ConnectionTable
from pluriverse_server.access.guesses import log_dropped, note_guess
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.access.throttle import PasswordThrottle
from pluriverse_server.access.tokens import Right, Token
from pluriverse_server.permitted import NOTHING, Permitted
from pluriverse_server.process import StartError, listeners, port_fault, serve, start_error
from pluriverse_server.tasks import start_task

from .client_input import ClientInput, Keyboard
from .loop_thread import LoopThread
from .pump import BUFFER_BYTES, Half, join
from .share import PATIENCE_S, WATCHERS_PATIENCE_S
from .vnc_server import CONNECT_S, RETRY_S, VncServerHalf, VncServerLost, connect

log = logging.getLogger(__name__)

PORT: Final = "VNC"

# Each takes two file descriptors. An agent has one connection, a person who looks on another.
MAX_CONNECTIONS: Final = 128
MAX_PER_ADDRESS: Final = 64
MAX_PENDING: Final = 64

# Any of these.
INPUT: Final = Right.PLAY | Right.CONTROL

# From its connection a client has so long for the handshake, waits for guesses of the password included.
HANDSHAKE_S: Final = 20.0

# A client that hasn't read the reason by then never will.
CLOSE_S: Final = 1.0

# A VNC server that was there answers by then, or is there no more.
WATCHERS_CONNECT_S: Final = 1.0


class VncProxy:
    """The VNC port of one screen, before the VNC server on ``vnc_socket``, which may come and go.

    It has an event loop of its own in a thread: what the daemon's loop is busy with holds up no picture.
    """

    def __init__(
        self,
        vnc_socket: Path,
        secrets: Secrets | None,
        *,
        open_for_watchers: Callable[[], Coroutine[Any, Any, Path]] | None = None,
        on_clients: Callable[[], object] = lambda: None,
    ) -> None:
        """``secrets`` None lets everybody in, to do all that agents may.

        ``open_for_watchers`` starts the VNC server of those who only watch, if it must, and returns its socket; it is
        called in the loop that called ``listen``. ``on_clients`` is called in the proxy's thread when a client has come
        or gone.
        """
        self.vnc_socket = vnc_socket
        self.secrets = secrets
        self.on_clients = on_clients
        self._open_for_watchers = open_for_watchers
        self.table: ConnectionTable[_ClientHalf] = ConnectionTable(
            max_pending=MAX_PENDING, max_connections=MAX_CONNECTIONS, max_per_address=MAX_PER_ADDRESS
        )
        self.throttle = PasswordThrottle()
        self.clients: set[_ClientHalf] = set()
        # When the VNC server last sent something to a client, in time.monotonic()'s seconds.
        self.heard_at = -math.inf
        self._left_at = -math.inf
        # Of the current screen, or None.
        self.keyboard: Keyboard | None = None
        self.permitted: Permitted | None = None
        self._servers: list[asyncio.Server] = []
        self._thread: LoopThread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def listens(self) -> bool:
        return self._thread is not None

    async def listen(self, host: str, port: int | None, private: Path, watching: Path) -> None:
        """Listen on a TCP port, and on Unix sockets in a private folder, whose clients count towards no limit.

        Those of the second only watch. ``port`` None: on no port.
        """
        try:
            ports = [] if port is None else listeners(host, port)
        except OSError as error:
            assert port is not None
            raise StartError(port_fault("VNC", host, port, "--vnc-port", error)) from error
        self._loop = asyncio.get_running_loop()
        self._thread = LoopThread("VNC proxy")
        if self.secrets is not None:
            self.secrets.on_change.append(self._secrets_changed)
        try:
            await self._thread.run(self._listen(ports, private, watching))
        except OSError as error:
            await self.close()
            for listener in ports:
                listener.close()
            raise start_error(f"the sockets {private} and {watching}", error) from error

    def permit(self, permitted: Permitted | None) -> None:
        """Let clients of the port press this alone; None: everything. May be called from any thread."""
        self.permitted = permitted

    async def connect(self, *, watches: bool) -> VncServerHalf:
        """Connect to the VNC server, or to the one of those who only watch, if there is one of theirs."""
        if self._open_for_watchers is None or self._loop is None or not watches:
            return await connect(self.vnc_socket, heard=self.note_heard)
        deadline = time.monotonic() + CONNECT_S
        while True:
            opening = asyncio.run_coroutine_threadsafe(self._open_for_watchers(), self._loop)
            try:
                return await connect(await asyncio.wrap_future(opening), WATCHERS_CONNECT_S)
            except VncServerLost:
                # It died a moment ago, and is started again as soon as this is known.
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(RETRY_S)

    async def type_with(self, keyboard: Keyboard | None) -> None:
        if self._thread is not None:
            await self._thread.run(self._type_with(keyboard))

    def had_clients(self, within_s: float) -> bool:
        """Return whether there are clients, or were at any moment of the last ``within_s`` seconds."""
        return bool(self.clients) or time.monotonic() - self._left_at < within_s

    def forget(self, client: _ClientHalf) -> None:
        self._left_at = time.monotonic()
        self.clients.discard(client)
        self.on_clients()
        self.table.remove(client)

    def note_heard(self) -> None:
        self.heard_at = time.monotonic()

    @property
    def presses(self) -> bool:
        """Whether a client holds a button. May be asked from any thread."""
        return any(client.presses for client in list(self.clients))

    def lift(self) -> None:
        if self._thread is not None:
            self._thread.call(self._lift)

    async def take(self, connection: socket.socket, address: str, who: Token) -> None:
        """Serve a connection whose WebSocket is open, of someone at ``address`` who may watch; close it."""
        if self._thread is None:
            connection.close()
            raise ConnectionError("the screen is being started")
        await self._thread.run(self._take(connection, address, who))

    async def close(self) -> None:
        thread, self._thread = self._thread, None
        if self.secrets is not None and self._secrets_changed in self.secrets.on_change:
            self.secrets.on_change.remove(self._secrets_changed)
        if thread is not None:
            await thread.run(self._close())
            await thread.stop()

    async def _listen(self, ports: Sequence[socket.socket], private: Path, watching: Path) -> None:
        loop = asyncio.get_running_loop()
        self._servers = [
            await loop.create_unix_server(lambda: _ClientHalf(self, private=True), private),
            await loop.create_unix_server(lambda: _ClientHalf(self, private=True, watches=True), watching),
        ]
        self._servers += [await serve(lambda: _ClientHalf(self), listener) for listener in ports]

    def _secrets_changed(self) -> None:
        if self._thread is not None:
            self._thread.call(self._expel)

    def _expel(self) -> None:
        for client in list(self.clients):
            if client.may_not_stay:
                client.transport.abort()

    def _lift(self) -> None:
        for client in self.clients:
            client.lift()

    async def _take(self, connection: socket.socket, address: str, who: Token) -> None:
        try:
            loop = asyncio.get_running_loop()
            await loop.connect_accepted_socket(lambda: _ClientHalf(self, by_web=(address, who)), connection)
        except BaseException:
            connection.close()
            raise

    async def _type_with(self, keyboard: Keyboard | None) -> None:
        before, self.keyboard = self.keyboard, keyboard
        if before is not None:
            await before.close()

    async def _close(self) -> None:
        await self._type_with(None)
        servers, self._servers = self._servers, []
        # A server that is closed forgets the connections that it accepted a moment ago, which are only tasks as yet.
        for listener in (listener for server in servers for listener in server.sockets):
            asyncio.get_running_loop().remove_reader(listener.fileno())
        accepted = asyncio.all_tasks() - {asyncio.current_task()}
        while self.clients or not all(task.done() for task in accepted):
            for client in list(self.clients):
                client.transport.abort()
            await asyncio.sleep(0)
        for server in servers:
            server.close()


class _ClientHalf(Half):
    """A client: its handshake, and then its messages, which go to the VNC server."""

    def __init__(
        self,
        vnc_proxy: VncProxy,
        *,
        private: bool = False,
        watches: bool = False,
        by_web: tuple[str, Token] | None = None,
    ) -> None:
        """``private``: it came by a private socket. ``by_web``: by the rewarder port, from where, and who."""
        self._vnc_proxy = vnc_proxy
        self._private = private
        self._watches = watches
        self._loop = asyncio.get_running_loop()
        # Who comes by one of these is let in: the rewarder port has checked the password.
        is_let_in = private or by_web is not None
        self._challenge = os.urandom(CHALLENGE_BYTES) if vnc_proxy.secrets is not None and not is_let_in else None
        self._who: Token | None = None
        self._address = ""
        if by_web is not None:
            self._address, who = by_web
            self._who = who if vnc_proxy.secrets is not None else None
        self._handshake = ServerHandshake(self._challenge)
        self._web = None if by_web is None else WebStream(masks=False, control_frames=ControlFrames(self._loop.time))
        self._judging = False
        self._input: ClientInput | None = None
        self._opening: asyncio.Task[None] | None = None
        self._deadline = self._loop.call_later(HANDSHAKE_S, self._late)

    @property
    def may_not_stay(self) -> bool:
        """Whether it was let in by a token that has been taken away."""
        return self._who is not None and Right.WATCH not in self._rights

    @property
    def types(self) -> bool:
        return self._input is not None

    @property
    def presses(self) -> bool:
        return self._input is not None and self._input.presses

    def lift(self) -> None:
        if self._input is not None:
            self._input.lift()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        vnc_proxy = self._vnc_proxy
        vnc_proxy.clients.add(self)
        vnc_proxy.on_clients()
        if not self._private:
            self._address = self._address or address_key(self.transport.get_extra_info("peername")[0])
            dropped = vnc_proxy.table.add(self, self._address)
            if dropped is not None:
                dropped.transport.abort()
                self._log_dropped()
        if self.may_not_stay:
            # Its token was taken away on the way here.
            self.transport.abort()
            return
        if self._web is not None:
            self._note()
        self.send(self._handshake.greeting)

    def data_received(self, data: bytes) -> None:
        try:
            if self._web is not None:
                data = self._take_web(self._web, data)
            self._take(data)
        except BadWebSocket as error:
            self._refuse(str(error), PROTOCOL_ERROR)
        except RfbError as error:
            self._refuse(str(error))

    def send(self, data: bytes) -> None:
        if not data or self.transport.is_closing():
            return
        if self._web is not None:
            data = self._web.wrap(data)
        self.transport.write(data)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._web is not None:
            self.transport.write(self._web.take_answers())

    def end(self) -> None:
        if self._web is not None and not self.transport.is_closing():
            self.transport.write(self._web.close("the VNC server was lost"))
        super().end()

    def _take_web(self, web: WebStream, data: bytes) -> bytes:
        received = web.feed(data)
        if web.closed is not None or self.transport.get_write_buffer_size() <= BUFFER_BYTES:
            self.transport.write(web.take_answers())
        if web.closed is not None:
            self.transport.close()
        return received

    def _take(self, data: bytes) -> None:
        if self._input is not None:
            self._input.feed(data)
            return
        self.send(self._handshake.feed(data))
        if self._handshake.answer is not None and not self._judging:
            self._take_answer(self._handshake.answer)
        elif self._handshake.done and self._opening is None:
            # What it sends meanwhile waits in the kernel.
            self.transport.pause_reading()
            self._opening = start_task(self._open(), "VNC client", self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.cancel()
        self._vnc_proxy.forget(self)
        if self._opening is not None:
            self._opening.cancel()
        if self._input is not None:
            self._input.close()
            self._input = None
            if self._vnc_proxy.keyboard is not None and not any(client.types for client in self._vnc_proxy.clients):
                self._vnc_proxy.keyboard.rest()
        super().connection_lost(exc)

    def _take_answer(self, answer: bytes) -> None:
        self._judging = True
        vnc_proxy = self._vnc_proxy
        assert vnc_proxy.secrets is not None
        assert self._challenge is not None
        if vnc_proxy.secrets.identify_answer(self._challenge, answer, long=True) is not None:
            # It can't be guessed, and so doesn't wait for those who guess.
            self._judge(answer)
            return
        wait_s = vnc_proxy.throttle.delay(self._address, self._loop.time())
        if wait_s is None:
            self._refuse("too many guesses of the password at once")
        elif wait_s:
            self._loop.call_later(wait_s, self._judge, answer)
        else:
            self._judge(answer)

    def _judge(self, answer: bytes) -> None:
        vnc_proxy = self._vnc_proxy
        assert vnc_proxy.secrets is not None
        assert self._challenge is not None
        who = self._who = vnc_proxy.secrets.identify_answer(self._challenge, answer)
        note_guess(PORT, vnc_proxy.throttle, self._address, right=who is not None, now=self._loop.time())
        if self.transport.is_closing():
            return
        if who is None or self.may_not_stay:
            reason = "the password is wrong" if who is None else "the lease of this token has ended"
            self.send(self._handshake.refuse(reason))
            self.transport.close()
            return
        self._note()
        self.send(self._handshake.accept())
        self._go_on()

    def _note(self) -> None:
        if self._who is not None and self._rights & INPUT:
            audit.note("screen connected with input", self._who, self._address)

    async def _open(self) -> None:
        if not self._private and not self._vnc_proxy.table.admit(self):
            self._refuse("there are too many connections")
            return
        self._deadline.cancel()
        try:
            server = await self._vnc_proxy.connect(watches=self._watches or not self._rights & INPUT)
        except (VncServerLost, StartError) as error:
            log.warning("VNC: a client was turned away: %s", error)
            self.transport.abort()
            return
        if self.transport.is_closing():
            server.transport.abort()
            return
        self.send(server_init(server.desktop.result()) + server.leftover)
        join(self, server)
        for half in (self, server):
            half.transport.resume_reading()
        self._input = ClientInput(
            self.transport, server.transport, self._vnc_proxy.keyboard, self._permitted, self.send, self._patience_s
        )
        self._go_on(self._handshake.leftover)

    def _go_on(self, data: bytes = b"") -> None:
        try:
            self._take(data)
        except RfbError as error:
            self._refuse(str(error))

    @property
    def _rights(self) -> Right:
        secrets = self._vnc_proxy.secrets
        return secrets.rights(self._who) if secrets is not None and self._who is not None else INPUT

    def _permitted(self) -> Permitted | None:
        # A person in control in the viewer may do what an agent may not.
        if self._private:
            return NOTHING if self._watches else None
        return self._vnc_proxy.permitted if self._rights & INPUT else NOTHING

    def _patience_s(self) -> float:
        return PATIENCE_S if self._rights & INPUT and not self._watches else WATCHERS_PATIENCE_S

    def _refuse(self, why: str, code: int = POLICY_VIOLATION) -> None:
        log.debug("VNC: %s was refused: %s", self._address or "the viewer", why)
        if self._web is None:
            self.transport.abort()
        elif not self.transport.is_closing():
            self.transport.write(self._web.close(why, code))
            self.transport.close()
            self._loop.call_later(CLOSE_S, self.transport.abort)
        self._log_dropped()

    def _late(self) -> None:
        self._refuse(f"it did not finish the handshake within {HANDSHAKE_S:g} s")

    def _log_dropped(self) -> None:
        log_dropped(PORT, self._vnc_proxy.table, self._address, self._loop.time())
