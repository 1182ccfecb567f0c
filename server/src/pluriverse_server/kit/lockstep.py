"""Steps of an agent in lockstep: takes them from its lane, has the program play them, and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pluriverse_protocol.events import Event
from pluriverse_protocol.limits import MAX_SNAPSHOT_BYTES, MAX_SNAPSHOTS
from pluriverse_protocol.messages import (
    AgentRestore,
    AgentSnapshot,
    AgentStep,
    ErrorReply,
    FirstFrame,
    Headers,
    RestoreReply,
    SnapshotReply,
    StepReply,
)

from pluriverse_server.permitted import Permitted, pass_on

from .lane import Asked, Lane, LaneDoor
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


@dataclass(frozen=True, slots=True)
class Kept:
    """A moment of an episode: whatever ``Snapshots`` of it need, and how many bytes that takes."""

    state: Any
    size: int


@runtime_checkable
class Snapshots(Protocol):
    """What ``Steps`` have that can go back by themselves."""

    def keep(self) -> Kept | None:
        """Return the present moment; None if that can't be kept."""
        ...

    def go_back(self, kept: Kept) -> None:
        """Be where the episode, or one before it, was then.

        Raises:
            ValueError: it is a moment of another environment.
        """
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
        # The snapshots of the agent on the lane.
        self._kept: dict[int, Kept] = {}
        self._kept_bytes = 0
        self._next_handle = 0

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
            for asked, headers in self._lane.receive():
                self._do(self._lane, asked, headers)
            if self._lane.closed:
                self._lane = None
                self._drop(tuple(self._kept))
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
            self._drop(tuple(self._kept))
            self._show_first()

    def _show_first(self) -> None:
        if self._lane is None or self._steps is None or self._steps.over:
            return
        seen = self._steps.see()
        message = FirstFrame(_shape(seen), seen.text, seen.observation, dict(seen.info))
        self._lane.send(message, self._steps.episode, pixels=_bytes(seen))

    def _do(self, lane: Lane, asked: Asked, headers: Headers) -> None:
        steps = self._steps
        wrong = _fault(steps, headers)
        if steps is None or wrong:
            lane.send(ErrorReply(wrong), headers.episode_id or 0, headers.message_id)
            return
        match asked:
            case AgentStep():
                self._play(lane, steps, asked, headers)
            case AgentSnapshot(drop=handles):
                self._drop(handles)
                lane.send(self._keep(steps), steps.episode, headers.message_id)
            case AgentRestore(handle=handle):
                self._go_back(lane, steps, handle, headers)

    def _keep(self, steps: Steps) -> SnapshotReply | ErrorReply:
        kept = steps.keep() if isinstance(steps, Snapshots) else None
        if kept is None:
            return SnapshotReply()
        if len(self._kept) >= MAX_SNAPSHOTS or self._kept_bytes + kept.size > MAX_SNAPSHOT_BYTES:
            return ErrorReply(
                f"{len(self._kept)} snapshots of {self._kept_bytes} bytes are kept, and at most {MAX_SNAPSHOTS} of "
                f"{MAX_SNAPSHOT_BYTES} bytes can be; drop some"
            )
        handle, self._next_handle = self._next_handle, self._next_handle + 1
        self._kept[handle] = kept
        self._kept_bytes += kept.size
        return SnapshotReply(handle)

    def _drop(self, handles: Sequence[int]) -> None:
        for handle in handles:
            kept = self._kept.pop(handle, None)
            if kept is not None:
                self._kept_bytes -= kept.size

    def _go_back(self, lane: Lane, steps: Steps, handle: int, headers: Headers) -> None:
        kept = self._kept.get(handle)
        if kept is None or not isinstance(steps, Snapshots):
            lane.send(ErrorReply(f"there is no snapshot {handle}"), steps.episode, headers.message_id)
            return
        try:
            steps.go_back(kept)
        except ValueError as error:
            lane.send(ErrorReply(str(error)), steps.episode, headers.message_id)
            return
        seen = steps.see()
        reply = RestoreReply(_shape(seen), seen.text, seen.observation, dict(seen.info))
        lane.send(reply, steps.episode, headers.message_id, _bytes(seen))

    def _play(self, lane: Lane, steps: Steps, step: AgentStep, headers: Headers) -> None:
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
