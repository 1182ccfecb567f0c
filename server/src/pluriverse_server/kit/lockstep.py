"""Steps of an agent in lockstep: takes them from its step channel, has the program play them, and answers."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast, runtime_checkable

from pluriverse_protocol.errors import MessageId
from pluriverse_protocol.events import Event
from pluriverse_protocol.kinds import Handle
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
    Tree,
    TreeReply,
)
from pluriverse_protocol.reports import Reset
from pluriverse_protocol.sound import MAX_STEP_FRAMES

from pluriverse_server.permitted import Permitted, pass_on

from . import views
from .outcome import Outcome
from .step_channel import BEGINS_ELSEWHERE, IN_REAL_TIME, Asked, HandoverSocket, StepChannel

if TYPE_CHECKING:
    # The overlay, which uses the window of the kit, does without.
    import numpy as np
    from numpy.typing import NDArray

_T = TypeVar("_T")

# Those that follow fit an integer of 53 bits, too.
HANDLE_BITS: Final = 48

Work = Callable[[], Coroutine[Any, Any, None]]


class StepFailed(Exception):
    """A step or frame couldn't be made; the message gives the reason, for the agent."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What an agent sees after a step: pixels, uint8 (height, width, 3 or 1), RGB or grey, text, observation, info.

    ``sound`` is what it hears, int16 (frames, 2), left and right; None: there is none. ``changes``: where the array was
    seen before, runs of rows that may differ, the first of each and how many they are; None: all may.
    """

    pixels: NDArray[np.uint8]
    text: str = ""
    observation: Any = None
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sound: NDArray[np.int16] | None = None
    changes: Sequence[tuple[int, int]] | None = None


class Steps(Protocol):
    """An episode that time goes on in only as it is stepped.

    One that is played on an event loop answers with awaitables, which may raise ``StepFailed``.
    """

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

    def play(self, events: Sequence[Event], frames: int) -> Outcome | Awaitable[Outcome]:
        """Apply events, and go on by so many frames, or until the episode is over; report what the daemon must know."""
        ...

    def see(self) -> Seen | Awaitable[Seen]:
        """Return the frame as it is now."""
        ...


def _nothing() -> None:
    """Give nothing back."""


@dataclass(slots=True)
class Kept:
    """A moment of an episode: whatever ``Snapshots`` of it need, how many bytes that takes, and what gives it back.

    ``measure`` returns how many bytes it takes by now, where that changes.
    """

    state: Any
    size: int
    release: Callable[[], None] = _nothing
    measure: Callable[[], int] | None = None


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


@runtime_checkable
class Trees(Protocol):
    """What ``Steps`` have whose picture is described."""

    def tree(self) -> Awaitable[TreeReply]:
        """Return what is on the picture."""
        ...


class Keeping:
    """The snapshots of a program's environments, by their handles; names are handles of those that stay."""

    def __init__(self) -> None:
        self._kept: dict[Handle, Kept] = {}
        self._bytes = 0
        self._lock = threading.RLock()
        # Drawn, so that it is no other program's.
        self._next = secrets.randbits(HANDLE_BITS)

    def keep(self, kept: Kept, name: str | None = None) -> Handle:
        """Keep a moment, and return its handle; raise StepFailed if that were too much."""
        with self._lock:
            replaced = self._kept.get(name) if name is not None else None
            if self._bytes + kept.size > MAX_SNAPSHOT_BYTES:
                self._measure()
            count = len(self._kept) - (replaced is not None)
            size = self._bytes - (replaced.size if replaced is not None else 0)
            if count >= MAX_SNAPSHOTS or size + kept.size > MAX_SNAPSHOT_BYTES:
                kept.release()
                raise StepFailed(
                    f"{count} snapshots of {size} bytes are kept, and at most {MAX_SNAPSHOTS} of "
                    f"{MAX_SNAPSHOT_BYTES} bytes can be; drop some"
                )
            handle: Handle = self._next if name is None else name
            self._next += name is None
            self.drop([handle])
            self._kept[handle] = kept
            self._bytes += kept.size
            return handle

    def _measure(self) -> None:
        # Those that were kept first took more for themselves, as there were fewer to share it with.
        for kept in self._kept.values():
            if kept.measure is not None:
                kept.size = kept.measure()
        self._bytes = sum(kept.size for kept in self._kept.values())

    def get(self, handle: Handle) -> Kept | None:
        """Return what is kept under a handle."""
        return self._kept.get(handle)

    def drop(self, handles: Iterable[Handle]) -> None:
        """Give back what is kept under these, where anything is."""
        with self._lock:
            for handle in handles:
                kept = self._kept.pop(handle, None)
                if kept is not None:
                    self._bytes -= kept.size
                    kept.release()


class Waited(Protocol):
    """Something that ``select`` takes."""

    def fileno(self) -> int:
        """Return its descriptor."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


class SlotsBeside(Protocol):
    """Environments beside a program's own, each on a step channel of its own; see ``Slots``."""

    keeping: Keeping

    @property
    def waits_on(self) -> Sequence[Waited]: ...

    def attend(self, readable: Sequence[object]) -> None: ...

    def play(self, request: Reset) -> None: ...

    def open(self, slot: int, step_channel: StepChannel) -> None: ...

    def hang_up(self) -> None: ...


class Lockstep:
    """The step channel of a program, if an agent has one, and the episode that is played on it."""

    def __init__(self, slots: SlotsBeside | None = None) -> None:
        """Connect to the daemon's socket for step channels, if it has one. ``slots`` None: there is one environment."""
        self.watched: bool = True
        """Whether anybody looks at the screen."""
        self._handovers: HandoverSocket | None = HandoverSocket.from_environment()
        self._server: StepServer | None = None
        self._steps: Steps | None = None
        self._slots = slots
        self._keeping = Keeping() if slots is None else slots.keeping

    @property
    def waits_on(self) -> list[Waited]:
        """What to ``select`` for reading beside everything else."""
        own: list[Waited] = [] if self._handovers is None else [self._handovers]
        if self._server is not None:
            own.append(self._server.step_channel)
        return own if self._slots is None else [*own, *self._slots.waits_on]

    def asked(self, request: Reset) -> None:
        """Note what the daemon has asked for, before it begins."""
        if self._slots is not None:
            self._slots.play(request)

    def begin(self, steps: Steps | None) -> None:
        """Play an episode whose first frame is there; None: it is in real time."""
        at_once(self.begin_async(steps))

    async def begin_async(self, steps: Steps | None) -> None:
        """See ``begin``."""
        self._steps = steps
        if self._server is not None:
            await self._server.begin(steps)

    def attend(self, readable: Sequence[object]) -> None:
        """Do what has come on what was readable."""
        for work in self.due(readable):
            at_once(work())

    def due(self, readable: Sequence[object]) -> Iterator[Work]:
        """Receive what has come on what was readable, and yield what it asks for, to be done in this order."""
        server = self._server
        if server is not None and server.step_channel in readable:
            for asked, headers in server.step_channel.receive():
                yield partial(server.do, asked, headers)
            if server.step_channel.closed:
                server.close()
                self._server = None
        if self._handovers is not None and self._handovers in readable:
            yield from self._accept(self._handovers)
        if self._slots is not None:
            self._slots.attend(readable)

    def close(self) -> None:
        """Hang up on the daemon and the agent."""
        if self._handovers is not None:
            self._handovers.close()
            self._handovers = None
        if self._slots is not None:
            self._slots.hang_up()
        self._hang_up()

    def _accept(self, handovers: HandoverSocket) -> Iterator[Work]:
        try:
            slot, step_channel = handovers.accept()
        except OSError:
            handovers.close()
            self._handovers = None
            return
        if slot and step_channel is not None:
            if self._slots is None:
                step_channel.close()
            else:
                self._slots.open(slot, step_channel)
            return
        if step_channel is None and self._slots is not None:
            self._slots.hang_up()
        self._hang_up()
        if step_channel is not None:
            server = self._server = StepServer(step_channel, self._keeping)
            yield lambda: self._greet(server)

    async def _greet(self, server: StepServer) -> None:
        # The episode may have begun before it was this work's turn.
        if server.steps is None:
            await server.begin(self._steps)

    def _hang_up(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None


class StepServer:
    """Answers what is asked for on one step channel: plays its steps, and keeps the snapshots of its agent.

    Its coroutines wait for nothing but the episode's own.
    """

    def __init__(self, step_channel: StepChannel, keeping: Keeping, without: str = IN_REAL_TIME) -> None:
        """No episode yet; ``without`` is the reason."""
        self.step_channel: StepChannel = step_channel
        self.steps: Steps | None = None
        """The episode that is played."""
        self._without = without
        # The picture that the agent has.
        self._shown: NDArray[np.uint8] | None = None
        self._keeping = keeping
        self._handles: set[Handle] = set()

    def close(self) -> None:
        """Hang up, and give back all that is kept for the agent and has no name."""
        self.step_channel.close()
        self._keeping.drop(self._handles)
        self._handles.clear()

    async def begin(
        self,
        steps: Steps | None,
        parent: MessageId | None = None,
        shown_as: type[FirstFrame | RestoreReply] = FirstFrame,
    ) -> None:
        """Play an episode, and show its frame; ``parent``: who asked for it, if anybody did."""
        self.steps = steps
        if steps is not None and not steps.over:
            # If it fails, steps will too, and their agent gets the error.
            with contextlib.suppress(StepFailed):
                await self._show(shown_as, steps, parent)

    async def do(self, asked: Asked, headers: Headers) -> None:
        """Do what the agent has asked for, and answer; if it is still there."""
        if self.step_channel.closed:
            return
        try:
            await self._do(asked, headers.episode_id, headers.message_id)
        except Exception as error:
            self.step_channel.send(ErrorReply(str(error)), headers.episode_id or 0, headers.message_id)
            if not isinstance(error, StepFailed):
                raise

    async def _do(self, asked: Asked, episode: int | None, parent: MessageId) -> None:
        steps = self.steps
        match asked:
            case AgentBegin():
                raise StepFailed(BEGINS_ELSEWHERE)
            case _ if steps is None:
                raise StepFailed(self._without)
            case _ if steps.over or episode != steps.episode:
                raise StepFailed(f"episode {episode} is over; a reset begins another")
            case AgentStep():
                await self._play(steps, asked, parent)
            case AgentSnapshot(drop=handles, name=name):
                self._keeping.drop(handles)
                self._handles.difference_update(handles)
                self.step_channel.send(self._keep(steps, name), steps.episode, parent)
            case AgentRestore(handle=handle):
                self._go_back(steps, handle)
                await self._show(RestoreReply, steps, parent)
            case Tree():
                if not isinstance(steps, Trees):
                    raise StepFailed("this environment has no tree in lockstep")
                self.step_channel.send(await steps.tree(), steps.episode, parent)

    def _keep(self, steps: Steps, name: str | None) -> SnapshotReply:
        kept = steps.keep() if isinstance(steps, Snapshots) else None
        if kept is None:
            return SnapshotReply()
        handle = self._keeping.keep(kept, name)
        if name is None:
            self._handles.add(handle)
        return SnapshotReply(handle)

    def _go_back(self, steps: Steps, handle: Handle) -> None:
        kept = self._keeping.get(handle)
        if kept is None or not isinstance(steps, Snapshots):
            raise StepFailed(f"unknown snapshot {handle!r}")
        try:
            steps.go_back(kept)
        except ValueError as error:
            raise StepFailed(str(error)) from error

    async def _show(self, message: type[FirstFrame | RestoreReply], steps: Steps, parent: MessageId | None) -> None:
        """Send the frame as it is now."""
        self._shown = None
        seen = await _result(steps.see())
        shape, _, pixels = views.make(seen.pixels, self.step_channel.view)
        self.step_channel.send(
            message(shape, seen.text, seen.observation, dict(seen.info)), steps.episode, parent, pixels
        )
        self._shown = seen.pixels

    async def _play(self, steps: Steps, step: AgentStep, parent: MessageId) -> None:
        shown, self._shown = self._shown, None
        outcome = await _result(steps.play(pass_on(step.events, steps.permitted), step.frames))
        seen = await _result(steps.see())
        view = self.step_channel.view
        takes_changes = view is not None and view.changes and seen.pixels is shown
        shape, changes, pixels = views.make(seen.pixels, view, seen.changes if takes_changes else None)
        info = {**seen.info, "reason": outcome.reason} if outcome.is_last else dict(seen.info)
        sound = seen.sound[-MAX_STEP_FRAMES:] if seen.sound is not None and view is not None and view.audio else None
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
            None if sound is None else len(sound),
            changes,
        )
        self.step_channel.send(reply, steps.episode, parent, pixels, b"" if sound is None else sound.tobytes())
        self._shown = seen.pixels


def at_once(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that waits for nothing, as those of ``StepServer`` with ``Steps``."""
    try:
        work.send(None)
    except StopIteration:
        return
    work.close()
    raise RuntimeError("what is to be done at once has to wait")


async def _result(made: _T | Awaitable[_T]) -> _T:
    return await cast("Awaitable[_T]", made) if isinstance(made, Awaitable) else made
