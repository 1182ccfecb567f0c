"""Watches a screen: whether something was drawn (XDamage), and whether a program has a window (XRes)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final, cast

from Xlib import X, error
from Xlib.ext import damage, res

from pluriverse_server.display import DisplayLost
from pluriverse_server.x11.connection import CONNECTION_ERRORS, ReportingLoss, closing_on_error, hang_up, open_display

# Toolkits have windows of a pixel for themselves; a game's is larger.
MIN_SIDE: Final = 16


class ScreenWatch:
    """A connection to the X server, for the event loop's thread; sets ``drawn`` whenever something was drawn."""

    def __init__(self, display: str, xauthority: Path) -> None:
        """Connect; raise DisplayLost if there is no X server at ``display``, or it lacks an extension."""
        self.drawn = asyncio.Event()
        self._connection: Any = open_display(display, xauthority)
        with closing_on_error(self._connection), ReportingLoss(display):
            for extension in (damage.extname, res.extname):
                if not self._connection.has_extension(extension):
                    raise DisplayLost(f"the X server at {display} lacks the extension {extension}")
            # Both demand this as the first request.
            self._connection.damage_query_version()
            self._connection.res_query_version()
            self._root: Any = self._connection.screen().root
            self._damage: int = self._root.damage_create(damage.DamageReportNonEmpty)
            self._connection.flush()
        # python-xlib forgets it when the connection is lost.
        self._descriptor: int = self._connection.fileno()
        asyncio.get_running_loop().add_reader(self._descriptor, self._heard)
        self._listens = True

    def rearm(self) -> None:
        """Let the next drawing set ``drawn`` again.

        Doesn't wait for the server: drawing while the request is under way may be missed until the next frame.
        """
        self.drawn.clear()
        try:
            self._connection.damage_subtract(self._damage)
            self._connection.flush()
        except CONNECTION_ERRORS:
            self._stop_listening()

    def has_window_of(self, pids: Collection[int]) -> bool:
        """Return whether one of the processes has a visible window; raise DisplayLost if the X server is gone."""
        try:
            return any(
                self._is_visible(window) and self._owns(pids, window) for window in self._root.query_tree().children
            )
        except CONNECTION_ERRORS as problem:
            raise DisplayLost(f"the X server went away: {problem}") from problem

    def close(self) -> None:
        self._stop_listening()
        hang_up(self._connection)

    def _is_visible(self, window: Any) -> bool:
        try:
            if window.get_attributes().map_state != X.IsViewable:
                return False
            size = window.get_geometry()
        except error.XError:
            # It was closed after it was listed.
            return False
        return min(size.width, size.height) >= MIN_SIDE

    def _owns(self, pids: Collection[int], window: Any) -> bool:
        """Return whether a window is one of the processes', or a window manager's around theirs."""
        try:
            return any(self._owner(each.id) in pids for each in (window, *window.query_tree().children))
        except error.XError:
            return False

    def _owner(self, window: int) -> int | None:
        """Return the process whose connection made the window."""
        asked = {"client": window, "mask": res.LocalClientPIDMask}
        answers = self._connection.res_query_client_ids([asked]).ids
        return next((cast("int", answer.value[0]) for answer in answers if answer.value), None)

    def _heard(self) -> None:
        try:
            for _ in range(self._connection.pending_events()):
                self._connection.next_event()
        except CONNECTION_ERRORS:
            # The next grab raises the error.
            self._stop_listening()
            return
        self.drawn.set()

    def _stop_listening(self) -> None:
        if self._listens:
            self._listens = False
            asyncio.get_running_loop().remove_reader(self._descriptor)
