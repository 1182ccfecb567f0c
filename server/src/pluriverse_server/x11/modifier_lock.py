"""What is locked on a keyboard: Caps Lock and the like, the layout, and a modifier that keeps clicks apart.

python-xlib lacks this extension. Requests: https://www.x.org/releases/current/doc/kbproto/xkbproto.html
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from Xlib.display import Display
from Xlib.protocol import rq

from .connection import DisplayLost

EXTENSION: Final = "XKEYBOARD"

# No key of the usual maps is this modifier, and no character depends on it.
MODIFIER: Final = 1 << 5

ALL_MODIFIERS: Final = 0xFF

# Kinds of events, and all that may change of a map.
_NEW_KEYBOARD: Final = 1 << 0
_MAP: Final = 1 << 1
_ALL_OF_MAP: Final = 0xFF

CORE_KEYBOARD: Final = 0x100


class _UseExtension(rq.ReplyRequest):
    _request = rq.Struct(
        rq.Card8("opcode"), rq.Opcode(0), rq.RequestLength(), rq.Card16("wanted_major"), rq.Card16("wanted_minor")
    )
    _reply = rq.Struct(
        rq.ReplyCode(),
        rq.Bool("supported"),
        rq.Card16("sequence_number"),
        rq.ReplyLength(),
        rq.Card16("server_major"),
        rq.Card16("server_minor"),
        rq.Pad(20),
    )


class _SelectEvents(rq.Request):
    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(1),
        rq.RequestLength(),
        rq.Card16("device"),
        rq.Card16("affected"),
        rq.Card16("cleared"),
        rq.Card16("selected"),
        rq.Card16("affected_of_map"),
        rq.Card16("selected_of_map"),
    )


class _GetState(rq.ReplyRequest):
    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(4), rq.RequestLength(), rq.Card16("device"), rq.Pad(2))
    _reply = rq.Struct(
        rq.ReplyCode(),
        rq.Card8("device"),
        rq.Card16("sequence_number"),
        rq.ReplyLength(),
        rq.Card8("modifiers"),
        rq.Card8("held"),
        rq.Card8("latched"),
        rq.Card8("locked"),
        rq.Card8("group"),
        rq.Card8("locked_group"),
        rq.Int16("held_group"),
        rq.Int16("latched_group"),
        rq.Pad(12),
    )


class _LatchLockState(rq.Request):
    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(5),
        rq.RequestLength(),
        rq.Card16("device"),
        rq.Card8("affected_locks"),
        rq.Card8("locks"),
        rq.Bool("affects_group"),
        rq.Card8("group"),
        rq.Card8("affected_latches"),
        rq.Pad(2),
        rq.Bool("affects_latched_group"),
        rq.Pad(2),
    )


class Locks(NamedTuple):
    modifiers: int = 0
    group: int = 0


class KeyboardLocks:
    """Reads and changes what is locked. Requests go out with the connection's next ones.

    Where the keyboard map changes, the connection gets an event of the type ``remapped`` instead of a MappingNotify.
    """

    def __init__(self, connection: Display) -> None:
        found = connection.query_extension(EXTENSION)
        if found is None:
            raise DisplayLost(f"the X server lacks the extension {EXTENSION}")
        self.opcode: int = found.major_opcode
        self.remapped: int = found.first_event
        self._display = connection.display
        _UseExtension(display=self._display, opcode=self.opcode, wanted_major=1, wanted_minor=0)
        _SelectEvents(
            display=self._display,
            opcode=self.opcode,
            device=CORE_KEYBOARD,
            affected=_NEW_KEYBOARD | _MAP,
            cleared=0,
            selected=_NEW_KEYBOARD,
            affected_of_map=_ALL_OF_MAP,
            selected_of_map=_ALL_OF_MAP,
        )

    def ask(self) -> Any:
        return _GetState(self._display, True, opcode=self.opcode, device=CORE_KEYBOARD)

    @staticmethod
    def locks_of(asked: Any) -> tuple[Locks, bool]:
        """Return what is locked, and whether anything is latched; waits for the answer."""
        asked.reply()
        return Locks(asked.locked, asked.locked_group), bool(asked.latched or asked.latched_group)

    def set(self, locks: Locks, *, unlatch: bool = False) -> None:
        """Lock these modifiers, no others, and the layout. ``unlatch``: nothing is latched any more, either."""
        _LatchLockState(
            display=self._display,
            opcode=self.opcode,
            device=CORE_KEYBOARD,
            affected_locks=ALL_MODIFIERS,
            locks=locks.modifiers,
            affects_group=True,
            group=locks.group,
            affected_latches=ALL_MODIFIERS if unlatch else 0,
            affects_latched_group=unlatch,
        )


class ModifierLock:
    """Locks a modifier that nothing depends on, and lets it go. Toolkits take clicks with others for separate ones."""

    def __init__(self, connection: Display) -> None:
        self._connection = connection
        self._opcode = KeyboardLocks(connection).opcode
        self.locked = False

    def toggle(self) -> None:
        """Lock it if it isn't locked, else let it go."""
        self._set(locked=not self.locked)

    def release(self) -> None:
        """Release it, even if it was changed meanwhile."""
        self._set(locked=False)

    def _set(self, *, locked: bool) -> None:
        self.locked = locked
        _LatchLockState(
            display=self._connection.display,
            opcode=self._opcode,
            device=CORE_KEYBOARD,
            affected_locks=MODIFIER,
            locks=MODIFIER if locked else 0,
            affects_group=False,
            group=0,
            affected_latches=0,
            affects_latched_group=False,
        )
