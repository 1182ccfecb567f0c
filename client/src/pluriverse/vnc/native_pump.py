"""Connections of the native driver: a pool of threads in C reads and decodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pluriverse.rfb import ServerInit
from pluriverse.rfb._native import NativeConnection
from pluriverse.screen_socket import ScreenSocket
from pluriverse.waker import WAKER

from .connection import Frame, InputEvent, InputState
from .options import VncOptions

_Taken = tuple[NDArray[np.uint8], bytes | None, int, int, float]


class NativePump:
    """``VncConnection``. Takes over the socket, also where it raises."""

    def __init__(self, opened: ScreenSocket, desktop: ServerInit, leftover: bytes, options: VncOptions) -> None:
        self.held: InputState = InputState()
        self._taken: _Taken | None = None
        self._frame: Frame | None = None
        self.native: NativeConnection = NativeConnection(
            opened.raw.detach(),
            desktop.width,
            desktop.height,
            continuous=options.continuous,
            regions=options.wanted_regions,
            spec=options.picture,
            silence_s=options.silence_s,
            leftover=leftover,
            waker=WAKER.fd,
            web_left=-1 if opened.stream is None else opened.stream.left,
        )

    @property
    def width(self) -> int:
        return self.native.width

    @property
    def height(self) -> int:
        return self.native.height

    @property
    def error(self) -> Exception | None:
        return self.native.error

    @property
    def fresh(self) -> bool:
        """Whether there is a frame that wasn't taken."""
        return self.native.fresh

    def frame(self) -> Frame | None:
        taken = self.native.frame()
        if taken is not self._taken and taken is not None:
            self._taken, self._frame = taken, Frame._make(taken)
        return self._frame

    def send_events(self, events: Sequence[InputEvent]) -> None:
        self.native.send(self.held.messages(events, extended=self.native.extended_buttons))

    def close(self) -> None:
        """Let go of everything and hang up."""
        self.native.send(self.held.release())
        self.native.close()
