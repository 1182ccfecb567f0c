"""The observations and actions of an environment as Gymnasium's spaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from pluriverse_protocol.events import Event, KeyEvent, PointerEvent, from_wire, to_wire
from pluriverse_protocol.limits import MAX_REPORT_BYTES

from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.core import Core
from pluriverse.env.actions import parse_action
from pluriverse.errors import ActionError

# The characters and the length of samples of text: enough to be no word that a policy was trained on.
_PRINTABLE: Final = "".join(map(chr, range(0x20, 0x7F)))
_SAMPLE_CHARS: Final = 64


class AnyText(spaces.Text):
    """Strings of any characters, for what programs write; samples are printable ASCII of at most 64 characters."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        """``seed`` is that of ``sample``."""
        super().__init__(MAX_REPORT_BYTES, min_length=0, charset=_PRINTABLE, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a string."""
        if mask is None and probability is None:
            mask = (int(self.np_random.integers(_SAMPLE_CHARS + 1)), None)
        return super().sample(mask, probability)

    def contains(self, x: Any) -> bool:
        """Return whether it is a string, no longer than a program's report may be."""
        return isinstance(x, str) and len(x) <= self.max_length

    def __repr__(self) -> str:
        return "AnyText()"


class Events(gymnasium.Space[list[Event]]):
    """Universe's actions: all lists of key and pointer events, such as ``[("KeyEvent", "ArrowUp", True)]``.

    A sample is one event: one of ``keys`` (X keysyms) goes up or down, or the pointer goes somewhere in ``box`` (x, y,
    width and height in pixels of the screen), with the left button or without.
    """

    def __init__(
        self,
        keys: Sequence[int],
        box: tuple[int, int, int, int],
        seed: int | np.random.Generator | None = None,
    ) -> None:
        """``seed`` is that of ``sample``."""
        super().__init__(seed=seed)
        self.keys: tuple[int, ...] = tuple(keys)
        self.box: tuple[int, int, int, int] = box

    @property
    def is_np_flattenable(self) -> bool:
        """False: lists have no fixed length."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> list[Event]:
        """Return a list of one event."""
        if mask is not None or probability is not None:
            raise ValueError("lists of events can't be sampled with a mask or probabilities; call sample()")
        if self.keys and self.np_random.random() < 0.5:
            return [KeyEvent(int(self.np_random.choice(self.keys)), bool(self.np_random.random() < 0.5))]
        x, y, width, height = self.box
        across, down = int(self.np_random.integers(width)), int(self.np_random.integers(height))
        return [PointerEvent(x + across, y + down, int(self.np_random.integers(2)))]

    def contains(self, x: Any) -> bool:
        """Return whether it is a list of events."""
        try:
            return not parse_action(x).peek
        except ActionError:
            return False

    def to_jsonable(self, sample_n: Iterable[list[Event]]) -> list[Any]:
        """Return samples as lists that can be written as JSON."""
        return [[to_wire(event) for event in parse_action(sample).events] for sample in sample_n]

    def from_jsonable(self, sample_n: list[Any]) -> list[list[Event]]:
        """Return the samples of such lists."""
        return [[from_wire(event) for event in sample] for sample in sample_n]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Events) and (self.keys, self.box) == (other.keys, other.box)

    def __hash__(self) -> int:
        return hash((self.keys, self.box))

    def __repr__(self) -> str:
        return f"Events({len(self.keys)} keys, box={self.box})"


def action_space(actions: ActionMap) -> gymnasium.Space[Any]:
    """Return the space of an environment's actions."""
    match actions.kind:
        case "discrete":
            return spaces.Discrete(actions.n)
        case "keys":
            keys = spaces.MultiBinary(len(actions.keys))
            return spaces.Dict({"keys": keys, "submit": spaces.MultiBinary(1)}) if actions.submit else keys
        case "pads":
            pads: dict[str, gymnasium.Space[Any]] = {
                name: spaces.MultiBinary(part.shape[0])
                if part.kind is None
                else spaces.Box(np.array(part.least, part.kind), np.ones(part.shape, part.kind))
                for name, part in actions.arrays().items()
            }
            return spaces.Dict(pads)
        case "pointer":
            place = actions.arrays()["pointer"]
            parts: dict[str, gymnasium.Space[Any]] = {
                "pointer": spaces.MultiDiscrete(np.subtract(place.most, place.least) + 1, start=list(place.least)),
                "buttons": spaces.MultiBinary(actions.buttons),
            }
            if actions.keys:
                parts["keys"] = spaces.MultiBinary(len(actions.keys))
            if actions.submit:
                parts["submit"] = spaces.MultiBinary(1)
            return spaces.Dict(parts)
        case "events":
            return Events(actions.keys, actions.box)


def observation_space(core: Core) -> gymnasium.Space[Any]:
    """Return the space of an environment's observations: a Box of pixels, or a Dict with other parts beside them."""
    vision = spaces.Box(0, 255, core.pictures.shape, np.uint8)
    parts: dict[str, gymnasium.Space[Any]] = {"vision": vision}
    if core.spaces is not None and core.spaces.text:
        parts["text"] = AnyText()
    if core.spaces is not None and core.spaces.observation is not None:
        parts["observation"] = spaces.Box(-np.inf, np.inf, core.spaces.observation, np.float32)
    if core.audio_shape is not None:
        parts["audio"] = spaces.Box(-(2**15), 2**15 - 1, core.audio_shape, np.int16)
    return spaces.Dict(parts) if len(parts) > 1 else vision
