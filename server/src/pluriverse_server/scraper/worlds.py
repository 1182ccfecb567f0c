"""The world of a program: its processes and its X server at a moment, kept as forks of them that wait (templates).

Going back forks the templates again. What processes share with others is made anew for them: connections, pipes,
terminals, open files. Memory that is shared is put back by the templates themselves. All of it is blocking, and for a
program that stands still between two steps.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import re
import select
import signal
import socket
import struct
import threading
import time
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import psutil

from pluriverse_server.display import DisplayLost
from pluriverse_server.display.xserver import claim_display
from pluriverse_server.home import Contents, HomeError, contents, put_back
from pluriverse_server.lockstep import KeptClock, Kin, NoClock, Phase, PreloadedClock, Thread
from pluriverse_server.x11.connection import SOCKETS

from .descriptors import Maker, NotKept, Opened, Place, Plan, Template
from .pads import KeptPads, Pads
from .tree import PROC, children, told

log = logging.getLogger(__name__)

# What a process takes to fork, or to end. Most take milliseconds.
PATIENCE_S: Final = 5.0

HUB_NAME: Final = "h"

# What they call themselves.
TEMPLATE_NAME: Final = "template"

# Of a packet to the hub: what it is about, and a number; see native/lockstep/template.c.
_HEAD: Final = struct.Struct("=ii")
_FAILURE: Final = struct.Struct("=ii")
_OWN: Final = struct.Struct("=i")
_KEPT: Final = -1
_BEGUN: Final = -2
_LEFT: Final = -3
_SHARED: Final = -4
_PACKET_BYTES: Final = 65536 + _HEAD.size

# How many moments are measured at a time; the kernel takes a millisecond for each.
SAMPLE: Final = 4

# What the kernel takes for a template beside what it shares, roughly: its tables of pages.
_TEMPLATE_BYTES: Final = 256 * 1024


_PENDING: Final = re.compile(r"^(?:Sig|Shd)Pnd:\s*([0-9a-f]+)", re.MULTILINE)


class WorldLost(Exception):
    """A world could not be made again, and the one before it has ended; the message says why."""


class Client(Protocol):
    """A client of ours of the X server, which goes back together with it."""

    def fileno(self) -> int: ...

    def keep(self) -> object:
        """Return where it is in its conversation."""
        ...

    def go_back(self, kept: Any, descriptor: int) -> None:
        """Go on from there, over another socket."""
        ...


class Hub:
    """Where templates call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.bind(str(path))
        self._socket.listen(socket.SOMAXCONN)

    def collect(self, ancestors: Collection[int], patience_s: float) -> list[Template]:
        """Return a template of each of these processes, once it has kept all; raise NotKept if one doesn't."""
        until = time.monotonic() + patience_s
        templates: list[Template] = []
        try:
            while len(templates) < len(ancestors):
                self._socket.settimeout(max(0.001, until - time.monotonic()))
                connection, _ = self._socket.accept()
                connection.settimeout(patience_s)
                templates.append(self._hear(connection, ancestors))
        except (OSError, NotKept) as error:
            for template in templates:
                template.close()
            raise error if isinstance(error, NotKept) else NotKept(f"a process was not forked: {error}") from error
        return templates

    def clear(self) -> None:
        """Hang up on templates that came too late."""
        self._socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.accept()[0].close()

    def close(self) -> None:
        self._socket.close()

    @staticmethod
    def _hear(connection: socket.socket, ancestors: Collection[int]) -> Template:
        template: Template | None = None
        shared: list[bytes] = []
        pending: dict[int, bytearray] = {}
        counts: dict[int, int] = {}
        while True:
            packet = connection.recv(_PACKET_BYTES)
            if len(packet) < _HEAD.size:
                raise NotKept("a template ended while it was made")
            about, number = _HEAD.unpack_from(packet)
            if template is None:
                if about not in ancestors:
                    raise NotKept(f"process {about} was forked, and was not to be")
                if number < 0:
                    raise NotKept(f"process {about} can't be forked: {os.strerror(-number)}")
                (own,) = _OWN.unpack(packet[_HEAD.size :])
                template = Template(connection, number, about, own, pending, counts)
            elif about == _KEPT:
                template.shared, template.shared_bytes = shared, 1024 * number
                if not number:
                    template.close()
                    raise NotKept(f"process {template.ancestor} shares more memory than can be kept, or a device's")
                return template
            elif about == _SHARED:
                shared.append(packet[_HEAD.size :])
            else:
                counts[about] = number
                pending.setdefault(about, bytearray()).extend(packet[_HEAD.size :])


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of ``world``. ``close`` gives it back."""

    world: World
    templates: Sequence[Template]
    plan: Plan
    clock: KeptClock
    program: int
    """The number that the program's first process had."""
    server: int
    home: Contents
    clients: Sequence[Any]
    pads: KeptPads | None
    size: int

    @property
    def is_kept(self) -> bool:
        return not any(template.is_closed for template in self.templates)

    def measure(self) -> int:
        """Return what it takes of the memory by now, of what is shared a part each."""
        taken = len(self.clock.page) + self.plan.size + sum(entry.size for entry in self.home.values())
        for template in self.templates:
            with contextlib.suppress(psutil.Error):
                taken += psutil.Process(template.pid).memory_full_info().pss
        return taken

    def close(self) -> None:
        self.world.siblings.leave(self.templates)


class Siblings:
    """What the worlds of one program have in common: where templates call, and the process above all of theirs."""

    def __init__(self, hub: Hub, keeper: int, server: int) -> None:
        """``keeper`` is above all processes of the program, ``server`` the X server that it was started on."""
        self.hub = hub
        self.keeper = keeper
        self.lock = threading.RLock()
        """Held while a moment is kept, or gone back to."""
        self.worlds: list[World] = []
        self._moments: list[Moment] = []
        self._measured = 0
        self._first_server = server
        # Those that may take their time to end.
        self._killed: set[int] = set()
        self._killed_servers: set[int] = set()

    @property
    def templates(self) -> set[int]:
        """The processes that wait as templates."""
        return {template.pid for moment in self.kept for template in moment.templates}

    @property
    def kept(self) -> Sequence[Moment]:
        """The moments that are kept."""
        return [moment for moment in self._moments if moment.is_kept]

    def leave(self, templates: Sequence[Template]) -> None:
        """Have templates end."""
        self.reap_servers()
        for template in templates:
            template.close()
            # The X server's are children of this process; the others' those of the keeper, which reaps them.
            self._killed_servers.add(template.pid)

    def add(self, moment: Moment) -> None:
        self._moments = [*self.kept, moment]

    def measure(self) -> None:
        """Look at what some moments take of the memory, of what is shared a part each."""
        kept = self.kept
        sizes = [moment.measure() for moment in random.sample(kept, min(len(kept), SAMPLE))]
        self._measured = sum(sizes) // max(1, len(sizes))

    def size_of(self, moment: Moment) -> int:
        """Return the bytes that a new moment will take: as it parts from what goes on, as much as those before it."""
        return max(moment.size, self._measured)

    def processes(self, world: World) -> Iterator[tuple[int, int]]:
        """Yield the processes of a world that are or have been, each after its parent, with that one before it."""
        left_out = self.templates
        for other in self.worlds:
            if other is not world:
                left_out |= other.roots()
        seen: set[int] = set()
        waiting = [self.keeper]
        while waiting:
            parent = waiting.pop()
            for child in children(parent):
                seen.add(child)
                if child in left_out:
                    continue
                waiting.append(child)
                if child not in self._killed:
                    yield parent, child
        if len(self.worlds) == 1:
            self._killed &= seen

    def kill(self, pids: Iterable[int], server: int, asleep: Collection[int]) -> list[int]:
        """Kill processes, and an X server; return descriptors that can be read once those have ended that ran.

        One whose threads are all ``asleep`` in the kernel does nothing any more, also where it takes its time to end.
        """
        ends: list[int] = []
        self.reap_servers()
        self._killed_servers.update([server] if server else [])
        for pid in [*pids, *([server] if server else [])]:
            with contextlib.suppress(ProcessLookupError):
                if pid not in asleep:
                    ends.append(os.pidfd_open(pid))
                os.kill(pid, signal.SIGKILL)
                self._killed.add(pid)
        return ends

    def have_begun(self, pids: Iterable[int]) -> None:
        """Note that these numbers are of new processes."""
        self._killed.difference_update(pids)

    def close(self) -> None:
        """End the X servers and all templates; the program has ended, or will with its keeper."""
        with self.lock:
            for moment in self._moments:
                moment.close()
            self._moments.clear()
            self.hub.close()
            for world in self.worlds:
                world.leave_server()
            self.reap_servers(0)

    def end_server(self, server: int) -> None:
        # The first one has a keeper of its own.
        if server not in (0, self._first_server):
            with contextlib.suppress(ProcessLookupError):
                os.kill(server, signal.SIGKILL)
            self._killed_servers.add(server)

    def reap_servers(self, options: int = os.WNOHANG) -> None:
        """Reap X servers that were killed; the first one is another's to reap."""
        for pid in self._killed_servers - {self._first_server}:
            with contextlib.suppress(ChildProcessError):
                if not os.waitpid(pid, options)[0]:
                    continue
            self._killed_servers.discard(pid)


class World:
    """The processes of one program and its X server, at a place. Those of a moment take that of those of now."""

    def __init__(
        self,
        siblings: Siblings,
        clock: PreloadedClock,
        home: Path,
        screen: Path,
        *,
        program: int = 0,
        server: int = 0,
        clients: Sequence[Client] = (),
        pads: Pads | None = None,
    ) -> None:
        """``screen`` is where the X server keeps its pixels. ``program`` is its first process, ``server`` the X server.

        Without them, nothing is there yet.
        """
        self.siblings = siblings
        self.program = program
        self.server = server
        self.clients = clients
        self._pads = pads
        self._clock = clock
        self._listening = Listening()
        self._place = Place(clock.page, screen, home, self._listening.sockets)
        self._last: Contents = {}
        siblings.worlds.append(self)

    @property
    def screen(self) -> Path:
        """Where its X server keeps its pixels."""
        return self._place.screen

    @property
    def display(self) -> str:
        """The display of a world that was made again."""
        return self._listening.display

    @property
    def has_ended(self) -> bool:
        return _end_of(self.program)[0] in ("", "Z", "X")

    def roots(self) -> set[int]:
        """Return processes of it from which all others descend."""
        return {self.program, *(thread.pid for thread in self._clock.all_threads())}

    def processes(self) -> list[int]:
        return [child for _, child in self.siblings.processes(self)]

    def keep(self) -> Moment:
        """Return the present moment; raise NotKept with the reason why it can't be kept."""
        with self.siblings.lock:
            return self._keep()

    def _keep(self) -> Moment:
        threads = self._clock.all_threads()
        leaders = _leaders(threads)
        _require_no_signals(threads)
        family = self._family(leaders.keys())
        hub = self.siblings.hub
        hub.clear()
        if not self.server:
            raise NotKept("the X server has ended")
        try:
            clients = [client.keep() for client in self.clients]
            pads = self._pads.keep() if self._pads is not None else None
            ours = [*(self._pads.opened if self._pads is not None else ()), *self.clients]
            self._last = home = contents(self._place.home, self._last)
            clock = self._clock.related(self._clock.keep(), family)
            if not self._clock.fork(list(leaders.values()), self.server):
                raise NotKept("the X server has ended")
            # Meanwhile.
            opened = Opened([self.server, *leaders])
        except (DisplayLost, HomeError, NoClock, OSError) as error:
            raise NotKept(str(error)) from error
        if not self._clock.have_forked(PATIENCE_S):
            raise NotKept("the program was not forked in time")
        templates = hub.collect({self.server, *leaders}, PATIENCE_S)
        try:
            plan = Plan(templates, opened, [client.fileno() for client in ours], self.server, self._place)
            # The present world is not to go on before they have let go of what is its own.
            for template in templates:
                if _HEAD.unpack_from(template.connection.recv(_PACKET_BYTES))[0] != _LEFT:
                    raise NotKept("a template has ended")  # noqa: TRY301 - all are to be closed
        except (OSError, struct.error, NotKept) as error:
            self.siblings.leave(templates)
            raise error if isinstance(error, NotKept) else NotKept(str(error)) from error
        size = len(clock.page) + plan.size + sum(entry.size for entry in home.values())
        size += sum(_TEMPLATE_BYTES + template.shared_bytes for template in templates)
        moment = Moment(self, templates, plan, clock, self.program, self.server, home, clients, pads, size)
        self.siblings.add(moment)
        return moment

    def go_back(self, moment: Moment) -> None:
        """Be where a world was at that moment; raise WorldLost if it can't be, and is nowhere then."""
        with self.siblings.lock:
            self._go_back(moment)

    def _go_back(self, moment: Moment) -> None:
        if moment.plan.alone is not None and moment.world is not self:
            raise NotKept(f"there can be one such world, since {moment.plan.alone}")
        begun: dict[int, int] = {}
        try:
            with self._killed() as ends, moment.plan.make(self._place) as made:
                _await_ends(ends)
                put_back(self._place.home, moment.home)
                moment.plan.open_files(made, self._place.home)
                self._clock.put_back(moment.clock)
                self._clock.show_on(self._listening.path)
                _begin(moment.templates, made, begun)
                if self._pads is not None and moment.pads is not None:
                    self._pads.go_back(moment.pads, made.take_clients(moment.pads.opened))
                descriptors = made.take_clients(self.clients)
                for client, kept, descriptor in zip(self.clients, moment.clients, descriptors, strict=False):
                    client.go_back(kept, descriptor)
            self.program, self.server = begun[moment.program], begun[moment.server]
            self.siblings.have_begun(begun.values())
            self._clock.watch(self.server)
        except Exception as error:
            for pid in begun.values():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            raise WorldLost(f"the snapshot can't be gone back to: {error or type(error).__name__}") from error

    def end(self) -> None:
        """End all processes but the templates."""
        with self.siblings.lock, self._killed() as ends:
            try:
                _await_ends(ends)
            except NotKept as error:
                log.warning("%s", error)

    def close(self) -> None:
        """End it, and be none of its siblings any more."""
        self.end()
        with self.siblings.lock:
            self.siblings.worlds.remove(self)
            self._listening.close()
            self._place.close()

    def leave_server(self) -> None:
        self.siblings.end_server(self.server)
        self._listening.close()
        self._place.close()

    def _family(self, pids: Collection[int]) -> list[Kin]:
        """Return who is whose child; raise NotKept if there is a process that the clock doesn't know."""
        family: list[Kin] = []
        for parent, child in self.siblings.processes(self):
            if child in pids:
                family.append(Kin(parent if parent in pids else 0, child))
                continue
            state, status = _end_of(child)
            if state in ("Z", "X"):
                if parent in pids:
                    family.append(Kin(parent, child, status))
            elif state:
                raise NotKept(f"process {child} has no clock of ours, as static programs")
        found = {kin.pid for kin in family}
        if self.program not in found or not found.issuperset(pids):
            raise NotKept("the program's first process has ended, or the kernel lists no children")
        return family

    @contextlib.contextmanager
    def _killed(self) -> Generator[list[int]]:
        """Kill all of it but the templates; yield what can be read once those have ended that ran."""
        threads = self._clock.all_threads()
        asleep = {thread.pid for thread in threads} - {thread.pid for thread in threads if thread.phase is Phase.RUNS}
        # It sleeps where it waits for its clients, and nowhere else.
        if _end_of(self.server)[0] == "S":
            asleep.add(self.server)
        server, self.server = self.server, 0
        ends = self.siblings.kill(self.processes(), server, asleep)
        # Those that ran may have forked meanwhile.
        while ends and (born := self.processes()):
            ends += self.siblings.kill(born, 0, ())
        try:
            yield ends
        finally:
            for end in ends:
                os.close(end)


class Listening:
    """A display at which the X servers of a world that is made again are found, one after the other."""

    def __init__(self) -> None:
        number, self._claim = claim_display()
        self.display = f":{number}"
        self.path = str(SOCKETS / f"X{number}")
        self._ends = [self._claim]
        for name in (self.path, f"\0{self.path}"):
            end = socket.socket(socket.AF_UNIX)
            self._ends.append(end)
            # Where there is no such folder, or where abstract names are unknown, the other has to do.
            with contextlib.suppress(OSError):
                end.bind(name)
                end.listen(socket.SOMAXCONN)
            end.setblocking(False)
        self.sockets = self._ends[1].fileno(), self._ends[2].fileno()

    def close(self) -> None:
        for end in self._ends:
            end.close()
        Path(self.path).unlink(missing_ok=True)


def _leaders(threads: Iterable[Thread]) -> dict[int, Thread]:
    """Return a thread of each process, its first where that is there; raise NotKept if one doesn't wait."""
    leaders: dict[int, Thread] = {}
    for thread in threads:
        if thread.phase is not Phase.WAITS:
            raise NotKept(f"a thread of process {thread.pid} runs, or sleeps in the kernel behind the clock's back")
        if thread.pid not in leaders or thread.pid == thread.tid:
            leaders[thread.pid] = thread
    return leaders


def _require_no_signals(threads: Iterable[Thread]) -> None:
    """Raise NotKept if a signal waits until it is let through: what is forked doesn't have it."""
    for thread in threads:
        with contextlib.suppress(FileNotFoundError):
            status = told(f"{PROC}/{thread.pid}/task/{thread.tid}/status").decode(errors="replace")
            if any(int(pending, 16) for pending in _PENDING.findall(status)):
                raise NotKept(f"a signal waits for process {thread.pid}, which blocks it")


def _begin(templates: Sequence[Template], made: Maker, begun: dict[int, int]) -> None:
    """Have the templates fork; ``begun`` is given the number of each new process by that of its ancestor."""
    for template in templates:
        # It is heard below if it has ended.
        with contextlib.suppress(ConnectionError):
            made.order(template)
    failures = [failure for template in templates if (failure := _heard_to_begin(template, begun))]
    if failures:
        raise NotKept(failures[0])


def _heard_to_begin(template: Template, begun: dict[int, int]) -> str | None:
    """Note the number of a template's new process; return what kept it from being as it should."""
    packet = b""
    with contextlib.suppress(ConnectionError):
        packet = template.connection.recv(_PACKET_BYTES)
    if len(packet) < _HEAD.size + _FAILURE.size:
        return "a template has ended"
    _, pid = _HEAD.unpack_from(packet)
    step, error = _FAILURE.unpack_from(packet, _HEAD.size)
    if not pid:
        return f"process {template.ancestor} can't be forked: {os.strerror(error)}"
    begun[template.ancestor] = pid
    return f"process {template.ancestor}: {template.describe(step)}: {os.strerror(error)}" if step >= 0 else None


def _await_ends(ends: Sequence[int]) -> None:
    poll = select.poll()
    left = set(ends)
    for end in ends:
        poll.register(end, select.POLLIN)
    until = time.monotonic() + PATIENCE_S
    while left:
        for end, _ in poll.poll(max(1.0, 1000 * (until - time.monotonic()))):
            poll.unregister(end)
            left.discard(end)
        if left and time.monotonic() > until:
            raise NotKept("a process does not end")


def _end_of(pid: int) -> tuple[str, int]:
    """Return a process' state, "" if it is gone, and the wait status of one that has ended."""
    try:
        name, _, rest = told(f"{PROC}/{pid}/stat").decode(errors="replace").rpartition(")")
    except OSError:
        return "", 0
    if name.endswith(f"({TEMPLATE_NAME}"):
        # It was let go of, and is about to end.
        return "", 0
    fields = rest.split()
    return fields[0], int(fields[-1])
