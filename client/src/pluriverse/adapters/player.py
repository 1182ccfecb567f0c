"""One environment between two calls of its agent: collects outcomes until they answer the call. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from pluriverse.env.outcome import Outcome
from pluriverse.errors import Misuse, ResetNeeded
from pluriverse.rfb.picture import Pixels
from pluriverse.spaces import ScreenObservation

# A remote that paints its clock shows a new one with each frame; one whose clock stands for so long has stalled, and
# the agent is given what there is.
STALL_S: Final = 0.5

# How often to look at an environment that has not answered in time, or begins an episode, even if nothing came of it.
LOOK_S: Final = 0.05


class Phase(Enum):
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


def require_ready(phase: Phase, index: int) -> None:
    """Check that the agent may act; errors call the environment by its ``index``."""
    if phase is Phase.READY:
        return
    if phase is Phase.NEW:
        raise ResetNeeded(f"environment {index} has not been reset; call reset() before the first step")
    if phase is Phase.ENDED:
        raise ResetNeeded(f"the episode of environment {index} is over; call reset() before the next step")
    raise Misuse(
        f"environment {index} has not answered its last call; take that answer first: by recv, or after an interrupted "
        "step by the next one"
    )


# Replaced by the first outcome, and never changed.
_NO_OUTCOME: Final = Outcome()


@dataclass(slots=True)
class StepResult:
    screen: Pixels
    """The picture, or the whole screen where those are kept; at an episode's end the last picture of it."""
    text: str = ""
    """The latest of the episode's texts."""
    state: Any = None
    """The episode's latest structured observation; None: there was none."""
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    first: bool = False
    """Whether this is the episode's first result, whose reward is 0."""
    elapsed: int = 0
    """The number of the episode's steps."""
    lost: bool = False
    """Whether the remote broke."""
    lives: Any = None
    """The latest that the program reported; None: it reports none."""
    outcome: Outcome = _NO_OUTCOME
    """The measurements of this step."""

    @property
    def info(self) -> dict[str, Any]:
        """A new dict of everything else; docs/agents.md lists the keys. ``lives`` is in each where it is known."""
        return self._with_lives(self.outcome.info())

    @property
    def reported_info(self) -> dict[str, Any]:
        """A new dict of what the program reported, without measurements, which differ from run to run."""
        return self._with_lives(self.outcome.reported_info())

    def _with_lives(self, info: dict[str, Any]) -> dict[str, Any]:
        if self.lives is not None:
            info["lives"] = self.lives
        return info


class Player:
    """The state of one environment. Times are seconds of any steady clock, passed in."""

    def __init__(self, blank: Pixels, *, fps: float, frame_skip: int = 1, max_episode_steps: int | None = None) -> None:
        """``blank`` stands for a screen that was never seen. A step lasts ``frame_skip`` frames at ``fps``."""
        self.phase: Phase = Phase.NEW
        self.due_at: float = 0.0
        """When to look at the environment even if nothing came."""
        # When the step is over if it hasn't been answered by then.
        self._over_at = 0.0
        self._step_s = frame_skip / fps
        # A frame is a little early or late by half a frame at most; what comes later than that is not made up for.
        self._slack_s = 0.5 / fps
        self._max_episode_steps = max_episode_steps
        self._result = StepResult(blank)
        # The painted clock of the last picture; when the step is due by that clock, and by ours.
        self._clock: float | None = None
        self._due_painted_at = 0.0
        self._due_here_at = 0.0
        # A reward that came with an episode's first frame belongs to its first step.
        self._carried = 0.0
        self._remote_ended = False

    @property
    def remote_ended_episode(self) -> bool:
        """Whether the remote ended the last episode itself, and so has begun the next."""
        return self.phase is Phase.ENDED and self._remote_ended

    def reset(self) -> None:
        """Begin to wait for another episode."""
        self.phase = Phase.RESETTING
        self._result = StepResult(self._result.screen, first=True)
        self._clock = None
        self._carried = 0.0
        self.due_at = self._over_at = 0.0

    def act(self, now: float) -> None:
        """Begin to wait for the answer to an action."""
        last = self._result
        self.phase = Phase.STEPPING
        self._result = StepResult(
            last.screen, last.text, last.state, self._carried, elapsed=last.elapsed + 1, lives=last.lives
        )
        self._carried = 0.0
        self._over_at = self._due_here_at if self._clock is None else max(now, self._due_here_at) + STALL_S
        self.due_at = self._over_at

    def take(self, outcome: Outcome, screen: Pixels | None, now: float) -> StepResult | None:
        """Take in an outcome and the latest screen; return the result once it is complete."""
        result = self._take(outcome, screen, now)
        if result is None:
            self.due_at = self._over_at if now < self._over_at else now + LOOK_S
        return result

    def _take(self, outcome: Outcome, screen: Pixels | None, now: float) -> StepResult | None:
        result = self._result
        result.lives = outcome.program_info.get("lives", result.lives)
        if result.outcome is _NO_OUTCOME:
            result.outcome = outcome
        else:
            result.outcome.merge(outcome)
        if self.phase is Phase.RESETTING:
            return self._take_first(outcome, now)
        result.reward += outcome.reward
        if outcome.done:
            return self._end(outcome, screen)
        if outcome.observation is None:
            return None
        self._see(outcome.observation)
        if not self._is_over(outcome, now):
            return None
        self._due_here_at = self._next_due(self._due_here_at, now)
        if outcome.painted_at is not None:
            self._due_painted_at = self._next_due(self._due_painted_at, outcome.painted_at)
            self._clock = outcome.painted_at
        self.phase = Phase.READY
        if result.elapsed == self._max_episode_steps:
            result.truncated = True
            self.phase = Phase.ENDED
            self._remote_ended = False
        return result

    def _take_first(self, outcome: Outcome, now: float) -> StepResult | None:
        # Rewards of an episode that ended before the agent saw it are dropped; the next begins by itself.
        self._carried = 0.0 if outcome.done else self._carried + outcome.reward
        if outcome.observation is None:
            return None
        self._see(outcome.observation)
        self._clock = outcome.painted_at
        self._due_painted_at = (self._clock or 0.0) + self._step_s
        self._due_here_at = now + self._step_s
        self.phase = Phase.READY
        return self._result

    def _end(self, outcome: Outcome, screen: Pixels | None) -> StepResult:
        result = self._result
        result.terminated = outcome.terminated
        result.truncated = outcome.truncated or not outcome.terminated
        result.lost = outcome.error is not None
        self._remote_ended = not result.lost
        if outcome.completed_texts:
            result.text = outcome.completed_texts[-1]
        if outcome.completed_observation is not None:
            result.state = outcome.completed_observation.observation
        # A picture that comes with the end is the next episode's already; until then it is still the old one's.
        if outcome.observation is None and screen is not None and screen.shape == result.screen.shape:
            result.screen = screen
        self.phase = Phase.ENDED
        return result

    def _see(self, observation: ScreenObservation) -> None:
        result = self._result
        if observation["vision"] is not None:
            result.screen = observation["vision"]
        if observation["text"]:
            result.text = observation["text"][-1]
        if "observation" in observation:
            result.state = observation["observation"]

    def _is_over(self, outcome: Outcome, now: float) -> bool:
        painted_at = outcome.painted_at
        if painted_at is None or self._clock is None:
            # Updates of the screen are no frames: how many a frame is sent in is the VNC server's affair.
            self._over_at = self._due_here_at
        elif painted_at > self._clock and painted_at >= self._due_painted_at - self._slack_s:
            return True
        return now >= self._over_at

    def _next_due(self, due: float, at: float) -> float:
        """Return when the next step is due after one that was due at ``due`` and over at ``at``, on either clock.

        That is a step later, however late the agent was by less than half a frame, so that the rate is exact.
        """
        return min(max(due, at - self._slack_s), at + self._slack_s) + self._step_s
