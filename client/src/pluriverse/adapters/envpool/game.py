"""EnvPool's rules for one environment: where its episodes begin and end, its lives and rewards. Pure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pluriverse.adapters.actions import IDLE, ActionMap
from pluriverse.adapters.info import UNKNOWN_LIVES, lives_of
from pluriverse.errors import ConfigurationError
from pluriverse.rewarder.result import Result

from .config import MAX, Config


class Opening(NamedTuple):
    """The actions that open an episode, or None."""

    noop: Any = None
    fire: Any = None


Row = tuple[float, ...]
"""What EnvPool's arrays have of a result beside its picture: ``_INTEGERS``, ``_FLOATS`` and ``_FLAGS``."""

_INTEGERS: Final = ("elapsed_step", "step_type", "lives", "terminated")
_FLOATS: Final = ("reward", "discount", "earned")
_FLAGS: Final = ("done", "trunc", "lost")

# dm_env's numbers.
_FIRST: Final = 0
_MID: Final = 1
_LAST: Final = 2


class Game:
    """The state of one environment. All random choices follow from its seed."""

    def __init__(self, config: Config, seed: int | None, opening: Opening) -> None:
        """``seed`` is the first episode's; None: any."""
        self._config = config
        self._opening = opening
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._seed = seed
        # A remote's Atari repeats actions itself, at each frame.
        self._sticky = 0.0 if config.is_atari else config.repeat_action_probability
        self._last_action: Any = None
        self._elapsed = 0
        self._lives = UNKNOWN_LIVES
        self.result: Result = Result()
        """The last answer, also cut by the agent's own limit of steps."""
        self.done: bool = True
        """Whether the next action is ignored, and begins an episode."""
        self.goes_on: bool = False
        """Whether that episode is the rest of the remote's, after a life was lost."""

    def seed(self) -> int:
        """Return the seed of the next episode: the given one, then random ones that follow from it."""
        seed, self._seed = self._seed, None
        return seed if seed is not None else self._random.randrange(MAX)

    def opening(self) -> list[Any]:
        """Return the actions before the agent sees an episode: some no-ops, and the fire button."""
        config = self._config
        actions: list[Any] = []
        fires = config.use_fire_reset and self._opening.fire is not None
        if config.noop_max:
            # The fire button's frame is one of them.
            frames = self._random.randint(1, config.noop_max) - fires
            actions = [self._opening.noop] * -(-frames // config.frame_skip)
        if fires:
            actions.append(self._opening.fire)
        return actions

    def choose(self, action: Any) -> Any:
        """Return the action to take: by chance the one before, with sticky actions."""
        if self._sticky and self._last_action is not None and self._random.random() < self._sticky:
            return self._last_action
        self._last_action = action
        return action

    def begun(self, result: Result) -> Row:
        """Return the row of an episode's first observation."""
        if not self.goes_on:
            self._elapsed = 0
        self.result, self._lives = result, lives_of(result)
        self._last_action = None
        self.done = self.goes_on = False
        return self._elapsed, _FIRST, max(self._lives, 0), False, 0.0, 1.0, 0.0, False, False, False

    def take(self, result: Result) -> Row:
        """Return the row of the answer to an action."""
        config = self._config
        self._elapsed += 1
        before, self._lives = self._lives, lives_of(result)
        lives = self._lives
        # As in EnvPool, a life that is won counts, too; the first that is heard of doesn't.
        changed = before != UNKNOWN_LIVES and lives != before
        if self._elapsed == config.max_episode_steps:
            result = result._replace(truncated=True)
        self.result = result
        self.done = result.over or (config.episodic_life and 0 < lives < before)
        self.goes_on = self.done and not result.over
        earned = result.reward
        clipped = float((earned > 0) - (earned < 0)) if config.reward_clip else earned
        discount = 0.0 if self.done or (changed and config.zero_discount_on_life_loss) else 1.0
        step_type = _LAST if self.done else _MID
        numbers = self._elapsed, step_type, max(lives, 0), result.terminated, clipped, discount, earned
        return *numbers, self.done, result.truncated, result.lost


def columns(rows: Sequence[Row]) -> dict[str, NDArray[Any]]:
    """Return the arrays of some rows by their names; one table is much faster than an array for each."""
    table = np.array(rows, np.float64).T
    integers, floats, flags = table[:4].astype(np.int32), table[4:7].astype(np.float32), table[7:].astype(np.bool_)
    return dict(zip((*_INTEGERS, *_FLOATS, *_FLAGS), (*integers, *floats, *flags), strict=True))


def opening_of(actions: ActionMap, config: Config) -> Opening:
    """Return the actions that can open an episode."""
    fire = next((number for number, choice in enumerate(actions.choices) if choice.name == "FIRE"), None)
    match actions.kind:
        case "discrete":
            opening = Opening() if actions.tap else Opening(IDLE, fire)
        case "keys":
            opening = Opening(np.zeros(len(actions.keys), np.int32))
        case _:
            opening = Opening({})
    if config.noop_max and opening.noop is None:
        raise ConfigurationError(
            f"noop_max is {config.noop_max}, and every action of {config.task} is a move; leave noop_max at 0"
        )
    return opening
