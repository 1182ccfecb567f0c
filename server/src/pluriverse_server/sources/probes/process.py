"""The ``process`` source: how a program ended, or what its window's title says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final, cast

from Xlib import X, Xatom, display, error
from Xlib.xobject.drawable import Window

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import ProcessSource
from pluriverse_server.sources.reading import Sample, SourceError

from .patterns import Matcher
from .target import Target

# Games have a handful of windows; those of toolkits are some dozen. Each costs two questions to the X server.
MAX_WINDOWS: Final = 64

# Titles are a line; of a property of megabytes only the beginning is asked for, in units of four bytes.
MAX_TITLE_WORDS: Final = 256


class ExitProbe:
    """Reads a program's exit code: nothing while it runs; negative: the signal that ended it."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def read(self) -> Sample:
        """The code of now."""
        return Sample(self._target.exit_code(), time.time())

    def close(self) -> None:
        """Nothing is held."""


class TitleProbe:
    """Reads the title of the uppermost window whose title the pattern matches."""

    def __init__(self, name: str, table: ProcessSource, target: Target) -> None:
        self._name = name
        self._display_name = target.environment.get("DISPLAY", "")
        self._matcher = Matcher(name, table.pattern)
        self._display: display.Display | None = None

    def read(self) -> Sample:
        """What the title says; None where no window has one that matches, False for a pattern without group.

        Raises:
            SourceError: there is no X server.
        """
        at, started = time.time(), time.monotonic()
        try:
            value = self._look()
        except (error.ConnectionClosedError, error.DisplayError, error.XauthError, OSError) as problem:
            self.close()
            raise SourceError(
                f"source {self._name!r}: no window can be seen on the screen {self._display_name!r}: {problem}; "
                "is the X server running?"
            ) from problem
        return Sample(value, at, lag_s=time.monotonic() - started)

    def close(self) -> None:
        """Leave the X server."""
        if self._display is not None:
            connection, self._display = self._display, None
            cast("Any", connection.display).socket.close()

    def _look(self) -> Value:
        if self._display is None:
            self._display = display.Display(self._display_name)
        # Changes of the keyboard map are told to everybody; what isn't read piles up.
        for _ in range(self._display.pending_events()):
            self._display.next_event()
        value: Value = None
        for title in _titles(self._display):
            value = self._matcher.value(title)
            if value is not None and value is not False:
                break
        return value


def _titles(connection: display.Display) -> Iterator[str]:
    """The titles of the windows that are shown, the uppermost's first; a window manager's frames are looked into."""
    names = (connection.intern_atom("_NET_WM_NAME"), Xatom.WM_NAME)
    asked = 0
    waiting = [connection.screen().root]
    while waiting and asked < MAX_WINDOWS:
        window = waiting.pop()
        asked += 1
        try:
            if window.get_attributes().map_state != X.IsViewable:
                continue
            title = _title(window, names)
            if title:
                yield title
            else:
                waiting += window.query_tree().children
        except error.XError:
            # It has been closed since it was listed.
            continue


def _title(window: Window, names: tuple[int, ...]) -> str:
    for name in names:
        found = window.get_property(name, X.AnyPropertyType, 0, MAX_TITLE_WORDS)
        if found is not None and found.format == 8:
            return bytes(found.value).decode(errors="replace")
    return ""
