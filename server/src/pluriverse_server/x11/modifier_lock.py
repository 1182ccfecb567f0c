"""A modifier key that stays down without any key: toolkits take clicks with other modifiers for separate ones.

python-xlib lacks this extension. Requests: https://www.x.org/releases/current/doc/kbproto/xkbproto.html
"""

from __future__ import annotations

from typing import Final

from Xlib.display import Display
from Xlib.protocol import rq

from .connection import DisplayLost

EXTENSION: Final = "XKEYBOARD"

# No key of the usual maps is this modifier, and no character depends on it.
MODIFIER: Final = 1 << 5

_CORE_KEYBOARD: Final = 0x100


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


class _LatchLockState(rq.Request):
    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(5),
        rq.RequestLength(),
        rq.Card16("device"),
        rq.Card8("affected_locks"),
        rq.Card8("locks"),
        rq.Pad(8),
    )


class ModifierLock:
    """Locks a modifier that nothing depends on, and lets it go. Requests go out with the connection's next ones."""

    def __init__(self, connection: Display) -> None:
        """Agree on the extension; raise DisplayLost if the server lacks it."""
        found = connection.query_extension(EXTENSION)
        if found is None:
            raise DisplayLost(f"the X server lacks the extension {EXTENSION}")
        self._connection = connection
        self._opcode: int = found.major_opcode
        self._locked = False
        _UseExtension(display=connection.display, opcode=self._opcode, wanted_major=1, wanted_minor=0)

    def toggle(self) -> None:
        """Lock it if it isn't locked, else let it go."""
        self._locked = not self._locked
        _LatchLockState(
            display=self._connection.display,
            opcode=self._opcode,
            device=_CORE_KEYBOARD,
            affected_locks=MODIFIER,
            locks=MODIFIER if self._locked else 0,
        )
