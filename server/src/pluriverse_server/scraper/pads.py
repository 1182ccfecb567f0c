"""The gamepads of a program: what it opens as their devices are sockets (native/pads), whose other ends are here."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from pluriverse_protocol.events import JoystickEvent
from pluriverse_protocol.pads import AXES, NAMES, PLACES, TRIGGERS, fitted

from pluriverse_server.process import StartError

LIBRARY: Final = Path(__file__).with_name("preloaded_pads.so")

# Below HOME, where each world of the program finds its own.
FOLDER: Final = Path(".run", "pads")

# A program has each device open once, or twice; one that opens them again and again without closing gets no more.
MAX_OPEN: Final = 64

# <linux/input.h>, <linux/input-event-codes.h>, <linux/joystick.h>
_EVENT: Final = struct.Struct("@llHHi")
_EV_SYN, _EV_KEY, _EV_ABS = 0, 1, 3
_AXES: Final = (0, 1, 2, 3, 4, 5)
_BUTTONS: Final = (0x130, 0x131, 0x133, 0x134, *range(0x136, 0x138), *range(0x13A, 0x13F), *range(0x220, 0x224), 0x2C0)
_JS_EVENT: Final = struct.Struct("@IhBB")
_JS_BUTTON, _JS_AXIS, _JS_INIT = 1, 2, 0x80
_FULL: Final = 0x7FFF

_AT_REST: Final = (0.0,) * len(NAMES[0])


def environment(home: Path, pads: int) -> dict[str, str]:
    """Return how a program whose HOME is ``home`` finds so many pads; SDL 2 would ask udev, which knows of none."""
    devices = ":".join(f"/dev/input/event{pad}" for pad in range(pads))
    return {"PLURIVERSE_PADS": str(home / FOLDER), "SDL_JOYSTICK_DEVICE": devices}


class Pads:
    """``count`` pads, which the program opens by ``look``. In lockstep all of it is for when the program stands."""

    def __init__(self, home: Path, count: int) -> None:
        """Raise StartError if the program can't have any."""
        if not LIBRARY.exists():
            raise StartError("program.pads need the native part of pluriverse-server; with a C compiler, install it")
        self._values = [_AT_REST] * count
        self.opened: list[_Opened] = []
        """What the program has open, in the order of ``KeptPads``."""
        self._listening: list[tuple[socket.socket, int, bool]] = []
        (home / FOLDER).mkdir()
        # The name of a socket is limited, that of its folder isn't.
        folder = os.open(home / FOLDER, os.O_PATH)
        for pad in range(count):
            for name, is_js in ((f"event{pad}", False), (f"js{pad}", True)):
                listening = socket.socket(socket.AF_UNIX)
                self._listening.append((listening, pad, is_js))
                listening.bind(f"/proc/self/fd/{folder}/{name}")
                listening.listen(MAX_OPEN)
                listening.setblocking(False)
        os.close(folder)

    def look(self, at: float) -> None:
        """Take in what the program has opened and closed, and tell it what it has yet to hear; ``at`` is its time."""
        for opened in self.opened:
            opened.look()
        self.opened = [opened for opened in self.opened if opened.fileno() >= 0]
        for listening, pad, is_js in self._listening:
            with contextlib.suppress(BlockingIOError):
                while True:
                    connection, _ = listening.accept()
                    if len(self.opened) < MAX_OPEN:
                        self.opened.append(_Opened(connection, pad, is_js, None if is_js else _AT_REST))
                    else:
                        connection.close()
        self._tell(at)

    def apply(self, events: Iterable[JoystickEvent], at: float) -> None:
        """Have the pads do these; of an input that they don't have there is nothing to do."""
        for event in events:
            pad, number = PLACES.get(event.name, (len(self._values), 0))
            if pad < len(self._values):
                before = self._values[pad]
                self._values[pad] = (*before[:number], fitted(number, event.value), *before[number + 1 :])
                self._tell(at)

    def keep(self) -> KeptPads:
        return KeptPads(self._values.copy(), [(each.pad, each.is_js, each.told) for each in self.opened])

    def go_back(self, kept: KeptPads, descriptors: Sequence[int]) -> None:
        """Be as then, with a program that has the other ends of ``descriptors``."""
        self._close_opened()
        self._values = kept.values.copy()
        connections = [socket.socket(fileno=descriptor) for descriptor in descriptors]
        self.opened = [_Opened(each, *opened) for each, opened in zip(connections, kept.opened, strict=True)]

    def close(self) -> None:
        self._close_opened()
        for listening, _, _ in self._listening:
            listening.close()

    def _tell(self, at: float) -> None:
        for opened in self.opened:
            opened.tell(self._values[opened.pad], at)

    def _close_opened(self) -> None:
        while self.opened:
            self.opened.pop().close()


class _Opened:
    """A device that the program has open, and what it was told of its inputs; None: nothing."""

    def __init__(self, connection: socket.socket, pad: int, is_js: bool, told: tuple[float, ...] | None) -> None:
        connection.setblocking(False)
        self._connection = connection
        self.pad = pad
        self.is_js = is_js
        self.told = told

    def fileno(self) -> int:
        return self._connection.fileno()

    def look(self) -> None:
        """Close this end if the program has closed its."""
        try:
            left = self._connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except ConnectionResetError:
            # It hadn't read all.
            left = b""
        if not left:
            self.close()

    def tell(self, values: tuple[float, ...], at: float) -> None:
        """Tell it what has changed; one that doesn't read hears later of how it is then."""
        kind = _JS_INIT if self.told is None else 0
        before = self.told or (None,) * len(values)
        changed = [number for number, value in enumerate(values) if value != before[number]]
        make = partial(_js_event, kind=kind) if self.is_js else _event
        with contextlib.suppress(OSError):
            if changed:
                self._connection.send(b"".join(make(number, values[number], at) for number in changed))
                self.told = values

    def close(self) -> None:
        self._connection.close()


def _event(number: int, value: float, at: float) -> bytes:
    seconds, part = divmod(round(at * 1e6), 1_000_000)
    if number < len(AXES):
        said = _EVENT.pack(seconds, part, _EV_ABS, _AXES[number], round(value * _FULL))
    else:
        said = _EVENT.pack(seconds, part, _EV_KEY, _BUTTONS[number - len(AXES)], int(value))
    return said + _EVENT.pack(seconds, part, _EV_SYN, 0, 0)


def _js_event(number: int, value: float, at: float, kind: int) -> bytes:
    ms = int(at * 1000) & 0xFFFFFFFF
    if number >= len(AXES):
        return _JS_EVENT.pack(ms, int(value), kind | _JS_BUTTON, number - len(AXES))
    full = round(2 * value * _FULL) - _FULL if number in TRIGGERS else round(value * _FULL)
    return _JS_EVENT.pack(ms, full, kind | _JS_AXIS, number)


@dataclass(frozen=True, slots=True)
class KeptPads:
    """Pads as they were: their inputs, and of each device that was open its pad, its kind, and what it was told."""

    values: list[tuple[float, ...]]
    opened: list[tuple[int, bool, tuple[float, ...] | None]]
