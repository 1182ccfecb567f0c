"""Acts as events of keys and the pointer, each at its time. Pure: times are milliseconds from the act's beginning."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace
from pluriverse_protocol.events import (
    MAX_BUTTONMASK,
    Event,
    JoystickEvent,
    KeyEvent,
    PointerEvent,
    RelativePointerEvent,
    SubmitEvent,
)

from pluriverse.errors import ActionError

from .acts import (
    MAX_EVENTS,
    MAX_SECONDS,
    Act,
    ActFor,
    Button,
    Chord,
    Click,
    Drag,
    Hold,
    Look,
    Mark,
    Move,
    Place,
    Press,
    Scroll,
    Step,
    Submit,
    Type,
    Wait,
    Where,
)
from .key_names import typed
from .view import Point, View

# How long a finger stays down: programs that look at their keys once a frame see it at 20 frames a second.
PRESS_MS: Final = 60.0

# Between two presses of the same key.
BETWEEN_MS: Final = 60.0

# A click of several that belong together: how long it is down, and until the next.
QUICK_MS: Final = 30.0

# Between the pointer's coming and a press: what is under it may have to notice.
ARRIVE_MS: Final = 30.0

# A character of a text; each is down for half of it.
CHARACTER_MS: Final = 20.0

# A click of the wheel, and a point of a drag.
CLICK_MS: Final = 10.0
DRAG_MS: Final = 15.0

# Bits of a pointer event's mask.
MASKS: Final[dict[Button, int]] = {"left": 1, "middle": 2, "right": 4, "back": 128, "forward": 256}
_WHEEL_UP, _WHEEL_DOWN, _WHEEL_LEFT, _WHEEL_RIGHT = 8, 16, 32, 64
_WHEEL: Final = 8 | 16 | 32 | 64


@dataclass(frozen=True, slots=True)
class Script:
    """Events, each at its milliseconds from the beginning, in order; and how long all takes."""

    events: tuple[tuple[float, Event], ...]
    ms: float
    at_once: bool = False
    """Whether buttons may change repeatedly in one frame."""

    def frames(self, frame_ms: float) -> list[list[Event]]:
        """Return the events of each frame, of which there is at least one.

        A key, a button or an input of a gamepad changes once a frame at most, so that programs that look at it once a
        frame see each change; buttons not if they are to change at once.
        """
        frames: list[list[Event]] = [[] for _ in range(max(1, math.ceil(self.ms / frame_ms - 0.01)))]
        # The wheel's bits are no buttons that anybody holds.
        unseen = MAX_BUTTONMASK if self.at_once else _WHEEL
        at, mask = 0, 0
        changed: dict[int | str, int] = {}
        for ms, event in self.events:
            at = max(at, int(ms / frame_ms))
            if isinstance(event, KeyEvent):
                subject = event.keysym
            elif isinstance(event, JoystickEvent):
                subject = event.name
            elif isinstance(event, SubmitEvent):
                subject = 0
            else:
                subject, mask = -((mask ^ event.buttonmask) & ~unseen), event.buttonmask
            if subject:
                at = max(at, changed.get(subject, -1) + 1)
                changed[subject] = at
            frames += ([] for _ in range(at + 1 - len(frames)))
            frames[at].append(event)
        return frames


class Hand:
    """Plans what acts send, knowing where the pointer is and which buttons it holds."""

    def __init__(self, view: View, *, lockstep: bool = False) -> None:
        """In lockstep clicks that belong together are done at once: by that pages know them there."""
        self.view: View = view
        self.marks: Mapping[int, Point] | None = None
        """Where on the screen the marks are that were given last; None: none were."""
        self._quick_ms = 0.0 if lockstep else QUICK_MS
        self.pointer = PointerEvent(*view.to_screen((view.width // 2, view.height // 2)), 0)

    def plan(self, act: Act) -> Script:
        """Return the events of an act, and note where it leaves the pointer. If it fails, nothing changes."""
        writer = _Writer(self.view, self.pointer, self.marks, self._quick_ms)
        match act:
            case Move(to, holding):
                writer.move(to, holding)
            case Click(button, at, count, holding):
                writer.click(button, at, count, holding)
            case Hold(down):
                writer.button(1, down)
            case Drag(path, holding):
                writer.drag(path, holding)
            case Scroll(right, down, at, holding):
                writer.scroll(right, down, at, holding)
            case Type(text):
                writer.type(text)
            case Press(keys, repeat, seconds):
                writer.press(keys, repeat, PRESS_MS if seconds is None else 1000 * seconds)
            case Wait(seconds):
                writer.ms += _ms(1, 1000 * seconds)
            case ActFor(events, ms):
                writer.act_for(events, ms)
            case Step() | Submit() | Look() | Where():
                pass
        self.pointer = writer.pointer
        at_once = isinstance(act, Click) and act.count > 1 and not self._quick_ms
        return Script(tuple(writer.events), writer.ms, at_once)


class _Writer:
    """Writes one script; each call goes on where the last one ended."""

    def __init__(self, view: View, pointer: PointerEvent, marks: Mapping[int, Point] | None, quick_ms: float) -> None:
        self.view = view
        self.pointer = pointer
        self.marks = marks
        self.quick_ms = quick_ms
        self.events: list[tuple[float, Event]] = []
        self.ms = 0.0

    def go(self, to: Place) -> None:
        x, y = self._place(to)
        self._point(PointerEvent(x, y, self.pointer.buttonmask))

    def move(self, to: Place, holding: Chord) -> None:
        with self._holding(holding):
            self.go(to)

    def button(self, mask: int, down: bool) -> None:
        held = self.pointer.buttonmask
        self._point(PointerEvent(self.pointer.x, self.pointer.y, held | mask if down else held & ~mask))

    def click(self, button: Button, at: Place | None, count: int, holding: Chord) -> None:
        self._arrive(at)
        with self._holding(holding):
            down_ms = PRESS_MS if count == 1 else self.quick_ms
            for number in range(count):
                self.ms += self.quick_ms if number else 0
                self.button(MASKS[button], True)
                self.ms += down_ms
                self.button(MASKS[button], False)

    def drag(self, path: Sequence[Place], holding: Chord) -> None:
        points = [self._place(place) for place in path]
        self._arrive(path[0])
        with self._holding(holding):
            self.button(1, True)
            self.ms += PRESS_MS
            for x, y in points[1:]:
                self._point(PointerEvent(x, y, self.pointer.buttonmask))
                self.ms += DRAG_MS
            self.ms += ARRIVE_MS
            self.button(1, False)

    def scroll(self, right: int, down: int, at: Place | None, holding: Chord) -> None:
        self._arrive(at)
        with self._holding(holding):
            for clicks, mask in (
                (-down, _WHEEL_UP), (down, _WHEEL_DOWN), (-right, _WHEEL_LEFT), (right, _WHEEL_RIGHT),
            ):  # fmt: skip
                for _ in range(clicks):
                    self.button(mask, True)
                    self.button(mask, False)
                    self.ms += CLICK_MS

    def type(self, text: str) -> None:
        for keysym in [typed(character) for character in text.replace("\r\n", "\n")]:
            self._tap((keysym,), CHARACTER_MS / 2)
            self.ms += CHARACTER_MS / 2

    def press(self, keys: Chord, repeat: int, ms: float) -> None:
        _ms(repeat, ms)
        for number in range(repeat):
            self.ms += BETWEEN_MS if number else 0
            self._tap(keys, ms)

    def act_for(self, events: Sequence[tuple[float, Event]], ms: float) -> None:
        if len(events) > MAX_EVENTS:
            raise ActionError(f"{len(events)} events; expected at most {MAX_EVENTS} at once")
        _ms(1, ms)
        for at, event in sorted(events, key=lambda timed: timed[0]):
            if not at >= 0:
                raise ActionError(f"an event at {at:g} ms, before the beginning")
            if at > ms:
                raise ActionError(f"an event at {at:g} ms, after the end at {ms:g} ms")
            self.ms = at
            if isinstance(event, PointerEvent):
                self._point(PointerEvent(*self.view.to_screen((event.x, event.y)), event.buttonmask))
            elif isinstance(event, RelativePointerEvent):
                self.pointer = replace(self.pointer, buttonmask=event.buttonmask)
                self.events.append((at, event))
            else:
                self.events.append((at, event))
        self.ms = ms

    def _place(self, place: Place) -> Point:
        if not isinstance(place, Mark):
            return self.view.to_screen(place)
        if self.marks is None:
            raise ActionError("no marks yet: look with marks first")
        if place.number not in self.marks:
            there = f"1 to {len(self.marks)}" if self.marks else "none"
            raise ActionError(f"there is no mark {place.number}; those that were given last are {there}")
        return self.marks[place.number]

    def _arrive(self, at: Place | None) -> None:
        if at is not None:
            self.go(at)
            self.ms += ARRIVE_MS

    @contextlib.contextmanager
    def _holding(self, keys: Chord) -> Generator[None]:
        self._keys(keys, True)
        self.ms += ARRIVE_MS if keys else 0
        yield
        self._keys(keys, False)

    def _tap(self, keys: Chord, ms: float) -> None:
        self._keys(keys, True)
        self.ms += ms
        self._keys(keys, False)

    def _keys(self, keys: Chord, down: bool) -> None:
        self.events += ((self.ms, KeyEvent(key, down)) for key in (keys if down else reversed(keys)))

    def _point(self, pointer: PointerEvent) -> None:
        self.pointer = pointer
        self.events.append((self.ms, pointer))


def _ms(count: int, ms: float) -> float:
    """Return how long something takes that is done so often."""
    if not 0 <= count * ms <= 1000 * MAX_SECONDS:
        times = f"{count} times " if count > 1 else ""
        raise ActionError(f"it is to take {times}{ms:g} ms; expected 0 to {1000 * MAX_SECONDS:g} at once")
    return count * ms
