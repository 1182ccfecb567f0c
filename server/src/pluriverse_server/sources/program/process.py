"""The ``process`` source: a program's exit code, or the title of its window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from Xlib import X, Xatom, display, error
from Xlib.xobject.drawable import Window

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import ProcessSource
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.x11.connection import CONNECTION_ERRORS, DisplayLost, hang_up, open_display

from .patterns import Matcher
from .reader import ProgramReader, Target

# Games have a handful of windows, toolkits some dozen. Each costs two requests to the X server.
MAX_WINDOWS: Final = 64

# In units of four bytes: titles are a line, and of a property of megabytes only the beginning is requested.
MAX_TITLE_WORDS: Final = 256


class ExitReader(ProgramReader):
    """Reads a program's exit code: None while it runs; negative: the signal that ended it."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def look(self) -> Value:
        return self._target.exit_code()


class TitleReader(ProgramReader):
    """Reads the title of the uppermost window whose title the pattern matches."""

    def __init__(self, table: ProcessSource, target: Target) -> None:
        self._display_name = target.environment.get("DISPLAY", "")
        self._matcher = Matcher(table.pattern)
        self._display: display.Display | None = None

    def look(self) -> Value:
        """Return the title's value; None, or False for a pattern without group, if no window has a matching title."""
        try:
            return self._look()
        except (DisplayLost, *CONNECTION_ERRORS) as problem:
            self.close()
            raise SourceError(
                f"can't read the windows of {self._display_name!r}: {problem}; is the X server running?"
            ) from problem

    def close(self) -> None:
        if self._display is not None:
            hang_up(self._display)
            self._display = None

    def _look(self) -> Value:
        if self._display is None:
            self._display = open_display(self._display_name)
        # Every client gets events of keyboard map changes, and they pile up unless they are read.
        for _ in range(self._display.pending_events()):
            self._display.next_event()
        value: Value = None
        for title in _titles(self._display):
            value = self._matcher.value(title)
            if value is not None and value is not False:
                break
        return value


def _titles(connection: display.Display) -> Iterator[str]:
    """Yield the titles of the visible windows, topmost first, including those in a window manager's frames."""
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
            # It was closed after it was listed.
            continue


def _title(window: Window, names: tuple[int, ...]) -> str:
    for name in names:
        found = window.get_property(name, X.AnyPropertyType, 0, MAX_TITLE_WORDS)
        if found is not None and found.format == 8:
            return bytes(found.value).decode(errors="replace")
    return ""
