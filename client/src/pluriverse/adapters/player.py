"""One environment between two calls of its agent: what came of the last action, and whether it is enough. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final

from pluriverse.env.slot import Outcome
from pluriverse.errors import Misuse, ResetNeeded
from pluriverse.rewarder.merge import merge_info
from pluriverse.vnc.shrink import Pixels
from pluriverse.wrappers.gym_core_sync import BLOCK_PIXELS, LOST_S, SETTLE_S

# A remote that paints its clock shows a new one with each frame; one whose clock stands for so long has stalled, and
# the agent is given what there is.
STALL_S: Final = 0.5


class Phase(Enum):
    """What an environment is waiting for."""

    NEW = auto()
    """Its first reset."""
    RESETTING = auto()
    """An episode's first frame."""
    STEPPING = auto()
    """The frame after an action."""
    READY = auto()
    """Its agent."""
    ENDED = auto()
    """A reset: the episode is over."""


@dataclass(slots=True)
class Turn:
    """What an agent is given of one environment.

    ``screen`` is uint8, (height, width, 3), RGB; of an episode's end it is the last that was seen of it. ``text`` is
    the latest of the episode's texts, ``state`` its structured observation or None. ``first``: it is the episode's
    first, and ``reward`` is 0. ``elapsed`` counts the episode's steps. ``lost``: the remote broke. ``info`` has
    ``lives`` in every turn where the remote tells them.
    """

    screen: Pixels
    text: str = ""
    state: Any = None
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    first: bool = False
    elapsed: int = 0
    lost: bool = False
    info: dict[str, Any] = field(default_factory=dict[str, Any])


class Player:
    """The state of one environment. Times are UNIX seconds, passed in."""

    def __init__(
        self,
        blank: Pixels,
        *,
        fps: float,
        frame_skip: int = 1,
        max_episode_steps: int | None = None,
        sync: bool = False,
    ) -> None:
        """``blank`` stands for a screen that was never seen. A step lasts ``frame_skip`` frames of ``fps``.

        ``sync``: the environment waits for its agent, and answers each step with a reward and a picture painted later.
        """
        self.phase = Phase.NEW
        self._sync = sync
        self._frame_s = 1 / fps
        self._frame_skip = frame_skip
        self._max_episode_steps = max_episode_steps
        self._turn = Turn(blank)
        self._clock: float | None = None
        self._updates = 0
        self._began_at = 0.0
        # What came with an episode's first frame belongs to its first step.
        self._carried = 0.0

        self._over_there = False
        self._lives: Any = None

    @property
    def over_there(self) -> bool:
        """Whether it was the remote that ended the last episode, so that the next has begun by itself."""
        return self.phase is Phase.ENDED and self._over_there

    @property
    def due_at(self) -> float:
        """When it is to be looked at though nothing came: a step is over by then."""
        if self.phase is Phase.RESETTING:
            return math.inf
        if self._sync:
            return self._began_at + LOST_S if self._settled_at is None else self._settled_at
        stall_s = 0.0 if self._clock is None else STALL_S
        return self._began_at + stall_s + self._frame_skip * self._frame_s

    def is_overdue(self, now: float) -> bool:
        """Whether it is to be looked at: a step is over by time alone, and of a reset one can't know."""
        return self.phase is Phase.RESETTING or now >= self.due_at

    def reset(self) -> None:
        """The agent, or the end of the episode before, has asked for another episode."""
        self.phase = Phase.RESETTING
        self._turn = Turn(self._turn.screen, first=True)
        self._clock = None
        self._carried = 0.0
        self._lives = None

    def check(self, name: int) -> None:
        """Whether the agent may act.

        Raises:
            ResetNeeded: there is no episode to act in.
            Misuse: the last call has not been answered yet.
        """
        if self.phase is Phase.NEW:
            raise ResetNeeded(f"environment {name} has not been reset; call reset() before the first step")
        if self.phase is Phase.ENDED:
            raise ResetNeeded(f"the episode of environment {name} is over; call reset() before the next step")
        if self.phase is not Phase.READY:
            raise Misuse(f"environment {name} has not answered its last call; receive that before the next action")

    def act(self, now: float) -> None:
        """The agent acts, as it may."""
        last = self._turn
        self.phase = Phase.STEPPING
        self._turn = Turn(last.screen, last.text, last.state, reward=self._carried, elapsed=last.elapsed + 1)
        self._carried = 0.0
        self._updates = 0
        self._began_at = now
        self._settled_at: float | None = None

    def take(self, outcome: Outcome, screen: Pixels | None, now: float) -> Turn | None:
        """Take in what a step gave, with the latest screen; the turn, once it is one."""
        turn = self._turn
        if turn.info:
            merge_info(turn.info, outcome.info)
        else:
            turn.info = outcome.info
        self._keep_lives(turn.info)
        if self.phase is Phase.RESETTING:
            return self._first(outcome)
        turn.reward += outcome.reward
        if outcome.done:
            return self._ended(outcome, screen)
        if outcome.observation is None:
            return None
        self._see(outcome.observation)
        if not (self._is_answered(turn.info, now) if self._sync else self._is_due(outcome.info, now)):
            return None
        self._clock = outcome.info.get("diagnostics.image_remote_time", self._clock)
        self.phase = Phase.READY
        if turn.elapsed == self._max_episode_steps:
            turn.truncated = True
            self.phase = Phase.ENDED
            self._over_there = False
        return turn

    def _keep_lives(self, info: dict[str, Any]) -> None:
        # Remotes tell them when they change; agents look for them in every step.
        self._lives = info.get("lives", self._lives)
        if self._lives is not None:
            info["lives"] = self._lives

    def _first(self, outcome: Outcome) -> Turn | None:
        # An episode that ended before it was seen is nobody's; the next begins by itself.
        self._carried = 0.0 if outcome.done else self._carried + outcome.reward
        if outcome.observation is None:
            return None
        self._see(outcome.observation)
        self._clock = outcome.info.get("diagnostics.image_remote_time")
        self.phase = Phase.READY
        return self._turn

    def _ended(self, outcome: Outcome, screen: Pixels | None) -> Turn:
        turn = self._turn
        turn.terminated = bool(outcome.info.get("terminated"))
        turn.truncated = bool(outcome.info.get("truncated")) or not turn.terminated
        turn.lost = "error" in outcome.info
        self._over_there = not turn.lost
        self._hear(outcome.last)
        # A picture that comes with the end is the next episode's already; until then it is still the old one's.
        if outcome.observation is None and screen is not None and screen.shape == turn.screen.shape:
            turn.screen = screen
        self.phase = Phase.ENDED
        return turn

    def _see(self, observation: dict[str, Any]) -> None:
        self._turn.screen = observation["vision"]
        self._hear(observation)

    def _hear(self, observation: dict[str, Any]) -> None:
        turn = self._turn
        if observation.get("text"):
            turn.text = observation["text"][-1]
        if "observation" in observation:
            turn.state = observation["observation"]

    def _is_due(self, info: dict[str, Any], now: float) -> bool:
        clock = info.get("diagnostics.image_remote_time")
        if clock is not None and self._clock is not None:
            # Painted clocks are whole milliseconds, and frames a little early or late: half a frame is neither.
            if clock - self._clock >= (self._frame_skip - 0.5) * self._frame_s:
                return True
        else:
            self._updates += info["stats.vnc.updates.n"]
            if self._updates >= self._frame_skip:
                return True
        return now >= self.due_at

    def _is_answered(self, info: dict[str, Any], now: float) -> bool:
        if now >= self.due_at:
            return True
        painted, rewarded = info.get("diagnostics.image_remote_time", 0.0), info.get("reward_buffer.remote_time", 0.0)
        if not info["stats.reward.count"] or painted < rewarded:
            return False
        if info["stats.vnc.updates.pixels"] > BLOCK_PIXELS * info["stats.vnc.updates.n"]:
            return True
        # Only the clock has come so far; what the step drew may be in the next update, or it drew nothing.
        if self._settled_at is None:
            self._settled_at = now + SETTLE_S
        return False
