"""The ``accessibility`` source: the text or name of one of the program's widgets, through AT-SPI over D-Bus."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
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

# Since at-spi2-core 2.53.1, and in GTK 4, some roles have other names: a source may be written with either.
RENAMED: Final = {"push button": "button", "push button menu": "button menu"}

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
        self._role = newer_role(table.role)
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
                self._bus = open_bus(self._environment)
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
            return text_of(bus, widget)
        name = bus.get(widget, _NAME)
        if name is None or self._name.search(name) is None:
            return None
        return text_of(bus, widget) if self._has_text else name

    def _find(self, bus: Bus, deadline: float) -> BusObject | None:
        left = self._table.index
        for widget, _ in all_widgets(bus, deadline):
            if newer_role(bus.ask(widget, _GET_ROLE, "s") or "") != self._role:
                continue
            name = bus.get(widget, _NAME)
            if name is None or self._name.search(name) is None:
                continue
            if left == 0:
                self._has_text = has_text(bus, widget)
                return widget
            left -= 1
        return None


def open_bus(environment: Mapping[str, str]) -> Bus:
    """Connect to the bus with the widgets of the program that has this environment.

    Raises:
        SourceError: the program has no such bus.
        BusLost, TimeoutError: the bus has ended, or doesn't answer.
    """
    if address := environment.get("AT_SPI_BUS_ADDRESS"):
        return Bus(address)
    session = environment.get("DBUS_SESSION_BUS_ADDRESS")
    if not session:
        raise SourceError("the program has no bus for its widgets; say accessibility = true in [program]")
    with contextlib.closing(Bus(session)) as bus:
        address = bus.ask(LAUNCHER, "org.a11y.Bus.GetAddress", "s")
    if not address:
        raise SourceError(
            "the session's bus knows of no accessibility bus; install it with: apt-get install at-spi2-core"
        )
    return Bus(address)


def newer_role(role: str) -> str:
    """Return the present name of a role, by either of its names."""
    return RENAMED.get(role, role)


def role_and_name(bus: Bus, widget: BusObject) -> tuple[str, str]:
    """Return a widget's role and name, empty where the program doesn't say; raises as ``Bus.ask`` does."""
    return bus.ask(widget, _GET_ROLE, "s") or "", bus.get(widget, _NAME) or ""


def has_text(bus: Bus, widget: BusObject) -> bool:
    """Return whether a widget has a text beside its name; raises as ``Bus.ask`` does."""
    return "org.a11y.atspi.Text" in (bus.ask(widget, _GET_INTERFACES, "as") or ())


def text_of(bus: Bus, widget: BusObject) -> str | None:
    """Return the beginning of a widget's text; raises as ``Bus.ask`` does."""
    return bus.ask(widget, _GET_TEXT, "s", 0, MAX_TEXT_CHARS, signature="ii")


def all_widgets(bus: Bus, deadline: float) -> Iterator[tuple[BusObject, int]]:
    """Yield the widgets of all programs on the bus with their depth, parents first, children in their order."""
    waiting, seen = [(_DESKTOP, 0)], 0
    while waiting and seen < MAX_WIDGETS and time.monotonic() < deadline:
        widget, depth = waiting.pop()
        seen += 1
        if widget is not _DESKTOP:
            yield widget, depth
        children: list[tuple[str, str]] = bus.ask(widget, _GET_CHILDREN, "a(so)") or []
        waiting += [(BusObject(owner, path), depth + 1) for owner, path in reversed(children[:MAX_WIDGETS])]
