"""Steps of an agent in lockstep: takes them from its lane, has the program play them, and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pluriverse_protocol.events import Event
from pluriverse_protocol.messages import AgentStep, ErrorReply, FirstFrame, Headers, StepReply

from pluriverse_server.permitted import Permitted, pass_on

from .lane import Lane, LaneDoor
from .outcome import Outcome

if TYPE_CHECKING:
    # The overlay, which uses the window of the kit, does without.
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Seen:
    """What an agent sees after a step: pixels, uint8 (height, width, 3 or 1), RGB or grey, and what is said beside."""

    pixels: NDArray[np.uint8]
    text: str = ""
    observation: Any = None
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Steps(Protocol):
    """An episode that time goes on in only as it is stepped."""

    @property
    def episode(self) -> int:
        """Its number."""
        ...

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        ...

    @property
    def permitted(self) -> Permitted | None:
        """What the agent may press; None: everything."""
        ...

    def play(self, events: Sequence[Event], frames: int) -> Outcome:
        """Apply events, and go on by so many frames, or until the episode is over; report what the daemon must know."""
        ...

    def see(self) -> Seen:
        """Return the frame as it is now."""
        ...


class Lockstep:
    """The lane of a program, if an agent has one, and the episode that is played on it."""

    def __init__(self) -> None:
        """Connect to the daemon's socket for lanes, where it has one."""
        self.watched: bool = True
        """Whether anybody looks at the screen."""
        self._door: LaneDoor | None = LaneDoor.from_environment()
        self._lane: Lane | None = None
        self._steps: Steps | None = None

    @property
    def waits_on(self) -> list[LaneDoor | Lane]:
        """What to ``select`` for reading beside everything else."""
        return [each for each in (self._door, self._lane) if each is not None]

    def begin(self, steps: Steps | None) -> None:
        """Play an episode whose first frame is there; None: it is in real time."""
        self._steps = steps
        self._show_first()

    def attend(self, readable: Sequence[object]) -> None:
        """Do what has come on what was readable."""
        if self._lane is not None and self._lane in readable:
            for step, headers in self._lane.receive():
                self._play(self._lane, step, headers)
            if self._lane.closed:
                self._lane = None
        if self._door is not None and self._door in readable:
            try:
                lane = self._door.accept()
            except OSError:
                self._door.close()
                self._door = None
                return
            if self._lane is not None:
                self._lane.close()
            self._lane = lane
            self._show_first()

    def _show_first(self) -> None:
        if self._lane is None or self._steps is None or self._steps.over:
            return
        seen = self._steps.see()
        message = FirstFrame(_shape(seen), seen.text, seen.observation, dict(seen.info))
        self._lane.send(message, self._steps.episode, pixels=_bytes(seen))

    def _play(self, lane: Lane, step: AgentStep, headers: Headers) -> None:
        steps = self._steps
        wrong = _fault(steps, headers)
        if steps is None or wrong:
            lane.send(ErrorReply(wrong), headers.episode_id or 0, headers.message_id)
            return
        outcome = steps.play(pass_on(step.events, steps.permitted), step.frames)
        seen = steps.see()
        info = {**seen.info, "reason": outcome.reason} if outcome.is_last else dict(seen.info)
        reply = StepReply(
            step.n,
            outcome.reward,
            outcome.is_last,
            outcome.terminated,
            outcome.truncated,
            _shape(seen),
            seen.text,
            seen.observation,
            info,
        )
        lane.send(reply, steps.episode, headers.message_id, _bytes(seen))


def _fault(steps: Steps | None, headers: Headers) -> str:
    if steps is None:
        return 'this episode is in real time; begin one with v0.env.reset and "clock": "lockstep"'
    if steps.over or headers.episode_id != steps.episode:
        return f"episode {headers.episode_id} is over; a reset begins another"
    return ""


def _shape(seen: Seen) -> tuple[int, int, int]:
    height, width, channels = seen.pixels.shape
    return height, width, channels


def _bytes(seen: Seen) -> memoryview:
    pixels = seen.pixels if seen.pixels.flags.c_contiguous else seen.pixels.copy()
    return pixels.data.cast("B")
