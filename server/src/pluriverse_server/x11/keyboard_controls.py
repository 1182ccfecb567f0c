"""How a keyboard behaves: which keys repeat and how fast, and whether keys move the pointer.

python-xlib lacks this extension. Requests: https://www.x.org/releases/current/doc/kbproto/xkbproto.html
"""

from __future__ import annotations

from typing import Any, Final

from Xlib.display import Display
from Xlib.protocol import rq

from .modifier_lock import CORE_KEYBOARD

# Repeat keys, slow, bounce and sticky keys, mouse keys and the others that are on or off.
_SWITCHES: Final = 0x1FFF
# What `_SetControls` changes: how fast keys repeat, which do, and what is on.
_CHANGED: Final = 1 << 0 | 1 << 30 | 1 << 31


class _GetControls(rq.ReplyRequest):
    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(6), rq.RequestLength(), rq.Card16("device"), rq.Pad(2))
    _reply = rq.Struct(
        rq.ReplyCode(),
        rq.Card8("device"),
        rq.Card16("sequence_number"),
        rq.ReplyLength(),
        rq.Pad(12),
        rq.Card16("repeat_delay"),
        rq.Card16("repeat_interval"),
        rq.Pad(32),
        rq.Card32("switches"),
        rq.FixedBinary("repeating", 32),
    )


class _SetControls(rq.Request):
    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(7),
        rq.RequestLength(),
        rq.Card16("device"),
        rq.Pad(18),
        rq.Card32("affected_switches"),
        rq.Card32("switches"),
        rq.Card32("changed"),
        rq.Card16("repeat_delay"),
        rq.Card16("repeat_interval"),
        rq.Pad(28),
        rq.FixedBinary("repeating", 32),
    )


class KeyboardControls:
    """Reads and changes them, with the opcode of ``KeyboardLocks``. Requests go out with the connection's next ones."""

    def __init__(self, connection: Display, opcode: int) -> None:
        self._display = connection.display
        self._opcode = opcode

    def ask(self) -> Any:
        """Ask for them: the answer is for ``set``, and equal to another one's ``values_of`` where they are the same."""
        return _GetControls(self._display, True, opcode=self._opcode, device=CORE_KEYBOARD)

    @staticmethod
    def values_of(asked: Any) -> tuple[int, int, int, bytes]:
        """Return the switches, the delay and interval of repeats, and a bit for each key that repeats."""
        asked.reply()
        return asked.switches, asked.repeat_delay, asked.repeat_interval, asked.repeating

    def set(self, values: tuple[int, int, int, bytes]) -> None:
        switches, delay, interval, repeating = values
        _SetControls(
            display=self._display,
            opcode=self._opcode,
            device=CORE_KEYBOARD,
            affected_switches=_SWITCHES,
            switches=switches & _SWITCHES,
            changed=_CHANGED,
            repeat_delay=delay,
            repeat_interval=interval,
            repeating=repeating,
        )
