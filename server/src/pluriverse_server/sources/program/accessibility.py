"""The ``accessibility`` source: the text or name of one of the program's widgets, through AT-SPI over D-Bus."""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final
from weakref import WeakValueDictionary

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

# What these hold is looked through last: there may be hundreds of it, of which hardly any is a program's state.
_CROWDED: Final = frozenset(("table", "tree table", "tree", "menu bar", "menu", "popup menu"))

_NAME: Final = "org.a11y.atspi.Accessible.Name"
_GET_ROLE: Final = "org.a11y.atspi.Accessible.GetRoleName"
_GET_CHILDREN: Final = "org.a11y.atspi.Accessible.GetChildren"
_GET_INTERFACES: Final = "org.a11y.atspi.Accessible.GetInterfaces"
_GET_TEXT: Final = "org.a11y.atspi.Text.GetText"

DESKTOP: Final = BusObject("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")


class AccessibilityReader(ProgramReader):
    """Reads one widget. It is found once, and again when it is gone or no longer matches."""

    def __init__(self, table: AccessibilitySource, target: Target) -> None:
        self._table = table
        self._role = newer_role(table.role)
        self._environment = target.environment
        self._looks = _Looks.at(target.environment)
        self._name = Matcher(table.name)
        self._is_nameless = table.name == ".*"
        self._text = Matcher(table.pattern)
        self._bus: Bus | None = None
        self._widget: BusObject | None = None
        self._has_text = False
        self._look_at = 0.0

    def look(self) -> Value:
        try:
            if self._bus is None:
                self._bus = open_bus(self._environment)
                self._looks.enter()
            return self._read(self._bus, time.monotonic())
        except TimeoutError:
            self._widget = None
            return None
        except BusLost as error:
            self.close()
            raise SourceError(f"the program's widgets can't be read: {error}; has the bus ended?") from error

    def close(self) -> None:
        if self._bus is not None:
            self._bus.close()
            self._looks.leave()
        self._bus = self._widget = None

    def _read(self, bus: Bus, now: float) -> Value:
        text = self._read_widget(bus, self._widget)
        if text is None and now >= self._look_at:
            self._look_at = now + LOOK_S
            self._widget = self._find(bus)
            text = self._read_widget(bus, self._widget)
        return self._text.value(text) if text is not None else None

    def _read_widget(self, bus: Bus, widget: BusObject | None) -> str | None:
        """Return its text, or its name; None if it is gone, or no longer has the name that was looked for."""
        if widget is None:
            return None
        if self._has_text and self._is_nameless:
            return text_of(bus, widget)
        name = bus.get(widget, _NAME)
        if name is None or self._name.search(name) is None:
            return None
        return text_of(bus, widget) if self._has_text else name

    def _find(self, bus: Bus) -> BusObject | None:
        left, deadline = self._table.index, time.monotonic() + MAX_LOOK_S
        for widget, role in self._looks.widgets():
            if time.monotonic() >= deadline:
                break
            if newer_role(role) != self._role or not (self._is_nameless or self._is_named(bus, widget)):
                continue
            if left == 0:
                self._has_text = has_text(bus, widget)
                return widget
            left -= 1
        return None

    def _is_named(self, bus: Bus, widget: BusObject) -> bool:
        name = bus.get(widget, _NAME)
        return name is not None and self._name.search(name) is not None


class _Look:
    """The widgets of a bus as they are found, for as many readers at once as ask for them."""

    def __init__(self, bus: Bus) -> None:
        self.began = time.monotonic()
        self.readers = 0
        self._found: list[tuple[BusObject, str]] = []
        self._rest = ((widget, role) for widget, role, _ in all_widgets(bus, self.began + MAX_LOOK_S))

    def get(self, index: int) -> tuple[BusObject, str] | None:
        """Return a widget and its role; None after the last."""
        while index >= len(self._found):
            widget = next(self._rest, None)
            if widget is None:
                return None
            self._found.append(widget)
        return self._found[index]


class _Looks:
    """Looks through the widgets of a program once for all of its readers: each look keeps the program busy."""

    _shared: ClassVar[WeakValueDictionary[str, _Looks]] = WeakValueDictionary()

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._lock = threading.Lock()
        self._readers = 0
        self._bus: Bus | None = None
        self._look: _Look | None = None

    @classmethod
    def at(cls, environment: Mapping[str, str]) -> _Looks:
        """Return the looks that all readers of this environment's bus share."""
        address = environment.get("AT_SPI_BUS_ADDRESS") or environment.get("DBUS_SESSION_BUS_ADDRESS", "")
        return cls._shared.setdefault(address, cls(environment))

    def widgets(self) -> Iterator[tuple[BusObject, str]]:
        """Yield the widgets with their roles, as ``all_widgets`` does; raises as it does."""
        with self._lock:
            look = self._join()
        try:
            for index in itertools.count():
                with self._lock:
                    widget = self._next(look, index)
                if widget is None:
                    return
                yield widget
        finally:
            with self._lock:
                look.readers -= 1

    def enter(self) -> None:
        with self._lock:
            self._readers += 1

    def leave(self) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers:
                self._close()

    def _join(self) -> _Look:
        age = time.monotonic() - self._look.began if self._look is not None else math.inf
        if self._look is None or age >= MAX_LOOK_S or (age >= LOOK_S and not self._look.readers):
            self._bus = self._bus or open_bus(self._environment)
            self._look = _Look(self._bus)
        self._look.readers += 1
        return self._look

    def _next(self, look: _Look, index: int) -> tuple[BusObject, str] | None:
        try:
            return look.get(index)
        except BusLost:
            self._close()
            raise

    def _close(self) -> None:
        if self._bus is not None:
            self._bus.close()
        self._bus = self._look = None


def open_bus(environment: Mapping[str, str]) -> Bus:
    if address := environment.get("AT_SPI_BUS_ADDRESS"):
        return Bus(address)
    session = environment.get("DBUS_SESSION_BUS_ADDRESS")
    if not session:
        raise SourceError("the program has no accessibility bus; set accessibility = true in [program]")
    with contextlib.closing(Bus(session)) as bus:
        address = bus.ask(LAUNCHER, "org.a11y.Bus.GetAddress", "s")
    if not address:
        raise SourceError("the session bus has no accessibility bus; install it with: apt-get install at-spi2-core")
    return Bus(address)


def newer_role(role: str) -> str:
    return RENAMED.get(role, role)


def name_of(bus: Bus, widget: BusObject) -> str:
    return bus.get(widget, _NAME) or ""


def has_text(bus: Bus, widget: BusObject) -> bool:
    return "org.a11y.atspi.Text" in (bus.ask(widget, _GET_INTERFACES, "as") or ())


def text_of(bus: Bus, widget: BusObject) -> str | None:
    return bus.ask(widget, _GET_TEXT, "s", 0, MAX_TEXT_CHARS, signature="ii")


def all_widgets(bus: Bus, deadline: float) -> Iterator[tuple[BusObject, str, BusObject | None]]:
    """Yield the widgets of all programs on the bus with their role and parent, parents first, children in their order.

    What menus, tables and trees hold comes after all the rest.
    """
    waiting: list[tuple[BusObject, BusObject | None]] = [(DESKTOP, None)]
    crowd: deque[tuple[BusObject, BusObject | None]] = deque()
    seen = 0
    while (waiting or crowd) and seen < MAX_WIDGETS and time.monotonic() < deadline:
        widget, parent = waiting.pop() if waiting else crowd.popleft()
        seen += 1
        role = ""
        if widget is not DESKTOP:
            role = bus.ask(widget, _GET_ROLE, "s") or ""
            yield widget, role, parent
        listed: list[tuple[str, str]] = bus.ask(widget, _GET_CHILDREN, "a(so)") or []
        children = [(BusObject(owner, path), widget) for owner, path in listed[:MAX_WIDGETS]]
        if role in _CROWDED:
            crowd += children
        else:
            waiting += reversed(children)
