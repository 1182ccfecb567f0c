"""Connections of the driver in Python: a thread for each, around a decoder.

It asks for each update only when it has taken in the one before: the decoder tells of an update's end when it has
decoded all that came with it, and a part of the next one must not be among that. So it doesn't use continuous updates.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Sequence
from typing import Final

from pluriverse_protocol.rfb import messages
from pluriverse_protocol.rfb.numbers import FenceFlag

from pluriverse.errors import Misuse, printable
from pluriverse.forks import Owner, keep
from pluriverse.rfb import Decoder, Region, RfbProtocolError, ServerInit
from pluriverse.rfb.events import Fence, Resized, UpdateFinished
from pluriverse.screen_socket import ScreenSocket
from pluriverse.tls import WOULD_BLOCK
from pluriverse.waker import WAKER

from .connection import Frame, InputEvent, InputState
from .options import VncOptions

# These are the native driver's, in client/native/connection.c and pool.c, which says why.
MAX_UNSENT_BYTES: Final = 256 * 1024
HANG_UP_GRACE_S: Final = 0.05
PROBE_AFTER: Final = 0.5
TICK_S: Final = 0.25
RECEIVE_BYTES: Final = 128 * 1024

KNOWN_FENCE_FLAGS: Final = FenceFlag.BLOCK_BEFORE | FenceFlag.BLOCK_AFTER | FenceFlag.SYNC_NEXT


class PythonPump:
    """``VncConnection``. Takes over the socket."""

    def __init__(
        self,
        decoder: type[Decoder],
        opened: ScreenSocket,
        desktop: ServerInit,
        leftover: bytes,
        options: VncOptions,
    ) -> None:
        self._owner = Owner("this connection")
        self._socket = keep(opened.raw)
        self._stream = opened.stream
        self._options = options
        regions = options.wanted_regions
        self._decoder = decoder(desktop.width, desktop.height, regions=regions, spec=options.picture)
        self.held: InputState = InputState()
        self._frame: Frame | None = None
        self._taken: Frame | None = None
        self._error: Exception | None = None
        self._closing = False
        # The thread sends too, and what could not be sent yet is one queue. TLS can't read and write at the same time.
        self._lock = threading.Lock()
        self._unsent = bytearray()
        self._heard_at = time.monotonic()
        self._probed = False
        self._request(incremental=False)
        self._thread = threading.Thread(target=self._run, args=(leftover,), name="vnc: decoder", daemon=True)
        self._thread.start()

    @property
    def width(self) -> int:
        return self._decoder.width

    @property
    def height(self) -> int:
        return self._decoder.height

    @property
    def error(self) -> Exception | None:
        try:
            self._owner.require()
        except Misuse as error:
            return ConnectionError(str(error))
        return self._error

    @property
    def fresh(self) -> bool:
        """Whether there is a frame that wasn't taken."""
        return self._frame is not self._taken

    def frame(self) -> Frame | None:
        self._taken = self._frame
        return self._taken

    def send_events(self, events: Sequence[InputEvent]) -> None:
        self._send(self.held.messages(events, extended=self._decoder.extended_buttons))

    def close(self) -> None:
        """Let go of everything and hang up."""
        if self._closing or not self._owner.is_here:
            return
        self._send(self.held.release())
        self._closing = True
        self._shut(socket.SHUT_WR)
        # The server hangs up in turn once it has read all; one that doesn't isn't waited for.
        self._thread.join(HANG_UP_GRACE_S)
        self._shut(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    # -- The thread ----------------------------------------------------------------------------------------------------

    def _run(self, leftover: bytes) -> None:
        try:
            self._take(leftover)
            # What TLS has decrypted already shows on no descriptor.
            self._receive()
            while self._error is None:
                if self._is_readable():
                    self._receive()
                self._check_silence(time.monotonic() - self._heard_at)
        except (RfbProtocolError, OSError) as error:
            with self._lock:
                # The first failure is the reason of the others.
                if not self._closing and self._error is None:
                    self._error = error
            self._shut(socket.SHUT_RDWR)
        WAKER.wake()

    def _is_readable(self) -> bool:
        """Wait for input, for a tick; send what is unsent."""
        poller = select.poll()
        poller.register(self._socket, select.POLLIN | (select.POLLOUT if self._unsent else 0))
        for _, happened in poller.poll(TICK_S * 1000):
            if happened & select.POLLOUT:
                self._post(b"")
            if happened & ~select.POLLOUT:
                return True
        return False

    def _receive(self) -> None:
        try:
            with self._lock:
                data = self._socket.recv(RECEIVE_BYTES)
        except WOULD_BLOCK:
            return
        if not data:
            raise ConnectionError("the server hung up")
        if self._stream is not None:
            data = self._stream.feed(data)
            self._post(self._stream.take_answers())
        if data and not self._closing:
            self._take(data)
        if self._stream is not None and self._stream.closed is not None:
            raise ConnectionError(f"the server hung up: {printable(self._stream.closed) or 'no reason given'}")

    def _take(self, data: bytes) -> None:
        began, extended = not self._decoder.in_update, self._decoder.extended_buttons
        happened = self._decoder.feed(data)
        # A server that sends an update a byte at a time has stalled, too.
        if began or happened or not self._decoder.in_update:
            self._heard_at = time.monotonic()
            self._probed = False
        request = None
        for event in happened:
            match event:
                case UpdateFinished(_, pixels):
                    if pixels:
                        self._publish()
                    # The server announces nine buttons unasked: another request would let two updates follow
                    # each other, and the first be published with a part of the second.
                    if pixels or extended == self._decoder.extended_buttons:
                        request = request or "incremental"
                case Resized():
                    request = "whole"
                case Fence(flags, payload) if flags & FenceFlag.REQUEST:
                    self._send(messages.fence(flags & KNOWN_FENCE_FLAGS, payload))
                case _:
                    pass
        if request is not None:
            self._request(incremental=request == "incremental")

    def _publish(self) -> None:
        array = self._decoder.picture
        array.flags.writeable = False
        self._frame = Frame(array, self._decoder.block, self._decoder.updates, self._decoder.pixels, time.time())
        WAKER.wake()

    def _check_silence(self, silent_s: float) -> None:
        if silent_s > self._options.silence_s:
            if self._decoder.in_update:
                raise TimeoutError(f"the server has not finished an update in {silent_s:.1f} s")
            raise TimeoutError(f"the server has been silent for {silent_s:.1f} s though a pixel was requested")
        if silent_s > self._options.silence_s * PROBE_AFTER and not self._probed:
            self._probed = True
            view = self._view()
            self._send(messages.framebuffer_update_request(view.x, view.y, 1, 1, incremental=False))

    # -- Sending -------------------------------------------------------------------------------------------------------

    def _view(self) -> Region:
        """The part of the screen around all regions; all of it if they lie elsewhere."""
        whole = Region(0, 0, self.width, self.height)
        regions = [region for region in self._options.wanted_regions or () if region.touches(whole)]
        if not regions:
            return whole
        left, top = min(region.x for region in regions), min(region.y for region in regions)
        right = min(self.width, max(region.x + region.width for region in regions))
        bottom = min(self.height, max(region.y + region.height for region in regions))
        return Region(left, top, right - left, bottom - top)

    def _request(self, *, incremental: bool) -> None:
        self._send(messages.framebuffer_update_request(*self._view(), incremental=incremental))

    def _send(self, data: bytes) -> None:
        self._post(data if self._stream is None or not data else self._stream.wrap(data))

    def _post(self, data: bytes) -> None:
        if not self._owner.is_here:  # a thread may have held the lock when that was forked
            return
        with self._lock:
            if self._closing or self._error is not None:
                return
            self._unsent += data
            try:
                while self._unsent:
                    del self._unsent[: self._socket.send(self._unsent)]
            except WOULD_BLOCK:
                pass
            except OSError:
                # Reading has the reason.
                self._unsent.clear()
            if len(self._unsent) > MAX_UNSENT_BYTES:
                self._error = TimeoutError(f"the server left {MAX_UNSENT_BYTES} bytes of input unread")
                self._shut(socket.SHUT_RDWR)

    def _shut(self, how: int) -> None:
        with contextlib.suppress(OSError):  # it is gone already, which is what was wanted
            # Of TCP: that of TLS forgets what it knows at once, and the thread still reads.
            socket.socket.shutdown(self._socket, how)
