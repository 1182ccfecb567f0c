"""Encodes an agent's numbers and arrays as key and pointer events. Pure.

A remote describes its actions (``pluriverse_protocol.env_spaces``). There are five kinds: ``discrete`` (an integer,
which stands for some keys), ``pads`` (a mapping of ``axes``, floats, ``buttons``, a 0 or 1 for each, and ``keys``: one
gamepad after the other, as ``pluriverse_protocol.pads`` has them), ``keys`` (a 0 or 1 for each key), ``pointer`` (a
mapping of ``pointer``: x and y in pixels of the picture, or how far it moves where that is what matters, ``buttons``:
left, middle, right, and more if the environment says so, and ``keys``), and ``events`` (Universe's lists of events).
Where agents say that they are done there is one more choice, the last, or in a mapping ``submit``, a 0 or 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, Protocol, cast, get_args

import numpy as np
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, PointerEvent, RelativePointerEvent, SubmitEvent
from pluriverse_protocol.pads import AXES, LEAST, NAMES

from pluriverse.env.actions import parse_action
from pluriverse.errors import ActionError, ConfigurationError
from pluriverse.spaces import ORDINARY_KEYS
from pluriverse.vnc.keys import key_name

Kind = Literal["discrete", "pads", "keys", "pointer", "events"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

# The discrete action of holding no keys, also where agents can't choose that.
IDLE: Final = object()


class ActionEncoder(Protocol):
    """Encodes the actions of one environment: as what changes of the action before."""

    def events(self, action: Any) -> Sequence[Event]: ...

    @property
    def ignored(self) -> Sequence[str]:
        """The names of the keys that the last action pressed and the environment doesn't use, which remotes drop."""
        ...

    def forget(self) -> None:
        """Forget the previous action: the next one sets every key."""
        ...


class Part(NamedTuple):
    """An array of an action: its shape, and its greatest and least numbers, each or all. ``kind`` None: integers."""

    shape: tuple[int, ...]
    most: Any
    least: Any = 0
    kind: type[np.float32] | None = None


class ActionMap:
    """The actions of an environment: their kind and their sizes."""

    def __init__(
        self, spaces: Spaces | None, box: tuple[int, int, int, int], kind: Kind | Literal["auto"] = "auto"
    ) -> None:
        """``spaces`` None: not known. ``box`` is the picture: x, y, width and height in pixels of the screen."""
        self.permitted: frozenset[int] | None = spaces.permitted if spaces is not None else None
        """The keysyms that have an effect; None: possibly any."""
        if spaces is None or (spaces.submit and spaces.permitted is None):
            spaces = Spaces(keys=ORDINARY_KEYS, pointer=True, submit=spaces is not None)
        self.box: tuple[int, int, int, int] = box
        self.submit: bool = spaces.submit
        """Whether agents say that they are done."""
        self.choices: tuple[Choice, ...] = spaces.discrete
        if spaces.discrete and spaces.submit:
            self.choices += (Choice("submit", ()),)
        self.tap: bool = spaces.tap
        self.keys: tuple[int, ...] = spaces.keyboard
        self.relative: bool = spaces.relative
        self.buttons: int = spaces.buttons
        self.axes: tuple[str, ...] = tuple(name for names in NAMES[: spaces.pads] for name in names[: len(AXES)])
        self.pad_buttons: tuple[str, ...] = tuple(name for names in NAMES[: spaces.pads] for name in names[len(AXES) :])
        """The names of the events of all gamepads."""
        if kind == "auto":
            others: Kind = "pointer" if spaces.pointer else "keys" if self.keys else "events"
            kind = "discrete" if spaces.discrete else "pads" if spaces.pads else others
        if kind not in KINDS:
            raise ConfigurationError(f"unknown kind of actions {kind!r}; expected one of {', '.join(KINDS)}")
        if kind == "discrete" and not self.choices:
            raise ConfigurationError("this environment has no discrete actions; expected keys, pointer or events")
        if kind == "keys" and not self.keys:
            raise ConfigurationError("this environment uses no keys; expected pointer or events")
        if kind == "pads" and not self.axes:
            raise ConfigurationError("this environment uses no gamepads; expected keys, pointer or events")
        self.kind: Kind = kind

    @property
    def n(self) -> int:
        return len(self.choices)

    def arrays(self) -> dict[str, Part]:
        """Return each array in an action."""
        keys = {"keys": Part((len(self.keys),), 1)} if self.keys else {}
        keys |= {"submit": Part((1,), 1)} if self.submit else {}
        match self.kind:
            case "discrete":
                return {"action": Part((), self.n - 1)}
            case "pads":
                least = LEAST * (len(self.axes) // len(AXES))
                axes = Part((len(self.axes),), 1.0, least, np.float32)
                return {"axes": axes, "buttons": Part((len(self.pad_buttons),), 1), **keys}
            case "keys":
                return keys
            case "pointer":
                _, _, width, height = self.box
                most = (width - 1, height - 1)
                least = (1 - width, 1 - height) if self.relative else (0, 0)
                return {"pointer": Part((2,), most, least), "buttons": Part((self.buttons,), 1), **keys}
            case "events":
                raise ConfigurationError(
                    "lists of events are no arrays; expected actions: discrete, pads, keys or pointer"
                )

    def encoder(self) -> ActionEncoder:
        encoder = self._encoder()
        return _Submitting(self, encoder) if self.submit and self.kind != "events" else encoder

    def _encoder(self) -> ActionEncoder:
        match self.kind:
            case "discrete":
                return _Taps(self) if self.tap else _Choices(self)
            case "pads":
                return _Pads(self)
            case "keys":
                return _KeyBits(self)
            case "pointer":
                return _RelativePointer(self) if self.relative else _Pointer(self)
            case "events":
                return _Events(self.permitted)


class _Keys:
    ignored: Sequence[str] = ()

    def __init__(self, keys: Sequence[int]) -> None:
        self._keys = tuple(keys)
        self._wanted: frozenset[int] | None = None

    def forget(self) -> None:
        self._wanted = None

    def hold(self, wanted: frozenset[int]) -> Sequence[Event]:
        before, self._wanted = self._wanted, wanted
        return _changes(self._keys, before, wanted)


# Agents choose the same few actions again and again.
@lru_cache(4096)
def _changes(keys: Sequence[int], before: frozenset[int] | None, wanted: frozenset[int]) -> Sequence[Event]:
    """Return the events of those of ``keys`` that are to change; ``before`` None: of all."""
    changed = keys if before is None else wanted ^ before
    return tuple([KeyEvent(key, key in wanted) for key in keys if key in changed])


class _Choices(_Keys):
    def __init__(self, actions: ActionMap) -> None:
        self._choices = [frozenset(choice.keys) for choice in actions.choices]
        super().__init__(tuple(sorted(frozenset[int]().union(*self._choices))))

    def events(self, action: Any) -> Sequence[Event]:
        wanted = frozenset[int]() if action is IDLE else self._choices[_number(action, len(self._choices))]
        before, self._wanted = self._wanted, wanted
        return _changes(self._keys, before, wanted)


class _Taps:
    ignored: Sequence[str] = ()

    def __init__(self, actions: ActionMap) -> None:
        self._taps: list[list[Event]] = [
            [KeyEvent(key, down) for down in (True, False) for key in choice.keys] for choice in actions.choices
        ]

    def forget(self) -> None:
        """Each action stands for itself."""

    def events(self, action: Any) -> Sequence[Event]:
        return self._taps[_number(action, len(self._taps))]


class _KeyBits(_Keys):
    def __init__(self, actions: ActionMap) -> None:
        super().__init__(actions.keys)

    def events(self, action: Any) -> Sequence[Event]:
        return self.hold(_pressed(action, self._keys))


class _Pointer(_Keys):
    """Of a mapping; parts that it leaves out stay as they are."""

    def __init__(self, actions: ActionMap) -> None:
        super().__init__(actions.keys)
        self._box = actions.box
        self._buttons = actions.buttons
        self._pointer: PointerEvent | None = None

    def forget(self) -> None:
        super().forget()
        self._pointer = None

    def events(self, action: Any) -> Sequence[Event]:
        parts = _parts(action, "pointer", "buttons", "keys")
        events: list[Event] = []
        wanted = _pressed(parts["keys"], self._keys) if "keys" in parts else None
        if "pointer" in parts or "buttons" in parts:
            events += self._point(parts.get("pointer"), parts.get("buttons"))
        if wanted is not None:
            events += self.hold(wanted)
        return events

    def _point(self, place: Any, buttons: Any) -> Sequence[Event]:
        left, top, width, height = self._box
        before = self._pointer or PointerEvent(left, top, 0)
        x, y, mask = before.x, before.y, before.buttonmask
        if place is not None:
            across, down = _numbers(place, 2, "pointer")
            if not (0 <= across < width and 0 <= down < height):
                raise ActionError(f"the pointer is at {across}, {down}, outside the picture of {width} by {height}")
            x, y = left + across, top + down
        if buttons is not None:
            mask = _mask(buttons, self._buttons)
        pointer = PointerEvent(x, y, mask)
        if pointer == self._pointer:
            return ()
        self._pointer = pointer
        return (pointer,)


class _RelativePointer(_Pointer):
    """Of a mapping, too; without ``pointer`` it doesn't move."""

    def __init__(self, actions: ActionMap) -> None:
        super().__init__(actions)
        self._mask: int | None = None

    def forget(self) -> None:
        super().forget()
        self._mask = None

    def _point(self, place: Any, buttons: Any) -> Sequence[Event]:
        _, _, width, height = self._box
        dx, dy = (0, 0) if place is None else _numbers(place, 2, "pointer")
        if abs(dx) >= width or abs(dy) >= height:
            raise ActionError(f"the pointer moves by {dx}, {dy}, further than the picture of {width} by {height}")
        mask = (self._mask or 0) if buttons is None else _mask(buttons, self._buttons)
        changed = mask != self._mask
        self._mask = mask
        return (RelativePointerEvent(dx, dy, mask),) if dx or dy or changed else ()


class _Pads(_Keys):
    """Of a mapping; parts that it leaves out stay as they are."""

    def __init__(self, actions: ActionMap) -> None:
        super().__init__(actions.keys)
        self._axes = actions.axes
        self._least = actions.arrays()["axes"].least
        self._buttons = actions.pad_buttons
        self._values: dict[str, float] = {}

    def forget(self) -> None:
        super().forget()
        self._values = {}

    def events(self, action: Any) -> Sequence[Event]:
        parts = _parts(action, "axes", "buttons", "keys")
        values: dict[str, float] = {}
        if "axes" in parts:
            axes = np.asarray(parts["axes"])
            fits = axes.shape == (len(self._axes),) and axes.dtype.kind in "fiu"
            if not fits or not ((self._least <= axes) & (axes <= 1)).all():
                raise ActionError(f"axes is {axes!r:.160}; expected {len(self._axes)} numbers, each in its range")
            values |= zip(self._axes, axes.tolist(), strict=True)
        if "buttons" in parts:
            down = _numbers(parts["buttons"], len(self._buttons), "buttons")
            values |= zip(self._buttons, (float(each != 0) for each in down), strict=True)
        wanted = _pressed(parts["keys"], self._keys) if "keys" in parts else None
        events: list[Event] = [
            JoystickEvent(name, value) for name, value in values.items() if self._values.get(name) != value
        ]
        self._values |= values
        return [*events, *(() if wanted is None else self.hold(wanted))]


class _Submitting:
    """With what says that the agent is done; that comes last."""

    def __init__(self, actions: ActionMap, encoder: ActionEncoder) -> None:
        self._actions = actions
        self._encoder = encoder

    @property
    def ignored(self) -> Sequence[str]:
        return self._encoder.ignored

    def forget(self) -> None:
        self._encoder.forget()

    def events(self, action: Any) -> Sequence[Event]:
        kind, n = self._actions.kind, self._actions.n
        if kind == "discrete":
            submits = action is not IDLE and _number(action, n) == n - 1
        else:
            parts = dict(_parts(action, *self._actions.arrays()))
            submits = bool(_numbers(parts.pop("submit", [0]), 1, "submit")[0])
            action = parts.get("keys", [0] * len(self._actions.keys)) if kind == "keys" else parts
        return [*self._encoder.events(action), *([SubmitEvent()] if submits else [])]


class _Events:
    def __init__(self, permitted: frozenset[int] | None) -> None:
        self.ignored: Sequence[str] = ()
        self._permitted = permitted

    def forget(self) -> None:
        self.ignored = ()

    def events(self, action: Any) -> Sequence[Event]:
        events = parse_action(action).events
        if self._permitted is not None:
            down = [event.keysym for event in events if isinstance(event, KeyEvent) and event.down]
            self.ignored = [key_name(keysym) for keysym in dict.fromkeys(down) if keysym not in self._permitted]
        return events


def _parts(action: Any, *names: str) -> Mapping[str, Any]:
    if not isinstance(action, Mapping) or not action.keys() <= set(names):
        raise ActionError(f"the action is {action!r:.120}; expected a mapping of {', '.join(names)}")
    return cast("Mapping[str, Any]", action)


def _number(action: Any, n: int) -> int:
    # Policies hand out NumPy's numbers, and arrays of one.
    number = action.item() if hasattr(action, "item") and getattr(action, "size", 1) == 1 else action
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < n:
        raise ActionError(f"the action is {action!r:.80}; expected an integer of 0 to {n - 1}")
    return number


def _numbers(values: Any, count: int, name: str) -> list[int]:
    array = np.asarray(values)
    if array.shape != (count,) or array.dtype.kind not in "iub":
        raise ActionError(f"{name} is {values!r:.80}; expected {count} integers")
    return cast("list[int]", array.tolist())


def _mask(buttons: Any, count: int) -> int:
    return sum(1 << bit for bit, down in enumerate(_numbers(buttons, count, "buttons")) if down)


def _pressed(values: Any, keys: Sequence[int]) -> frozenset[int]:
    return frozenset(key for key, down in zip(keys, _numbers(values, len(keys), "the keys' part"), strict=True) if down)
