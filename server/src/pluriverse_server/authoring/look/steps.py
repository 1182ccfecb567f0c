"""Makes steps of a reset of what a person has pressed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pluriverse_protocol.events import KeyEvent, PointerEvent
from Xlib import XK

from pluriverse_server.manifest.conditions import Value

# As many characters in a row as these are a text that was typed; fewer are keys of a game.
MIN_TYPED: Final = 3

# A share of a region that is nearly all, or nearly nothing.
MUCH: Final = 0.9
LITTLE: Final = 0.1

_NAMES: Final = {number: name[3:] for name, number in vars(XK).items() if name.startswith("XK_")}

Event = KeyEvent | PointerEvent
Readings = Mapping[str, Value]

NOTHING_READ: Final[Readings] = {}


def steps_of(events: Sequence[tuple[float, Event]], readings: Sequence[tuple[float, Readings]]) -> list[dict[str, Any]]:
    """Return the steps of events, each with the time of its arrival; keys that are held together are one step.

    A step is done when its first key goes down: what it leads to is often there before that is up again.

    ``readings`` are those of the sources at times before, between and after the events: what has changed by the next
    step is what this one is to lead to, its ``until``.
    """
    done = _pressed(events)
    steps: list[dict[str, Any]] = []
    for index, (at, step) in enumerate(done):
        next_at = done[index + 1][0] if index + 1 < len(done) else float("inf")
        before = next((read for time, read in reversed(readings) if time <= at), NOTHING_READ)
        after = next((read for time, read in reversed(readings) if at < time < next_at), before)
        until = _changed(before, after)
        steps.append({**step, **({"until": until} if until else {})})
    return _typed(steps)


def key_name(keysym: int) -> str | int:
    """Return a key as runtime.toml names it: a character, X's name, or else its number."""
    if 0x20 < keysym < 0x7F:
        return chr(keysym)
    return _NAMES.get(keysym, keysym)


def _pressed(events: Sequence[tuple[float, Event]]) -> list[tuple[float, dict[str, Any]]]:
    found: list[tuple[float, dict[str, Any]]] = []
    down: list[int] = []
    held: list[int] = []
    since = 0.0
    buttons = 0
    for at, event in events:
        if isinstance(event, PointerEvent):
            new = event.buttonmask & ~buttons
            buttons = event.buttonmask
            for button in range(1, 6):
                if new & 1 << (button - 1):
                    click: dict[str, Any] = {"click": [event.x, event.y]}
                    found.append((at, {**click, **({"button": button} if button != 1 else {})}))
        elif event.down:
            since = since if held else at
            down.append(event.keysym)
            held.append(event.keysym)
        elif event.keysym in down:
            down.remove(event.keysym)
            # All that were down together, once the first of them is up.
            if event.keysym in held:
                found.append((since, {"keys": [key_name(key) for key in held]}))
                held = []
    # A click may come while keys are held.
    return sorted(found, key=lambda step: step[0])


def _changed(before: Readings, after: Readings) -> str | None:
    for name, value in after.items():
        was = before.get(name)
        if value is None or was is None or value == was:
            continue
        if isinstance(value, bool):
            return name if value else f"not {name}"
        if isinstance(value, str):
            return f"{name} == {value!r}"
        if float(value).is_integer() and (value > 1 or float(was).is_integer()):
            return f"{name} == {value:g}"
        if isinstance(was, float | int) and value >= MUCH > was:
            return f"{name} > {MUCH:g}"
        if isinstance(was, float | int) and value <= LITTLE < was:
            return f"{name} < {LITTLE:g}"
    return None


def _typed(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps with characters in a row as one text."""
    found: list[dict[str, Any]] = []
    row: list[dict[str, Any]] = []
    for step in [*steps, {}]:
        keys = step.get("keys", [])
        if len(keys) == 1 and (keys[0] == "space" or len(str(keys[0])) == 1) and (not row or "until" not in row[-1]):
            row.append(step)
            continue
        if len(row) >= MIN_TYPED:
            text = "".join(" " if one["keys"][0] == "space" else one["keys"][0] for one in row)
            found.append({"type": text, **({"until": row[-1]["until"]} if "until" in row[-1] else {})})
        else:
            found += row
        row = []
        if step:
            found.append(step)
    return found
