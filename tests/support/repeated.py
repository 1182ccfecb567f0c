"""Episodes in lockstep that are played again, to see whether they are the same."""

import hashlib
import random
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np
import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse_protocol.events import Event, KeyEvent, PointerEvent

# x, y, width and height.
Box = tuple[int, int, int, int]

# Space, Return and Tab: what is focused does something.
ACTIVATING: Final = (0x20, 0xFF0D, 0xFF09)
# None, mostly the left, the right, the middle; up and down.
BUTTONS: Final = (0, 0, 1, 1, 1, 4, 2)
WHEEL: Final = (8, 16)
TYPED: Final = "aZ7%"


class Step(NamedTuple):
    """A hash of all that was seen, and what was earned."""

    seen: str
    reward: float
    over: bool


def assert_repeatable(env_id: str, remotes: str, *, frame_skip: int, steps: int) -> None:
    """Play an episode in lockstep twice, and another seed's between: those of one seed are the same."""
    with PluriverseEnv(env_id, remotes=remotes, clock="lockstep", frame_skip=frame_skip) as env:
        if env.core.described.lockstep != "exact":
            pytest.skip("addresses differ each time on this machine")
        first, other, again = (played(env, seed, steps) for seed in (3, 4, 3))
        assert first == again
        assert first != other


def played(env: PluriverseEnv, seed: int, steps: int) -> list[Step]:
    """Return the first steps of an episode, or all there are, with actions that are drawn from the seed."""
    env.action_space.seed(seed)
    return played_events(env, seed, (env.action_space.sample() for _ in range(steps)))


def hashed(observation: Any) -> str:
    parts = cast("dict[str, Any]", observation if isinstance(observation, dict) else {"vision": observation})
    digest = hashlib.blake2b(digest_size=8)
    for name, part in sorted(parts.items()):
        digest.update(name.encode())
        digest.update(part.tobytes() if isinstance(part, np.ndarray) else str(part).encode())
    return digest.hexdigest()


def drawn_events(seed: int, steps: int, keys: Sequence[int], box: Box) -> list[list[Event]]:
    """Return steps of random input within a part of the screen: many keys held, buttons, the wheel, and typed text."""
    chance = random.Random(seed)
    left, top, width, height = box
    held: set[int] = set()
    drawn: list[list[Event]] = []
    for _ in range(steps):
        changed = {*chance.sample(keys, chance.randrange(5)), *(key for key in ACTIVATING if chance.random() < 0.3)}
        events: list[Event] = [KeyEvent(key, key not in held) for key in keys if key in changed]
        held ^= changed
        x, y, buttons = left + chance.randrange(width), top + chance.randrange(height), chance.choice(BUTTONS)
        events.append(PointerEvent(x, y, buttons))
        if chance.random() < 0.2:
            events += [PointerEvent(x, y, mask) for mask in (buttons | chance.choice(WHEEL), buttons)]
        if chance.random() < 0.2:
            key = ord(chance.choice(TYPED))
            events += [KeyEvent(key, down) for down in (True, False) if key not in held]
        # Keys before the pointer, after it, and between.
        at = chance.randrange(len(events))
        drawn.append(events[at:] + events[:at] if chance.random() < 0.5 else events)
    return drawn


def played_events(env: PluriverseEnv, seed: int, drawn: Iterable[Any]) -> list[Step]:
    """Return an episode's first steps with these actions, or all there are."""
    observation, _ = env.reset(seed=seed)
    taken = [Step(hashed(observation), 0.0, over=False)]
    for action in drawn:
        observation, reward, terminated, truncated, info = env.step(action)
        assert not info.get("lost"), info
        taken.append(Step(hashed(observation), float(reward), terminated or truncated))
        if taken[-1].over:
            break
    return taken
