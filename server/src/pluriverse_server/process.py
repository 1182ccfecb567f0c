"""Child processes that are always reaped, and the TCP ports that they and the daemon listen on."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import logging
import os
import resource
import shutil
import signal
import socket
import ssl
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pluriverse_protocol import child_process

from pluriverse_server import confine
from pluriverse_server.tasks import start_task

log = logging.getLogger(__name__)

# SDL programs take SIGTERM as a quit event and may sit on it; together with a screen's two servers this stays under
# the two seconds that the whole remote has to stop.
STOP_GRACE_S: Final = 0.7

# Enough for a traceback; a program that floods its output costs no more memory than this.
OUTPUT_TAIL_LINES: Final = 40
OUTPUT_TAIL_CHARS: Final = 400

# What a machine that is short of something answers; it may have it again later.
_SHORTAGES: Final = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT)

# A child's output ends with it, unless something that left its group still holds the pipe.
OUTPUT_GRACE_S: Final = 0.05


# Connections that the kernel keeps for a port while the event loop is busy, and how many it takes of them in one turn.
BACKLOG: Final = 1024
ACCEPTED_AT_ONCE: Final = 16

# A handshake of TLS is two round trips.
TLS_HANDSHAKE_S: Final = 10.0

# What the ports' limits leave is for programs; those that close all that they might have inherited get on with it.
MAX_DESCRIPTORS: Final = 65536

# What a child's environment has beside what every child's has.
NOTHING_MORE: Final[Mapping[str, str]] = MappingProxyType({})

# The user, and group, that children run as; None: as this process.
child_user: ContextVar[int | None] = ContextVar("child_user", default=None)


class StartError(Exception):
    """A program could not be started; the message names it, the reason and the fix."""


class OutOfResources(StartError):
    """A program could not be started now, since the machine has no descriptors, processes, memory or disk left."""


class TooMuchOutput(Exception):
    """A command printed more than was allowed."""


def executable(name: str, *, package: str | None = None, path: str | None = None, cwd: Path | None = None) -> str:
    """Return the path of a program, looked for on ``path`` (default: PATH) or, with a slash, from ``cwd``."""
    found = shutil.which(str((cwd or Path.cwd()) / name) if "/" in name else name, path=path)
    if found is None:
        mend = f"; install it with: apt-get install {package}" if package else ""
        where = "is missing or not executable" if "/" in name else "was not found on PATH"
        raise StartError(f"the program {name!r} {where}{mend}")
    return found


def start_error(name: str, error: OSError | ValueError, command: Sequence[str] = ()) -> StartError:
    short = isinstance(error, OSError) and error.errno in _SHORTAGES
    what = f" ({' '.join(command)})" if command else ""
    return (OutOfResources if short else StartError)(f"{name} could not be started{what}: {error}")


@functools.cache
def has_network() -> bool:
    """Return whether this process may open sockets of the internet."""
    try:
        socket.socket(socket.AF_INET).close()
    except PermissionError:
        return False
    return True


def confined(command: Sequence[str], network: bool | int) -> list[str]:
    """Return ``command`` wrapped so that it has no privileges, and no more network than ``network``."""
    allowed = confine.ALL if network is True else confine.NONE if network is False else str(network)
    return [sys.executable, "-I", "-S", confine.__file__, allowed, *command]


@dataclass(frozen=True, slots=True)
class Pipe:
    """A pipe from a child, which inherits ``write_end``; call ``close_write_end`` once it was started.

    Not asyncio's own: with that ``Process.wait`` waits for everything that the child left behind with the pipe.
    """

    stream: asyncio.StreamReader
    write_end: int
    _transport: asyncio.ReadTransport

    @classmethod
    async def open(cls) -> Pipe:
        stream = asyncio.StreamReader()
        try:
            read_end, write_end = os.pipe()
        except OSError as error:
            raise OutOfResources(f"a pipe could not be made: {error}") from error
        pipe = os.fdopen(read_end, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), pipe
        )
        return cls(stream, write_end, transport)

    def close_write_end(self) -> None:
        """Close this process' copy, so that ``stream`` ends when the child's is closed."""
        os.close(self.write_end)

    def close(self) -> None:
        self._transport.close()


def share(folder: Path) -> None:
    """Make a private ``folder`` in which children may write, too."""
    folder.mkdir(mode=0o700, exist_ok=True)
    # Its parent decides whose group it and what is in it gets, and keeps everybody else out.
    folder.chmod(0o2770)


class ChildProcess:
    """One running child. Made by ``ChildProcess.start``; ``stop`` ends and reaps it with all that it started."""

    def __init__(
        self, name: str, process: asyncio.subprocess.Process, output: Pipe, log_level: int = logging.DEBUG
    ) -> None:
        self.name = name
        self._process = process
        self._output = output
        self._log_level = log_level
        self._output_tail: deque[str] = deque(maxlen=OUTPUT_TAIL_LINES)
        self._reader = start_task(self._read_output(), f"{name}: output")
        self._reaper = start_task(self._reap(), f"{name}: end")

    @classmethod
    async def start(
        cls,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] = NOTHING_MORE,
        cwd: Path | None = None,
        stdin: int = asyncio.subprocess.DEVNULL,
        stdout: int | None = None,
        stderr: int | None = None,
        pass_fds: Sequence[int] = (),
        log_level: int = logging.DEBUG,
        network: bool | int = False,
    ) -> ChildProcess:
        """Start ``command`` in a process group of its own; it is killed when this process ends, however that does.

        It runs as ``child_user``, without privileges. ``env`` adds to what every child's environment has; nothing else
        of this process' is in it. ``network``: whether it may use the internet, or the one TCP port that it may connect
        to. Output that isn't given a file descriptor is logged, line by line, at ``log_level``.
        """
        # Without this check setpriv would start, and end because it doesn't find the program.
        executable(command[0], path=env.get("PATH"), cwd=cwd)
        setpriv = executable(child_process.SETPRIV, package=child_process.SETPRIV_PACKAGE)
        # What has no network already can hand none on.
        wrapped = confined(command, network) if has_network() else command
        user = child_user.get()
        env = child_process.child_environment(os.environ, env, network=network is True)
        if user is not None and env.get("HOME") == os.environ.get("HOME"):
            env["HOME"] = tempfile.gettempdir()
        output = await Pipe.open()
        try:
            process = await asyncio.create_subprocess_exec(
                *child_process.dying_with_parent(wrapped, signal.SIGKILL, setpriv),
                stdin=stdin,
                stdout=output.write_end if stdout is None else stdout,
                stderr=output.write_end if stderr is None else stderr,
                env=env,
                cwd=cwd,
                pass_fds=tuple(pass_fds),
                start_new_session=True,
                user=user,
                group=user,
                extra_groups=None if user is None else [],
            )
        except (OSError, ValueError) as error:
            output.close()
            raise start_error(name, error, command) from error
        except asyncio.CancelledError:
            output.close()
            raise
        finally:
            output.close_write_end()
        return cls(name, process, output, log_level)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """None while it runs; as ``subprocess`` has it afterwards (negative: the signal that ended it)."""
        return self._process.returncode

    @property
    def output_tail(self) -> str:
        return "\n".join(self._output_tail)

    async def wait(self) -> int:
        return await asyncio.shield(self._reaper)

    def describe_end(self) -> str:
        """Return how it ended, in words: ``killed by SIGKILL``, ``exit status 3``, or ``still running``."""
        code = self._process.returncode
        return "still running" if code is None else child_process.describe_exit(code)

    def on_end(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` from the event loop once it has ended, at once if it has already."""
        self._reaper.add_done_callback(lambda _: callback())

    def kill(self) -> None:
        if self._process.returncode is None:
            self._signal_group(signal.SIGKILL)

    async def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Send SIGTERM to the group, SIGKILL after ``grace_s`` seconds, and reap. May be called repeatedly."""
        if self._process.returncode is None:
            self._signal_group(signal.SIGTERM)
            try:
                await asyncio.wait({self._reaper}, timeout=grace_s)
            finally:
                # Also if this call is cancelled: no other code may know the process.
                self.kill()
        await asyncio.wait({self._reaper, self._reader})

    async def _reap(self) -> int:
        returncode = await self._process.wait()
        # Kill what the leader left behind in its group now, while the group's id can't be anyone else's.
        self._signal_group(signal.SIGKILL)
        await asyncio.wait({self._reader}, timeout=OUTPUT_GRACE_S)
        self._reader.cancel()
        return returncode

    def _signal_group(self, signum: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signum)

    async def _read_output(self) -> None:
        rest = b""
        try:
            while chunk := await self._output.stream.read(65536):
                *lines, rest = (rest + chunk).split(b"\n")
                rest = rest[-OUTPUT_TAIL_CHARS:]
                for line in lines[-OUTPUT_TAIL_LINES:]:
                    text = line[:OUTPUT_TAIL_CHARS].decode(errors="replace").rstrip()
                    self._output_tail.append(text)
                    log.log(self._log_level, "%s: %s", self.name, text)
        finally:
            self._output.close()
        if rest:
            self._output_tail.append(rest.decode(errors="replace"))


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that has ended: its standard output, and the last lines of its standard error."""

    returncode: int
    output: bytes
    errors: str


async def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str] = NOTHING_MORE,
    cwd: Path | None = None,
    stdin: bytes = b"",
    merge_stderr: bool = False,
    timeout_s: float | None = None,
    max_bytes: int = 1024 * 1024,
) -> Finished:
    """Run ``command`` until it has ended and closed its output; whatever happens, nothing that it started is left.

    ``merge_stderr``: whether ``Finished.output`` has the standard error as well.
    """
    output = await Pipe.open()
    try:
        try:
            # A file in memory: no input, however long, can block.
            with os.fdopen(os.memfd_create("stdin"), "wb") as given:
                given.write(stdin)
                given.seek(0)
                stderr = output.write_end if merge_stderr else None
                child = await ChildProcess.start(
                    command[0], command, env=env, cwd=cwd, stdin=given.fileno(), stdout=output.write_end, stderr=stderr
                )
        finally:
            output.close_write_end()
        try:
            async with asyncio.timeout(timeout_s):
                try:
                    await output.stream.readexactly(max_bytes + 1)
                except asyncio.IncompleteReadError as end:
                    return Finished(await child.wait(), end.partial, child.output_tail)
            raise TooMuchOutput
        finally:
            child.kill()
            await child.stop()
    finally:
        output.close()


def listeners(host: str, port: int) -> list[socket.socket]:
    """Return sockets that listen on ``port``: one for each address that ``host`` has. ``::`` takes IPv4 as well."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    both = host == "::" and socket.has_dualstack_ipv6()
    with contextlib.ExitStack() as undo:
        made: list[socket.socket] = []
        for family, _, _, _, address in dict.fromkeys(found):
            # As it does by itself: a port whose last connections linger is free.
            listener = socket.create_server(address, family=family, backlog=BACKLOG, dualstack_ipv6=both)
            # Its connections have this, too: what is small goes at once, not after the peer's acknowledgement of what
            # went before, which takes 40 ms. The event loop sees to that only of sockets that name their protocol.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            made.append(undo.enter_context(listener))
        undo.pop_all()
        return made


async def serve(
    factory: Callable[[], asyncio.BaseProtocol], listener: socket.socket, ssl_context: ssl.SSLContext | None = None
) -> asyncio.Server:
    """Serve the connections of a listening socket on the running event loop, which owns it from now on.

    However many come at once, only ACCEPTED_AT_ONCE of them have a descriptor before the first is looked at.
    """
    listener.setblocking(False)
    server = await asyncio.get_running_loop().create_server(
        factory,
        sock=listener,
        backlog=ACCEPTED_AT_ONCE,
        ssl=ssl_context,
        ssl_handshake_timeout=None if ssl_context is None else TLS_HANDSHAKE_S,
    )
    # The event loop's backlog in the kernel is limited to the same.
    listener.listen(BACKLOG)
    return server


def raise_descriptor_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def require_free(what: str, host: str, port: int, option: str) -> None:
    try:
        for listener in listeners(host, port):
            listener.close()
    except OSError as error:
        raise StartError(port_fault(what, host, port, option, error)) from None


def port_fault(what: str, host: str, port: int, option: str, error: OSError) -> str:
    """Return why a port can't be listened on, and with which ``option`` to choose another."""
    if error.errno == errno.EADDRINUSE:
        return f"the {what} port {endpoint(host, port)} is taken by {holder(port)}; choose another with {option}"
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return f"the {what} port can't listen on {host!r}: not an address of this machine; choose one with --host"
    return f"the {what} port {endpoint(host, port)} is unavailable: {error.strerror}; choose another with {option}"


def endpoint(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def holder(port: int) -> str:
    import psutil

    try:
        connections = psutil.net_connections("tcp")
    except psutil.AccessDenied:
        return "another program"
    for connection in connections:
        # The address of a socket that is bound to none is an empty tuple.
        address = connection.laddr
        if connection.status == psutil.CONN_LISTEN and connection.pid and address and address.port == port:
            try:
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
            except psutil.NoSuchProcess:
                break
    return "another program"
