"""The ``accessibility`` source: the text or name of one of the program's widgets, through AT-SPI over D-Bus."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Final

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.sources import AccessibilitySource
from pluriverse_server.sources.reading import MAX_TEXT_CHARS, SourceError

from .bus import LAUNCHER, Bus, BusLost, BusObject
from .patterns import Matcher
from .reader import ProgramReader, Target

# Games have some dozen widgets; looking through as many as this takes a second.
MAX_WIDGETS: Final = 1000

# How often a missing widget is looked for: each look makes the program answer for all of its widgets.
LOOK_S: Final = 0.2

# A program whose widgets can't be looked through in this time is too slow to be played.
MAX_LOOK_S: Final = 2.0

_NAME: Final = "org.a11y.atspi.Accessible.Name"
_GET_ROLE: Final = "org.a11y.atspi.Accessible.GetRoleName"
_GET_CHILDREN: Final = "org.a11y.atspi.Accessible.GetChildren"
_GET_INTERFACES: Final = "org.a11y.atspi.Accessible.GetInterfaces"
_GET_TEXT: Final = "org.a11y.atspi.Text.GetText"

_DESKTOP: Final = BusObject("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")


class AccessibilityReader(ProgramReader):
    """Reads one widget. It is found once, and again when it is gone or no longer matches."""

    def __init__(self, table: AccessibilitySource, target: Target) -> None:
        self._table = table
        self._environment = target.environment
        self._name = Matcher(table.name)
        self._text = Matcher(table.pattern)
        self._bus: Bus | None = None
        self._widget: BusObject | None = None
        self._has_text = False
        self._look_at = 0.0

    def look(self) -> Value:
        """Return the widget's value; None if there is no such widget, or the program doesn't answer."""
        try:
            if self._bus is None:
                self._bus = Bus(self._environment.get("AT_SPI_BUS_ADDRESS") or self._ask_session())
            return self._read(self._bus, time.monotonic())
        except TimeoutError:
            self._widget = None
            return None
        except BusLost as error:
            self.close()
            raise SourceError(f"the program's widgets can't be read: {error}; was the bus ended?") from error

    def close(self) -> None:
        """Disconnect from the bus."""
        if self._bus is not None:
            self._bus.close()
        self._bus = self._widget = None

    def _ask_session(self) -> str:
        session = self._environment.get("DBUS_SESSION_BUS_ADDRESS")
        if not session:
            raise SourceError("the program has no bus for its widgets; say accessibility = true in [program]")
        with contextlib.closing(Bus(session)) as bus:
            address = bus.ask(LAUNCHER, "org.a11y.Bus.GetAddress", "s")
        if not address:
            raise SourceError(
                "the session's bus knows of no accessibility bus; install it with: apt-get install at-spi2-core"
            )
        return address

    def _read(self, bus: Bus, now: float) -> Value:
        text = self._read_widget(bus, self._widget)
        if text is None and now >= self._look_at:
            self._look_at = now + LOOK_S
            self._widget = self._find(bus, now + MAX_LOOK_S)
            text = self._read_widget(bus, self._widget)
        return self._text.value(text) if text is not None else None

    def _read_widget(self, bus: Bus, widget: BusObject | None) -> str | None:
        """Return its text, or its name; None if it is gone, or no longer has the name that was looked for."""
        if widget is None:
            return None
        if self._has_text and self._table.name == ".*":
            return self._get_text(bus, widget)
        name = bus.get(widget, _NAME)
        if name is None or self._name.search(name) is None:
            return None
        return self._get_text(bus, widget) if self._has_text else name

    def _get_text(self, bus: Bus, widget: BusObject) -> str | None:
        return bus.ask(widget, _GET_TEXT, "s", 0, MAX_TEXT_CHARS, signature="ii")

    def _find(self, bus: Bus, deadline: float) -> BusObject | None:
        left = self._table.index
        for widget in _all_widgets(bus, deadline):
            if bus.ask(widget, _GET_ROLE, "s") != self._table.role:
                continue
            name = bus.get(widget, _NAME)
            if name is None or self._name.search(name) is None:
                continue
            if left == 0:
                self._has_text = "org.a11y.atspi.Text" in (bus.ask(widget, _GET_INTERFACES, "as") or ())
                return widget
            left -= 1
        return None


def _all_widgets(bus: Bus, deadline: float) -> Iterator[BusObject]:
    """Yield the widgets of all programs on the bus, parents first, children in their order."""
    waiting, seen = [_DESKTOP], 0
    while waiting and seen < MAX_WIDGETS and time.monotonic() < deadline:
        widget = waiting.pop()
        seen += 1
        if widget is not _DESKTOP:
            yield widget
        children: list[tuple[str, str]] = bus.ask(widget, _GET_CHILDREN, "a(so)") or []
        waiting += [BusObject(owner, path) for owner, path in reversed(children[:MAX_WIDGETS])]
