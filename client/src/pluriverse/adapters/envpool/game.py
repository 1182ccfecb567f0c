"""One environment as EnvPool counts it: where its episode begins and ends, its lives, its rewards. Pure."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.player import StepResult
from pluriverse.errors import ConfigurationError

from .config import SEEDS, Config

# dm_env's step types by number.
FIRST: Final = 0
MID: Final = 1
LAST: Final = 2


@dataclass(frozen=True, slots=True)
class Opening:
    """The actions that an episode may be opened with; None: there is no such action."""

    noop: Any = None
    fire: Any = None


class Row(NamedTuple):
    """What EnvPool says of one environment beside its picture; ``batch.ROW`` has the types.

    ``step_type`` is dm_env's number. ``earned`` is the reward before it was clipped.
    """

    step_type: int
    elapsed: int
    lives: int
    reward: float = 0.0
    earned: float = 0.0
    discount: float = 1.0
    done: bool = False
    truncated: bool = False
    terminated: bool = False
    lost: bool = False


class Game:
    """The books of one environment. Whatever is drawn by lot is drawn from its seed."""

    def __init__(self, config: Config, seed: int, opening: Opening) -> None:
        self._config = config
        self._opening = opening
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._seed: int | None = seed
        self._last_action: Any = None
        self._elapsed = 0
        self._lives = 0
        self.done = True
        """Whether the next action is ignored, and begins an episode."""
        self.goes_on = False
        """Whether that episode is the rest of the remote's: only a life was lost."""

    def seed(self) -> int:
        """The seed of the next episode: the given one, then those that it leads to."""
        seed, self._seed = self._seed, None
        return seed if seed is not None else self._random.randrange(SEEDS)

    def opening(self) -> list[Any]:
        """What is done before the agent sees an episode: nothing for a while, and the fire button."""
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
        """What is really done: by chance the action before, where actions are sticky."""
        chance = self._config.repeat_action_probability
        if chance and self._last_action is not None and self._random.random() < chance:
            return self._last_action
        self._last_action = action
        return action

    def begun(self, turn: StepResult) -> Row:
        """An episode's beginning, as the agent first sees it."""
        if not self.goes_on:
            self._elapsed = 0
        self._lives = _lives(turn, 0 if not self.goes_on else self._lives)
        self._last_action = None
        self.done = self.goes_on = False
        return Row(FIRST, self._elapsed, self._lives)

    def take(self, turn: StepResult) -> Row:
        """The answer to an action."""
        config = self._config
        self._elapsed += 1
        lives = _lives(turn, self._lives)
        died, self._lives = 0 < lives < self._lives, lives
        over = turn.terminated or turn.truncated
        truncated = turn.truncated or self._elapsed == config.max_episode_steps
        self.done = over or truncated or (died and config.episodic_life)
        self.goes_on = self.done and not over and not truncated
        earned = turn.reward
        reward = float((earned > 0) - (earned < 0)) if config.reward_clip else earned
        dying = died and config.zero_discount_on_life_loss
        discount = 0.0 if self.done or dying else 1.0
        step_type = LAST if self.done else MID
        return Row(
            step_type, self._elapsed, lives, reward, earned, discount, self.done, truncated, turn.terminated, turn.lost
        )


def _lives(turn: StepResult, before: int) -> int:
    """Return the lives that the program reported, else those of before."""
    return int(turn.lives) if isinstance(turn.lives, int | float) else before


def opening_of(actions: ActionMap, config: Config) -> Opening:
    """What can be done before an agent sees an episode.

    Raises:
        ConfigurationError: no-ops are wanted, and there are none.
    """
    fire = next((number for number, choice in enumerate(actions.choices) if choice.name == "FIRE"), None)
    match actions.kind:
        case "discrete":
            idle = next((number for number, choice in enumerate(actions.choices) if not choice.keys), None)
            opening = Opening(None if actions.tap else idle, None if actions.tap else fire)
        case "keys":
            opening = Opening(np.zeros(len(actions.keys), np.int32))
        case _:
            opening = Opening({})
    if config.noop_max and opening.noop is None:
        raise ConfigurationError(
            f"noop_max is {config.noop_max}, and every action of {config.task} is a move; leave noop_max at 0"
        )
    return opening
