"""Several environments in one program: all but its own are played beside it, each on its own step channel.

As many processes as there are processors, each with its part of the slots, so that Python's lock holds none up, and
what crashes takes down its own process alone. They are forked when a step channel needs them, and end with the program.
Where a step is no work of Python's, threads of the program's own do: what they play is theirs together.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import random
import signal
import socket
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn, Protocol

from msgspec.structs import replace
from pluriverse_protocol import step_channel as step_channels
from pluriverse_protocol.kinds import Handle
from pluriverse_protocol.limits import DRAWN_SEED_BITS, MAX_SLOTS
from pluriverse_protocol.messages import AgentBegin, AgentRestore, AgentStep, ErrorReply, Headers, RestoreReply
from pluriverse_protocol.reports import Reset, SlotFrames, decode_request, encode_line

from pluriverse_server.x11 import polling

from .lockstep import Keeping, Kept, Snapshots, StepFailed, Steps, StepServer, Waited, at_once
from .step_channel import Asked, ReportPace, StepChannel

# A request with all its options, behind the slot and the view of its step channel.
PACKET_BYTES: Final = 64 * 1024

# A forked process closes all descriptors beyond the three of standard input, output and errors.
STANDARD_ERROR: Final = 2
FIRST_DESCRIPTOR: Final = 3

NO_EPISODE: Final = "v0.agent.begin comes before the first step"

# What takes so long, and more for each frame, never ends: its process is killed, and its slots' step channels end.
HUNG_S: Final = 60.0
HUNG_FRAME_S: Final = 0.2

COUNT_BYTES: Final = 8


class SlotSteps(Steps, Protocol):
    """An episode of a slot."""

    frames: int
    """How many were played."""


MakeEpisode = Callable[[int, Reset], SlotSteps]


@dataclass(frozen=True, slots=True)
class Shared:
    """What a program whose slots are played by threads does beside beginning episodes."""

    go_to: Callable[[int, Reset, Kept], SlotSteps]
    """Begin an episode of a slot at a moment."""
    leave: Callable[[int], None]
    """Take leave of a slot, whose agent has gone."""


class Slots:
    """The players of a program's slots. ``make`` begins an episode of a slot, in whichever of them that is played."""

    def __init__(
        self,
        make: MakeEpisode,
        report: Callable[[SlotFrames], None],
        shared: Shared | None = None,
    ) -> None:
        """``shared``: threads of the program play them; None: processes."""
        self.keeping: Keeping = Keeping()
        """The snapshots of the program's own environment, and those of its threads."""
        self._make = make
        self._shared = shared
        self._report = report
        self._request: Reset | None = None
        self._players: dict[int, tuple[int | None, socket.socket]] = {}
        # A thread each: a slot that hangs holds up no other.
        self._count = len(os.sched_getaffinity(0)) if shared is None else MAX_SLOTS

    @property
    def waits_on(self) -> Sequence[Waited]:
        """The players: readable when one has played frames, or has ended."""
        return [connection for _, connection in self._players.values()]

    def attend(self, readable: Sequence[object]) -> None:
        """Report what the players have played, and take leave of those that have ended."""
        for number, (_, connection) in list(self._players.items()):
            if connection not in readable:
                continue
            try:
                count = connection.recv(COUNT_BYTES)
            except ConnectionError:
                count = b""
            if not count:
                self._forget(number)
            elif self._request is not None:
                self._report(SlotFrames(self._request.episode, int.from_bytes(count)))

    def play(self, request: Reset) -> None:
        """Set the request of episodes that begin from now on; in real time there are no slots."""
        self._request = request if request.clock == "lockstep" else None
        if self._request is None:
            self.hang_up()
        else:
            for number in list(self._players):
                self._send(number, 0, None)

    def open(self, slot: int, step_channel: StepChannel) -> None:
        """Hand a step channel over to the player of its slot."""
        number = slot % self._count
        if self._request is not None and not self._send(number, slot, step_channel):
            self._forget(number)
            self._send(number, slot, step_channel)
        step_channel.close()

    def hang_up(self) -> None:
        """Close the step channels of all slots."""
        for number in list(self._players):
            self._forget(number)

    def _send(self, number: int, slot: int, step_channel: StepChannel | None) -> bool:
        assert self._request is not None
        if number not in self._players:
            self._players[number] = _fork(self._make) if self._shared is None else self._begin(self._shared)
        packet = step_channels.pack_handover(slot, step_channel and step_channel.view) + encode_line(self._request)
        try:
            socket.send_fds(self._players[number][1], [packet], [] if step_channel is None else [step_channel.fileno()])
        except OSError:
            return False
        return True

    def _begin(self, shared: Shared) -> tuple[None, socket.socket]:
        """Return the connection to a new thread."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        player = _Player(theirs, self._make, self.keeping, shared)
        threading.Thread(target=player.run, name="slots", daemon=True).start()
        return None, ours

    def _forget(self, number: int) -> None:
        """End a player, whose step channels end with it; a thread does when its step is done."""
        process, connection = self._players.pop(number)
        connection.close()
        if process is not None:
            # It may be in the middle of a step.
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


@dataclass(slots=True)
class _Slot:
    server: StepServer
    steps: SlotSteps | None = None
    seeds: random.Random = field(default_factory=random.Random)


class _Player:
    """Plays some of the slots, in a process or a thread of its own."""

    def __init__(
        self,
        connection: socket.socket,
        make: MakeEpisode,
        keeping: Keeping,
        shared: Shared | None = None,
    ) -> None:
        self._connection = connection
        self._make = make
        self._keeping = keeping
        self._shared = shared
        self._request: Reset | None = None
        self._slots: dict[int, _Slot] = {}
        # Never the same twice, so that a step that comes late is no other episode's.
        self._episodes = 0
        # What the program has yet to hear of.
        self._frames = 0
        self._reports = ReportPace()

    def run(self) -> None:
        """Play until the program has gone, or wants it no more."""
        with contextlib.closing(self._connection):
            while self._play():
                pass
        for number in list(self._slots):
            self._close(number)

    def _play(self) -> bool:
        step_channels = {slot.server.step_channel: number for number, slot in self._slots.items()}
        readable, _, _ = polling.select([self._connection, *step_channels])
        for each in readable:
            if isinstance(each, StepChannel):
                self._attend(step_channels[each])
        return self._connection not in readable or self._take()

    def _take(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._connection, PACKET_BYTES, 1)
        if not data:
            return False
        slot, view = step_channels.unpack_handover(data[: step_channels.HANDOVER_BYTES])
        request = decode_request(data[step_channels.HANDOVER_BYTES :])
        assert isinstance(request, Reset)
        self._request = request
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
            self._close(slot)
            step_channel = StepChannel(socket.socket(fileno=descriptor), view)
            self._slots[slot] = _Slot(StepServer(step_channel, self._keeping, NO_EPISODE))
        return True

    def _attend(self, number: int) -> None:
        slot = self._slots[number]
        try:
            for asked, headers in slot.server.step_channel.receive():
                frames = asked.frames if isinstance(asked, AgentStep) else 0
                self._alarm(HUNG_S + HUNG_FRAME_S * frames)
                self._do(number, slot, asked, headers)
        except Exception:  # noqa: BLE001 - it is reported
            # One environment's failure does not affect the others.
            _tell(f"slot {number} has failed")
            slot.server.close()
        finally:
            self._alarm(0.0)
        if slot.server.step_channel.closed:
            self._close(number)

    def _alarm(self, after_s: float) -> None:
        # Only processes can be ended.
        if self._shared is None:
            signal.setitimer(signal.ITIMER_REAL, after_s)

    def _do(self, number: int, slot: _Slot, asked: Asked, headers: Headers) -> None:
        begins = isinstance(asked, AgentBegin) or (isinstance(asked, AgentRestore) and slot.steps is None)
        if not begins:
            before = slot.steps.frames if slot.steps is not None else 0
            at_once(slot.server.do(asked, headers))
            self._frames += slot.steps.frames - before if slot.steps is not None else 0
            if self._frames and self._reports.take():
                self._connection.send(self._frames.to_bytes(COUNT_BYTES))
                self._frames = 0
            return
        try:
            if isinstance(asked, AgentRestore):
                slot.steps = self._go_to(number, slot, asked.handle)
                at_once(slot.server.begin(slot.steps, headers.message_id, RestoreReply))
            else:
                slot.steps = self._make(number, self._next(slot, _seed(asked)))
                at_once(slot.server.begin(slot.steps, headers.message_id))
        except StepFailed as error:
            slot.server.step_channel.send(ErrorReply(str(error)), 0, headers.message_id)

    def _next(self, slot: _Slot, seed: int | None) -> Reset:
        """Return the request of a slot's next episode."""
        assert self._request is not None
        if seed is not None:
            slot.seeds.seed(seed)
        self._episodes += 1
        seed = slot.seeds.getrandbits(DRAWN_SEED_BITS) if seed is None else seed
        return replace(self._request, episode=self._episodes, seed=seed)

    def _go_to(self, number: int, slot: _Slot, handle: Handle) -> SlotSteps:
        kept = self._keeping.get(handle)
        if kept is None:
            raise StepFailed(f"unknown snapshot {handle!r}")
        if self._shared is not None:
            return self._shared.go_to(number, self._next(slot, None), kept)
        steps = self._make(number, self._next(slot, None))
        if isinstance(steps, Snapshots):
            steps.go_back(kept)
        return steps

    def _close(self, number: int) -> None:
        if number in self._slots:
            self._slots.pop(number).server.close()
            if self._shared is not None:
                self._shared.leave(number)


def _seed(asked: Asked) -> int | None:
    """Return the seed with which an episode begins; raise StepFailed if it is to be another environment's."""
    if not isinstance(asked, AgentBegin):
        return None
    if (asked.env_id, asked.options) != (None, None):
        raise StepFailed("the slots of this remote play what it plays itself")
    return asked.seed


def _tell(what: str) -> None:
    """Write what is being handled to standard error."""
    os.write(STANDARD_ERROR, f"{what}: {traceback.format_exc()}".encode())


def _fork(make: MakeEpisode) -> tuple[int, socket.socket]:
    """Return the id of a new process, and the connection to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = os.fork()
    if process == 0:
        _play(theirs, make)
    theirs.close()
    return process, ours


def _play(connection: socket.socket, make: MakeEpisode) -> NoReturn:
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Logs where it hangs before it ends.
        faulthandler.register(signal.SIGALRM, STANDARD_ERROR, chain=True)
        # The program's own connections, which would seem to live on, are left to it.
        own = os.dup(connection.fileno())
        os.dup2(own, FIRST_DESCRIPTOR)
        os.closerange(FIRST_DESCRIPTOR + 1, os.sysconf("SC_OPEN_MAX"))
        _Player(socket.socket(fileno=FIRST_DESCRIPTOR), make, Keeping()).run()
        status = 0
    except BaseException:  # noqa: BLE001 - it is reported
        _tell("the slots have failed")
    finally:
        os._exit(status)
