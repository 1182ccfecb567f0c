"""Steps of an agent in lockstep: takes them from its step channel, has the program play them, and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pluriverse_protocol.errors import MessageId
from pluriverse_protocol.events import Event
from pluriverse_protocol.limits import MAX_SNAPSHOT_BYTES, MAX_SNAPSHOTS
from pluriverse_protocol.messages import (
    AgentBegin,
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
from pluriverse_protocol.reports import Reset

from pluriverse_server.permitted import Permitted, pass_on

from . import views
from .outcome import Outcome
from .step_channel import BEGINS_ELSEWHERE, IN_REAL_TIME, Asked, StepChannel, StepChannelHttpAuth, over

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


class Waited(Protocol):
    """Something that ``select`` takes."""

    def fileno(self) -> int:
        """Return its descriptor."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


class Slots(Protocol):
    """The environments of a program beside its own, each of which lives on its step channel alone."""

    @property
    def waits_on(self) -> Sequence[Waited]:
        """What to ``select`` for reading."""
        ...

    def attend(self, readable: Sequence[object]) -> None:
        """Do what has come on what was readable."""
        ...

    def play(self, request: Reset) -> None:
        """Have those that begin an episode from now on play what the program plays, as ``request`` says."""
        ...

    def open(self, slot: int, step_channel: StepChannel) -> None:
        """Give a step channel to its slot."""
        ...

    def hang_up(self) -> None:
        """Close the step channels of all."""
        ...


class Lockstep:
    """The step channel of a program, if an agent has one, and the episode that is played on it."""

    def __init__(self, slots: Slots | None = None) -> None:
        """Connect to the daemon's socket for step channels, if it has one. ``slots`` None: there is one environment."""
        self.watched: bool = True
        """Whether anybody looks at the screen."""
        self._http_auth: StepChannelHttpAuth | None = StepChannelHttpAuth.from_environment()
        self._played: Played | None = None
        self._steps: Steps | None = None
        self._slots = slots

    @property
    def waits_on(self) -> list[Waited]:
        """What to ``select`` for reading beside everything else."""
        own: list[Waited] = [] if self._http_auth is None else [self._http_auth]
        if self._played is not None:
            own.append(self._played.step_channel)
        return own if self._slots is None else [*own, *self._slots.waits_on]

    def asked(self, request: Reset) -> None:
        """Note what the daemon has asked for, before it begins."""
        if self._slots is not None:
            self._slots.play(request)

    def begin(self, steps: Steps | None) -> None:
        """Play an episode whose first frame is there; None: it is in real time."""
        self._steps = steps
        if self._played is not None:
            self._played.begin(steps)

    def attend(self, readable: Sequence[object]) -> None:
        """Do what has come on what was readable."""
        played = self._played
        if played is not None and played.step_channel in readable:
            for asked, headers in played.step_channel.receive():
                played.do(asked, headers)
            if played.step_channel.closed:
                self._played = None
        if self._http_auth is not None and self._http_auth in readable:
            self._accept(self._http_auth)
        if self._slots is not None:
            self._slots.attend(readable)

    def _accept(self, http_auth: StepChannelHttpAuth) -> None:
        try:
            slot, step_channel = http_auth.accept()
        except OSError:
            http_auth.close()
            self._http_auth = None
            return
        if slot and step_channel is not None:
            if self._slots is not None:
                self._slots.open(slot, step_channel)
            # It has a copy.
            step_channel.close()
            return
        if step_channel is None and self._slots is not None:
            self._slots.hang_up()
        if self._played is not None:
            self._played.step_channel.close()
        self._played = None if step_channel is None else Played(step_channel)
        if self._played is not None:
            self._played.begin(self._steps)


class Played:
    """A step channel, the episode that is played on it, and the snapshots of its agent."""

    def __init__(self, step_channel: StepChannel, without: str = IN_REAL_TIME) -> None:
        """There is no episode yet; ``without`` says what is wrong then."""
        self.step_channel: StepChannel = step_channel
        self._without = without
        self._steps: Steps | None = None
        self._kept: dict[int, Kept] = {}
        self._kept_bytes = 0
        self._next_handle = 0

    def begin(self, steps: Steps | None, parent: MessageId | None = None) -> None:
        """Play an episode, and show its frame; ``parent``: who asked for it, if anybody did."""
        self._steps = steps
        if steps is None or steps.over:
            return
        self._show(FirstFrame, steps, parent)

    def do(self, asked: Asked, headers: Headers) -> None:
        """Do what the agent has asked for, and answer."""
        steps = self._steps
        match asked:
            case AgentBegin():
                self._refuse(ErrorReply(BEGINS_ELSEWHERE), headers)
            case _ if steps is None:
                self._refuse(ErrorReply(self._without), headers)
            case _ if steps.over or headers.episode_id != steps.episode:
                self._refuse(over(headers), headers)
            case AgentStep():
                self._play(steps, asked, headers)
            case AgentSnapshot(drop=handles):
                self._drop(handles)
                self.step_channel.send(self._keep(steps), steps.episode, headers.message_id)
            case AgentRestore(handle=handle):
                self._go_back(steps, handle, headers)

    def _refuse(self, answer: ErrorReply, headers: Headers) -> None:
        self.step_channel.send(answer, headers.episode_id or 0, headers.message_id)

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

    def _go_back(self, steps: Steps, handle: int, headers: Headers) -> None:
        kept = self._kept.get(handle)
        if kept is None or not isinstance(steps, Snapshots):
            self.step_channel.send(ErrorReply(f"there is no snapshot {handle}"), steps.episode, headers.message_id)
            return
        try:
            steps.go_back(kept)
        except ValueError as error:
            self.step_channel.send(ErrorReply(str(error)), steps.episode, headers.message_id)
            return
        self._show(RestoreReply, steps, headers.message_id)

    def _show(self, message: type[FirstFrame | RestoreReply], steps: Steps, parent: MessageId | None) -> None:
        """Send the frame as it is now."""
        seen = steps.see()
        shape, pixels = views.make(seen.pixels, self.step_channel.view)
        self.step_channel.send(
            message(shape, seen.text, seen.observation, dict(seen.info)), steps.episode, parent, pixels
        )

    def _play(self, steps: Steps, step: AgentStep, headers: Headers) -> None:
        outcome = steps.play(pass_on(step.events, steps.permitted), step.frames)
        seen = steps.see()
        shape, pixels = views.make(seen.pixels, self.step_channel.view)
        info = {**seen.info, "reason": outcome.reason} if outcome.is_last else dict(seen.info)
        reply = StepReply(
            step.n,
            outcome.reward,
            outcome.is_last,
            outcome.terminated,
            outcome.truncated,
            shape,
            seen.text,
            seen.observation,
            info,
        )
        self.step_channel.send(reply, steps.episode, headers.message_id, pixels)
