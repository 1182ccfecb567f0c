"""What the processes of a world have open, and share with each other: what of it is made anew, and how."""

from __future__ import annotations

import array
import contextlib
import fcntl
import mmap
import os
import re
import socket
import stat
import struct
import termios
from collections import Counter
from collections.abc import Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pluriverse_server.x11 import polling

from .tree import PROC, told

# What a template is asked for; see native/lockstep/template.c.
PUT, EPOLL, WATCHES, LISTEN, TERMINAL, MAP, FOLDER = range(7)
# Of memory: another template puts what was in it.
_OTHERS: Final = 1 << 8
_GIVEN: Final = (PUT, MAP, FOLDER)
_WHAT: Final = (
    "a descriptor",
    "an epoll",
    "watches of files",
    "what an epoll listens to",
    "a terminal",
    "memory",
    "its folder",
)
_COUNT: Final = struct.Struct("=i")
_STEP: Final = struct.Struct("=iiiiqQ")
MAX_STEPS: Final = 1024
MAX_GIVEN: Final = 253

# Of files that are open for writing, outside of HOME.
MAX_FILE_BYTES: Final = 16 * 1024 * 1024

_PAGE: Final = 4096
_GONE: Final = " (deleted)"
_SEGMENT: Final = "/SYSV"

# OpenGL in software has one of 64 by 64 pixels that it never shares.
_NEVER_SHARED_BYTES: Final = 16 * 1024

# The other end of a connection that it has closed.
_NOBODY: Final = 0

_CREATING: Final = os.O_CREAT | os.O_EXCL | os.O_TRUNC

_FLAGS: Final = re.compile(rb"flags:\s*([0-7]+)")
_POSITION: Final = re.compile(rb"pos:\s*(\d+)")
_LISTENS: Final = re.compile(rb"tfd:\s*(\d+) events:\s*([0-9a-f]+) data:\s*([0-9a-f]+)")
_EVENT: Final = re.compile(rb"eventfd-count:\s*([0-9a-f]+)\neventfd-id:\s*(\d+)")
# The name of a socket below HOME, as programs know that, or as it was made again. There is little room for names.
_BELOW_HOME: Final = re.compile(rb"/proc/self/fd/\d+/([^\0]+)\0*")
_SEMAPHORE: Final = re.compile(rb"eventfd-semaphore:\s*1")
# A line of /proc/PID/maps.
_MAPPED: Final = re.compile(rb"([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) \S+ (\d+)\s*(.*)")
_TERMINAL_NUMBER: Final = re.compile(rb"tty-index:\s*(\d+)")

# <linux/sock_diag.h>, <linux/unix_diag.h>: which Unix socket is connected to which.
_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_DUMP: Final = 0x301
_ERROR: Final = 2
_DONE: Final = 3
_SHOW_NAME: Final = 1
_SHOW_PEER: Final = 4
_SHOW_QUEUES: Final = 16
_NAME: Final = 0
_PEER: Final = 2
_QUEUES: Final = 4
_LISTENING: Final = 10
_MESSAGE: Final = struct.Struct("=IHHII")
_QUERY: Final = struct.Struct("=BBHIIIII")
_ATTRIBUTE: Final = struct.Struct("=HH")
_LENGTHS: Final = struct.Struct("=II")


class NotKept(Exception):
    """A moment can't be kept; the message says what keeps it from that."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a world has for itself under the names that all have: its clock's page, its screen's memory and its HOME.

    ``listening`` are the sockets at which its X server is found: that of a file, and that of an abstract name.
    """

    page: Path
    screen: Path
    home: Path
    listening: tuple[int, int]
    memory: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    """What its worlds have had for memory without a name, which the next one gets again."""

    def close(self) -> None:
        for made in self.memory.values():
            os.close(made)
        self.memory.clear()


@dataclass(slots=True)
class Template:
    """A fork of a process that waits to fork again, its ancestor, and what was on its way to that one."""

    connection: socket.socket
    pid: int
    ancestor: int
    own: int
    """The descriptor at which it calls, which its ancestor didn't have as it was forked."""
    pending: Mapping[int, bytearray]
    counts: Mapping[int, int]
    """By descriptor, how many bytes wait there; they are in ``pending`` where they can be looked at."""
    shared: Sequence[bytes] = ()
    """The memory that it shares with others, as lines of /proc/PID/maps."""
    shared_bytes: int = 0
    steps: list[tuple[int, int, int, int, int, int]] = field(default_factory=list[tuple[int, int, int, int, int, int]])
    given: list[Hashable] = field(default_factory=list[Hashable])
    is_closed: bool = False

    def put(self, what: Hashable, file: int, flags: int) -> None:
        """Have ``what`` put where the process has ``file``, of which the template lets go."""
        self.steps.append((PUT, file, self.give(what), flags, 0, 0))

    def give(self, what: Hashable) -> int:
        """Return the place of ``what`` among all that the process is given."""
        if what not in self.given:
            self.given.append(what)
        return self.given.index(what)

    def tell(self) -> None:
        """Tell the template what it is to do for each world; it lets go of what that is given anew."""
        if len(self.steps) > MAX_STEPS or len(self.given) > MAX_GIVEN:
            raise NotKept(f"process {self.ancestor} has more open than can be made again")
        # What listens has to follow on what it listens to.
        steps = sorted(self.steps, key=lambda step: step[0])
        self.connection.send(_COUNT.pack(len(steps)) + bytes(4) + b"".join(_STEP.pack(*step) for step in steps))

    def describe(self, step: int) -> str:
        what, file, *_ = sorted(self.steps, key=lambda each: each[0])[step]
        return f"{_WHAT[what]} as {file}"

    def close(self) -> None:
        """End it."""
        if self.is_closed:
            return
        self.is_closed = True
        # It ends when its hub hangs up.
        self.connection.close()


@dataclass(slots=True)
class _End:
    """An end of a connection or a pipe: how it is open, and what waits there."""

    flags: int
    pending: bytes = b""


@dataclass(slots=True)
class _Terminal:
    modes: list[Any]
    size: bytes
    typed: bytes = b""
    """The line that has no end yet."""
    flags: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    """Relative where it is below HOME."""
    memory: Hashable | None
    """Which it is of those that have no name any more."""
    flags: int
    position: int
    rest: list[str] | None = None
    """Of a folder that was read up to its position, the names that follow, sorted."""


@dataclass(slots=True)
class _Memory:
    """A file without a name. What of it is mapped the templates know themselves."""

    size: int = 0
    content: bytes = b""

    def make(self, key: Hashable, place: Place) -> int:
        before = place.memory.get(key)
        if before is not None and os.fstat(before).st_size == self.size and not self.content:
            return os.dup(before)
        made = os.memfd_create("shared")
        os.truncate(made, self.size)
        os.pwrite(made, self.content, 0)
        if before is not None:
            os.close(before)
        place.memory[key] = os.dup(made)
        return made


class Opened:
    """What each of these processes has open, and which Unix sockets are connected: what the kernel tells of both."""

    def __init__(self, pids: Iterable[int]) -> None:
        self.peers = _Peers()
        self.of = {pid: [*_opened(pid)] for pid in pids}


def _opened(pid: int) -> Iterator[tuple[int, str, bytes]]:
    """Yield each descriptor, what it is of, and the facts of it."""
    folder = f"/proc/{pid}"
    for name in os.listdir(f"{folder}/fd"):  # noqa: PTH208 - each snapshot does this
        with contextlib.suppress(FileNotFoundError):
            target = os.readlink(f"{folder}/fd/{name}")  # noqa: PTH115
            yield int(name), target, told(f"{folder}/fdinfo/{name}")


class Plan:
    """What has to be made anew for a world, of which ``templates`` were made; they note what each is to be given.

    ``clients`` are our descriptors of connections to its X server, ``place`` is where it was. Raises NotKept for what
    can't be made.
    """

    def __init__(
        self, templates: Sequence[Template], opened: Opened, clients: Sequence[int], server: int, place: Place
    ) -> None:
        self.alone: str | None = None
        """Why there can't be two such worlds at once."""
        self._home = str(place.home.resolve())
        self._places = {str(place.page.resolve()): "page", str(place.screen.resolve()): "screen"}
        self._server = server
        self._peers = opened.peers
        self._sockets: dict[int, _End] = {}
        self._single: dict[int, tuple[int, str]] = {}
        self._pipes: dict[int, dict[bool, _End]] = {}
        self._events: dict[int, tuple[int, int]] = {}
        self._terminals: dict[int, _Terminal] = {}
        self._files: dict[Hashable, _File] = {}
        self._contents: list[tuple[str, bytes]] = []
        self._memory: dict[Hashable, _Memory] = {}
        self._below_home: dict[Hashable, tuple[str, int]] = {}
        self._copied: set[Hashable] = set()
        self._segments: Counter[int] = Counter()
        # The X server first: it may go on while programs are yet to begin, and needs what it shares with them.
        for template in sorted(templates, key=lambda template: template.ancestor != server):
            self._look_at(template, opened.of[template.ancestor])
        if 1 in self._segments.values():
            raise NotKept("a process may yet share memory by its number, which another world's doesn't have")
        ours = [self._peers.peers.get(os.fstat(client).st_ino) for client in clients]
        self._clients = [inode for inode in ours if inode in self._sockets]
        if len(self._clients) != len(clients):
            raise NotKept("the X server has lost a client of ours")
        self._connect(templates)
        for template in templates:
            template.tell()
        self.size = sum(len(content) for _, content in self._contents)
        self.size += sum(len(memory.content) for memory in self._memory.values())

    @contextlib.contextmanager
    def make(self, place: Place) -> Generator[Maker]:
        """Make all of it, for a world that will be at ``place``; what is in the maker is closed at the end."""
        maker = Maker()
        try:
            maker.made |= {("listening", number): os.dup(each) for number, each in enumerate(place.listening)}
            for name, path in (("page", place.page), ("screen", place.screen)):
                maker.made[name] = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            for key, memory in self._memory.items():
                maker.made[key] = memory.make(key, place)
            # What worlds had of moments that were kept elsewhere would never be wanted again.
            for key in place.memory.keys() - self._memory.keys():
                os.close(place.memory.pop(key))
            self._make_sockets(maker)
            self._make_pipes(maker)
            for number, (count, flags) in self._events.items():
                maker.made["event", number] = os.eventfd(count, flags)
            for number, terminal in self._terminals.items():
                _make_terminal(maker, number, terminal)
            yield maker
        finally:
            maker.close()

    # ── what there is ───────────────────────────────────────────────────────────────────────────────────────────────

    def _look_at(self, template: Template, opened: Iterable[tuple[int, str, bytes]]) -> None:
        for file, target, facts in opened:
            # A process that has only just begun may yet have had its template's at that place as it was looked at.
            if file == template.own:
                continue
            self._note(template, file, target, int(_found(_FLAGS, facts)[1], 8), facts)
        for line in template.shared:
            self._note_mapped(template, line)
        own = os.readlink(f"/proc/{template.ancestor}/cwd")  # noqa: PTH115
        if self._is_below_home(own):
            template.steps.append((FOLDER, 0, self._give_below_home(template, own, os.O_DIRECTORY), 0, 0, 0))

    def _is_below_home(self, path: str) -> bool:
        return path == self._home or path.startswith(f"{self._home}/")

    def _give_below_home(self, template: Template, path: str, flags: int) -> int:
        key = ("below home", path, flags)
        self._below_home[key] = path[len(self._home) :].lstrip("/"), flags
        return template.give(key)

    def _note_mapped(self, template: Template, line: bytes) -> None:
        begin, end, mode, offset, inode, name = _found(_MAPPED, line).groups()
        path, start, stop, at = os.fsdecode(name), int(begin, 16), int(end, 16), int(offset, 16)
        if path in self._places:
            given = template.give(self._places[path])
        elif path.endswith(_GONE):
            given = template.give(self._note_memory(path, int(inode), at + stop - start))
            self._segments[int(inode)] += path.startswith(_SEGMENT) and stop - start > _NEVER_SHARED_BYTES
        elif self._is_below_home(path):
            given = self._give_below_home(template, path, os.O_RDWR)
        else:
            raise NotKept(f"process {template.ancestor} has {path} in its memory, which others may write to")
        access = mmap.PROT_READ | mmap.PROT_WRITE | (mmap.PROT_EXEC if b"x" in mode else 0)
        what = template.given[given], at, stop - start
        if what in self._copied:
            access |= _OTHERS
        self._copied.add(what)
        template.steps.append((MAP, at // _PAGE, given, access, start, stop - start))

    def _note_memory(self, path: str, inode: int, size: int, content: bytes = b"") -> Hashable:
        """Note a file that has no name any more, of at least so many bytes; several may have it open and mapped."""
        memory = self._memory.setdefault(("memory", path, inode), _Memory())
        memory.size = max(memory.size, size)
        memory.content = memory.content or content
        return ("memory", path, inode)

    def _note(self, template: Template, file: int, target: str, flags: int, facts: bytes) -> None:
        pending = bytes(template.pending.get(file, b""))
        kind, _, rest = target.partition(":[")
        if kind == "socket":
            self._note_socket(template, file, int(rest[:-1]), _End(flags, pending))
        elif kind == "pipe":
            ends = self._pipes.setdefault(int(rest[:-1]), {})
            reads = not flags & os.O_ACCMODE
            ends.setdefault(reads, _End(flags, pending))
            if reads and template.counts.get(file, 0) > len(pending):
                raise NotKept(f"a pipe of process {template.ancestor} holds bytes that can't be looked at")
            template.put(("pipe", int(rest[:-1]), reads), file, flags)
        elif target == "anon_inode:[eventpoll]":
            template.steps.append((EPOLL, file, 0, flags, 0, 0))
            for other, events, data in _LISTENS.findall(facts):
                template.steps.append((LISTEN, file, int(other), 0, int(events, 16), int(data, 16)))
        elif target == "anon_inode:[eventfd]":
            event = _found(_EVENT, facts)
            own = flags & os.O_NONBLOCK | (os.EFD_SEMAPHORE if _SEMAPHORE.search(facts) else 0)
            self._events[int(event[2])] = int(event[1], 16), own
            template.put(("event", int(event[2])), file, flags)
        elif target == "anon_inode:inotify":
            if template.counts.get(file):
                raise NotKept(f"process {template.ancestor} has yet to hear of files that have changed")
            template.steps.append((WATCHES, file, 0, flags, facts.count(b"inotify wd:"), 0))
        elif target in ("/dev/ptmx", "/dev/pts/ptmx"):
            self._note_terminal(template, file, int(_found(_TERMINAL_NUMBER, facts)[1]), "master", flags)
        elif target.startswith("/dev/pts/"):
            self._note_terminal(template, file, int(target.rpartition("/")[2]), "slave", flags)
        elif target.startswith("/"):
            self._note_file(template, file, target, flags, facts)
        else:
            raise NotKept(f"process {template.ancestor} has {target} open, which can't be made again")

    def _note_socket(self, template: Template, file: int, inode: int, end: _End) -> None:
        if inode not in self._peers.kinds:
            if not _hears_the_kernel(inode):
                raise NotKept(f"process {template.ancestor} has a socket that isn't a Unix socket")
            # All worlds have the same.
            return
        name, listens = self._peers.names.get(inode, b""), inode in self._peers.listening
        if listens and template.ancestor == self._server:
            template.put(("listening", int(name.startswith(b"\0"))), file, end.flags)
            return
        if inode not in self._peers.peers or (name and self._peers.kinds[inode] == socket.SOCK_DGRAM):
            self._note_single(template, file, inode, end, name)
            return
        if template.counts.get(file, 0) > len(end.pending) or (
            end.pending and self._peers.kinds[inode] != socket.SOCK_STREAM
        ):
            raise NotKept(f"messages are on their way to process {template.ancestor}")
        self._sockets.setdefault(inode, end)
        template.put(("socket", inode), file, end.flags)

    def _note_single(self, template: Template, file: int, inode: int, end: _End, name: bytes) -> None:
        """Note a socket that isn't an end of a connection: one at which others are heard, or that is yet to be used."""
        below_home = _BELOW_HOME.fullmatch(name)
        if name and below_home is None:
            self.alone = f"process {template.ancestor} listens at a socket"
            return
        if template.counts.get(file, 0) or self._peers.listening.get(inode, (0, 0))[0]:
            raise NotKept(f"messages are on their way to process {template.ancestor}")
        self._single[inode] = end.flags, os.fsdecode(below_home[1]) if below_home is not None else ""
        template.put(("socket", inode), file, end.flags)

    def _note_terminal(self, template: Template, file: int, number: int, end: str, flags: int) -> None:
        if template.counts.get(file):
            raise NotKept(f"bytes wait in a terminal of process {template.ancestor}, where they can't be looked at")
        if number not in self._terminals:
            self._terminals[number] = _terminal(number)
        self._terminals[number].typed += bytes(template.pending.get(file, b""))
        self._terminals[number].flags.setdefault(end, flags)
        template.put(("terminal", number, end), file, flags)
        controls = (TERMINAL, file, 0, 0, 0, 0)
        if (
            end == "slave"
            and _controls(template.ancestor, number)
            and not any(step[0] == TERMINAL for step in template.steps)
        ):
            template.steps.append(controls)

    def _note_file(self, template: Template, file: int, target: str, flags: int, facts: bytes) -> None:
        through = f"/proc/{template.ancestor}/fd/{file}"
        status = os.stat(through)  # noqa: PTH116
        if target == "/dev/tty":
            raise NotKept(f"process {template.ancestor} has its terminal open as /dev/tty")
        if target in self._places:
            template.put(self._places[target], file, flags)
        elif stat.S_ISREG(status.st_mode):
            self._note_regular(template, file, target, flags, facts, through, status.st_ino)
        elif stat.S_ISDIR(status.st_mode) and not target.startswith(f"{PROC}/"):
            self._note_folder(template, file, target, flags, facts, through)

    def _note_regular(
        self, template: Template, file: int, target: str, flags: int, facts: bytes, through: str, inode: int
    ) -> None:
        is_gone, is_own = target.endswith(_GONE), self._is_below_home(target)
        memory: Hashable | None = None
        if is_gone or (flags & os.O_ACCMODE and not is_own):
            with open(through, "rb") as opened:  # noqa: PTH123
                content = opened.read(MAX_FILE_BYTES + 1)
            if len(content) > MAX_FILE_BYTES:
                raise NotKept(f"{target}, which process {template.ancestor} has open, is too large to be kept")
            if is_gone:
                _require_unsealed(through)
                memory = self._note_memory(target, inode, len(content), content)
            else:
                self.alone = f"process {template.ancestor} writes to {target}"
                self._contents.append((target, content))
        path = target[len(self._home) + 1 :] if is_own and not is_gone else target
        own_flags = flags & ~_CREATING | os.O_NOCTTY
        self._put_file(template, file, _File(path, memory, own_flags, int(_found(_POSITION, facts)[1])))

    def _note_folder(self, template: Template, file: int, target: str, flags: int, facts: bytes, through: str) -> None:
        if target.endswith(_GONE):
            raise NotKept(f"process {template.ancestor} has a folder open that is gone")
        path = target[len(self._home) + 1 :] if self._is_below_home(target) else target
        position, rest = int(_found(_POSITION, facts)[1]), None
        if position:
            opened = os.open(through, os.O_RDONLY | os.O_CLOEXEC)
            try:
                rest = _rest_of_folder(opened, position)
            finally:
                os.close(opened)
        self._put_file(template, file, _File(path, None, flags, position, rest))

    def _put_file(self, template: Template, file: int, what: _File) -> None:
        key = ("file", template.pid, file)
        self._files[key] = what
        template.put(key, file, what.flags)

    def _connect(self, templates: Sequence[Template]) -> None:
        """Find both ends of each connection and pipe; leave alone those whose other end is of others."""
        peers = self._peers.peers
        for inode in self._sockets:
            if peers[inode] not in (_NOBODY, *self._sockets) and inode not in self._clients:
                raise NotKept("a process is connected to one that isn't the program's")
        alone = {("pipe", inode, reads) for inode, ends in self._pipes.items() if len(ends) < 2 for reads in ends}
        for inode in [inode for inode, ends in self._pipes.items() if len(ends) < 2]:
            del self._pipes[inode]
        for template in templates:
            dropped = {number for number, what in enumerate(template.given) if what in alone}
            template.steps = [step for step in template.steps if step[0] not in _GIVEN or step[2] not in dropped]
            left = [what for what in template.given if what not in alone]
            template.steps = [
                (*step[:2], left.index(template.given[step[2]]), *step[3:]) if step[0] in _GIVEN else step
                for step in template.steps
            ]
            template.given = left

    # ── what is made ────────────────────────────────────────────────────────────────────────────────────────────────

    def _make_sockets(self, maker: Maker) -> None:
        for inode in self._clients:
            ours, theirs = socket.socketpair()
            self._fill(maker, inode, theirs, ours)
            maker.clients.append(ours.detach())
        for inode in self._sockets:
            other = self._peers.peers[inode]
            if ("socket", inode) in maker.made or other not in (_NOBODY, *self._sockets):
                continue
            one, two = socket.socketpair(type=self._peers.kinds[inode])
            if other == _NOBODY:
                self._fill(maker, inode, one, two)
                two.close()
                continue
            if self._sockets[other].pending:
                one.sendall(self._sockets[other].pending)
            self._fill(maker, inode, one, two)
            two.setblocking(not self._sockets[other].flags & os.O_NONBLOCK)
            maker.made["socket", other] = two.detach()

    def _fill(self, maker: Maker, inode: int, end: socket.socket, other: socket.socket) -> None:
        if self._sockets[inode].pending:
            other.sendall(self._sockets[inode].pending)
        end.setblocking(not self._sockets[inode].flags & os.O_NONBLOCK)
        maker.made["socket", inode] = end.detach()

    def _make_pipes(self, maker: Maker) -> None:
        for inode, ends in self._pipes.items():
            reading, writing = os.pipe()
            maker.made["pipe", inode, True], maker.made["pipe", inode, False] = reading, writing
            if held := ends[True].pending:
                if len(held) > fcntl.fcntl(writing, fcntl.F_GETPIPE_SZ):
                    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, len(held))
                os.write(writing, held)
            for reads, end in ((True, reading), (False, writing)):
                os.set_blocking(end, not ends[reads].flags & os.O_NONBLOCK)

    def _make_single(self, maker: Maker, home: Path) -> None:
        folder = os.open(home, os.O_PATH | os.O_CLOEXEC)
        maker.made["home"] = folder
        for inode, (flags, path) in self._single.items():
            with socket.socket(socket.AF_UNIX, self._peers.kinds[inode]) as made:
                if path:
                    (home / path).unlink(missing_ok=True)
                    made.bind(f"/proc/self/fd/{folder}/{path}")
                if inode in self._peers.listening:
                    made.listen(self._peers.listening[inode][1])
                made.setblocking(not flags & os.O_NONBLOCK)
                maker.made["socket", inode] = made.detach()
        for inode in self._single:
            if self._peers.peers.get(inode) in self._single:
                _, path = self._single[self._peers.peers[inode]]
                with socket.socket(fileno=os.dup(maker.made["socket", inode])) as made:
                    made.connect(f"/proc/self/fd/{folder}/{path}")

    def open_files(self, maker: Maker, home: Path) -> None:
        """Open again what processes have open, once all files are as they were."""
        self._make_single(maker, home)
        for path, content in self._contents:
            Path(path).write_bytes(content)
        for key, (path, flags) in self._below_home.items():
            maker.made[key] = os.open(home / path, flags | os.O_CLOEXEC)
        for key, file in self._files.items():
            path = home / file.path if file.memory is None else Path(f"/proc/self/fd/{maker.made[file.memory]}")
            opened = maker.made[key] = os.open(path, file.flags)
            if file.position:
                os.lseek(opened, file.position, os.SEEK_SET)
            # What the position of a folder means is the file system's affair: with files made anew it may be another.
            if file.rest is not None and _rest_of_folder(opened, file.position) != file.rest:
                raise NotKept(f"the rest of {path} would be read in another order")


@dataclass(slots=True)
class Maker:
    """What was made for one world."""

    made: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    clients: list[int] = field(default_factory=list[int])

    def order(self, template: Template) -> None:
        given = array.array("i", [self.made[what] for what in template.given])
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, given)] if given else []
        template.connection.sendmsg([_COUNT.pack(len(given))], control)

    def take_clients(self, takers: Sequence[object]) -> list[int]:
        """Return our ends of connections, one for each taker, which are theirs to close."""
        count = len(takers)
        taken, self.clients = self.clients[:count], self.clients[count:]
        return taken

    def close(self) -> None:
        for descriptor in (*self.made.values(), *self.clients):
            os.close(descriptor)
        self.made.clear()
        self.clients.clear()


class _Peers:
    """The Unix sockets of this network: what kind each is, and which is its other end, by their inodes."""

    def __init__(self) -> None:
        self.kinds: dict[int, int] = {}
        self.peers: dict[int, int] = {}
        self.names: dict[int, bytes] = {}
        # Of each that listens, how many connections wait there, and how many may.
        self.listening: dict[int, tuple[int, int]] = {}
        shown = _SHOW_NAME | _SHOW_PEER | _SHOW_QUEUES
        query = _QUERY.pack(socket.AF_UNIX, 0, 0, 0xFFFFFFFF, 0, shown, 0xFFFFFFFF, 0xFFFFFFFF)
        try:
            with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as asking:
                asking.send(_MESSAGE.pack(_MESSAGE.size + len(query), _BY_FAMILY, _DUMP, 1, 0) + query)
                while self._take(asking.recv(1 << 17)):
                    pass
        except OSError as error:
            raise NotKept(f"which sockets are connected can't be known: {error}") from error

    def _take(self, answer: bytes) -> bool:
        """Take a part of the answer; return whether there is more."""
        while answer:
            size, kind, *_ = _MESSAGE.unpack_from(answer)
            if kind == _ERROR:
                raise NotKept("the kernel tells of no sockets")
            if kind == _DONE:
                return False
            inode = int.from_bytes(answer[20:24], "little")
            self.kinds[inode] = answer[17]
            listens = answer[18] == _LISTENING
            at = 32
            while at < size:
                length, what = _ATTRIBUTE.unpack_from(answer, at)
                if what == _PEER:
                    self.peers[inode] = int.from_bytes(answer[at + 4 : at + 8], "little")
                elif what == _NAME:
                    self.names[inode] = answer[at + 4 : at + length]
                elif what == _QUEUES and listens:
                    self.listening[inode] = _LENGTHS.unpack_from(answer, at + 4)
                at += max(length + 3 & ~3, 4)
            answer = answer[size + 3 & ~3 :]
        return True


def _rest_of_folder(opened: int, position: int) -> list[str]:
    """Return what is still to be read of a folder from a position on, sorted, and leave it there."""
    os.lseek(opened, position, os.SEEK_SET)
    names = os.listdir(opened)
    os.lseek(opened, position, os.SEEK_SET)
    return sorted(names)


def _hears_the_kernel(inode: int) -> bool:
    """Return whether a socket is one on which programs hear of devices (netlink), of which there come none."""
    lines = Path("/proc/self/net/netlink").read_text().splitlines()[1:]
    return any(line.split()[-1] == str(inode) for line in lines)


def _found(pattern: re.Pattern[bytes], facts: bytes) -> re.Match[bytes]:
    found = pattern.search(facts)
    if found is None:
        raise NotKept("the kernel tells too little of an open file")
    return found


def _terminal(number: int) -> _Terminal:
    slave = os.open(f"/dev/pts/{number}", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        return _Terminal(termios.tcgetattr(slave), fcntl.ioctl(slave, termios.TIOCGWINSZ, bytes(8)))
    finally:
        os.close(slave)


def _make_terminal(maker: Maker, number: int, terminal: _Terminal) -> None:
    master, slave = os.openpty()
    maker.made["terminal", number, "master"], maker.made["terminal", number, "slave"] = master, slave
    if terminal.typed:
        # As it is, not shown again.
        iflag, oflag, cflag, _, *speeds, characters = terminal.modes
        quiet = [iflag & termios.IXON, oflag, cflag, termios.ICANON, *speeds, [b"\0"] * len(characters)]
        termios.tcsetattr(slave, termios.TCSANOW, quiet)
        os.write(master, terminal.typed)
        polling.select([slave], timeout_s=0)
    termios.tcsetattr(slave, termios.TCSANOW, terminal.modes)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, terminal.size)
    for end, flags in terminal.flags.items():
        os.set_blocking(master if end == "master" else slave, not flags & os.O_NONBLOCK)


def _require_unsealed(path: str) -> None:
    """Raise NotKept if a memory file is sealed against writing, as another one wouldn't be."""
    with open(path, "rb") as file, contextlib.suppress(OSError):  # noqa: PTH123
        if fcntl.fcntl(file, fcntl.F_GET_SEALS) & ~fcntl.F_SEAL_SEAL:
            raise NotKept("a program has sealed a memory file")


def _controls(pid: int, number: int) -> bool:
    """Return whether a process leads the session of a terminal."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    device = int(fields[4])
    return int(fields[3]) == pid and device != 0 and (device & 0xFF | device >> 12 & 0xFFF00) == number
