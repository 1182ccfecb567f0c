"""What happens on a screen: that something was drawn (XDamage), and whether a program has a window there (XRes)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final, cast

from Xlib import X, error
from Xlib.ext import damage, res

from pluriverse_server.display import DisplayLost
from pluriverse_server.display.connection import CONNECTION_ERRORS, open_display

# Toolkits keep windows of a pixel for themselves; a program that plays shows more than that.
MIN_SIDE: Final = 16


class ScreenWatch:
    """A connection to the X server, for the event loop's thread; ``drawn`` is set whenever something was drawn."""

    def __init__(self, display: str, xauthority: Path) -> None:
        """Connect, and begin to watch.

        Raises:
            DisplayLost: there is no X server at ``display``, or it lacks an extension.
        """
        self.drawn = asyncio.Event()
        self._connection: Any = open_display(display, xauthority)
        try:
            for extension in (damage.extname, res.extname):
                if not self._connection.has_extension(extension):
                    raise DisplayLost(f"the X server at {display} lacks the extension {extension}")
            # Both want to be asked for their version before anything else.
            self._connection.damage_query_version()
            self._connection.res_query_version()
            self._root: Any = self._connection.screen().root
            self._damage: int = self._root.damage_create(damage.DamageReportNonEmpty)
            self._connection.flush()
        except CONNECTION_ERRORS as problem:
            raise DisplayLost(f"the X server at {display} went away: {problem}") from problem
        # Of a connection that was lost python-xlib doesn't say it any more.
        self._descriptor: int = self._connection.fileno()
        asyncio.get_running_loop().add_reader(self._descriptor, self._heard)

    def rearm(self) -> None:
        """What is drawn from now on sets ``drawn`` again.

        The server isn't waited for: what is drawn while the request is on its way may be missed, and is seen in the
        next frame all the same.
        """
        self.drawn.clear()
        try:
            self._connection.damage_subtract(self._damage)
            self._connection.flush()
        except CONNECTION_ERRORS:
            self._stop_listening()

    def has_window_of(self, pids: Collection[int]) -> bool:
        """Whether one of the processes has a window on the screen that can be seen.

        Raises:
            DisplayLost: the X server is gone.
        """
        try:
            return any(self._is_seen(window) and self._owner(window.id) in pids for window in self._windows())
        except CONNECTION_ERRORS as problem:
            raise DisplayLost(f"the X server went away: {problem}") from problem

    def close(self) -> None:
        """Hang up. May be called when the X server is gone."""
        self._stop_listening()
        self._connection.display.socket.close()

    def _windows(self) -> list[Any]:
        return self._root.query_tree().children

    def _is_seen(self, window: Any) -> bool:
        try:
            if window.get_attributes().map_state != X.IsViewable:
                return False
            size = window.get_geometry()
        except error.XError:
            # It has been closed since it was listed.
            return False
        return min(size.width, size.height) >= MIN_SIDE

    def _owner(self, window: int) -> int | None:
        """The process whose connection has made it."""
        asked = {"client": window, "mask": res.LocalClientPIDMask}
        answers = self._connection.res_query_client_ids([asked]).ids
        return next((cast("int", answer.value[0]) for answer in answers if answer.value), None)

    def _heard(self) -> None:
        try:
            for _ in range(self._connection.pending_events()):
                self._connection.next_event()
        except CONNECTION_ERRORS:
            # Whoever grabs from it next is told.
            self._stop_listening()
            return
        self.drawn.set()

    def _stop_listening(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)
