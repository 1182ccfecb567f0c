"""Child processes that are always reaped, and the TCP ports that they and the daemon listen on."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import shutil
import signal
import socket
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

# SDL programs take SIGTERM as a quit event and may sit on it; together with a screen's two servers this stays under
# the two seconds that the whole remote has to stop.
STOP_GRACE_S: Final = 0.7

# Enough for a traceback; a program that floods its output costs no more memory than this.
OUTPUT_TAIL_LINES: Final = 40
OUTPUT_TAIL_CHARS: Final = 400

# Its output ends with it, unless something that left its group holds on to the pipe; its death is told all the same.
OUTPUT_GRACE_S: Final = 0.05


_FOREIGN: Final = frozenset(
    {
        "COLUMNS",
        "DBUS_SESSION_BUS_ADDRESS",
        "LINES",
        "SDL_VIDEODRIVER",
        "SESSION_MANAGER",
        "WAYLAND_DISPLAY",
        "WINDOWID",
        "XDG_SESSION_ID",
    }
)


class StartError(Exception):
    """A program could not be started; the message says which, why, and the command that mends it."""


def executable(name: str, *, package: str | None = None) -> str:
    """The path of a program that must be there.

    Raises:
        StartError: it isn't on PATH; names the Debian package that has it.
    """
    return _executable(name, package=package)


def _executable(name: str, *, package: str | None = None, path: str | None = None, cwd: Path | None = None) -> str:
    # The child looks for a name with a slash from its own folder.
    found = shutil.which(str((cwd or Path.cwd()) / name) if "/" in name else name, path=path)
    if found is None:
        mend = f"; install it with: apt-get install {package}" if package else ""
        where = "is not there or not executable" if "/" in name else "was not found on PATH"
        raise StartError(f"the program {name!r} {where}{mend}")
    return found


def child_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process' environment with ``extra``, without our own settings: the password is no child's business.

    Nor is what only holds for whoever started us: their desktop's session, where their SDL draws, and the size of
    their terminal, which curses believes rather than the terminal that it is in.
    """
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PLURIVERSE_")}
    return {key: value for key, value in inherited.items() if key not in _FOREIGN} | dict(extra)


@dataclass(frozen=True, slots=True)
class _Output:
    """The pipe that a child writes to. Whoever starts the child closes ``write_end`` afterwards.

    It isn't asyncio's own: with that ``Process.wait`` goes on for as long as anything the child started holds it.
    """

    stream: asyncio.StreamReader
    transport: asyncio.ReadTransport
    write_end: int

    @classmethod
    async def open(cls) -> _Output:
        stream = asyncio.StreamReader()
        read_end, write_end = os.pipe()
        pipe = os.fdopen(read_end, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), pipe
        )
        return cls(stream, transport, write_end)

    def close(self) -> None:
        self.transport.close()


class ChildProcess:
    """One running child. Made by ``ChildProcess.start``; ``stop`` ends and reaps it with all that it started."""

    def __init__(
        self, name: str, process: asyncio.subprocess.Process, output: _Output, log_level: int = logging.DEBUG
    ) -> None:
        self.name = name
        self._process = process
        self._output = output
        self._log_level = log_level
        self._output_tail: deque[str] = deque(maxlen=OUTPUT_TAIL_LINES)
        self._reader = asyncio.create_task(self._read_output(), name=f"{name}: output")
        self._reaper = asyncio.create_task(self._reap(), name=f"{name}: end")

    @classmethod
    async def start(
        cls,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        pass_fds: Sequence[int] = (),
        log_level: int = logging.DEBUG,
    ) -> ChildProcess:
        """Start ``command`` in a process group of its own; it dies with this process, even one that is killed.

        Its output is logged, line by line, at ``log_level``.

        Raises:
            StartError: it isn't there, or the system would not start it.
        """
        # Without this look it would be setpriv that starts, and ends because it doesn't find the program.
        _executable(command[0], path=env.get("PATH") if env is not None else None, cwd=cwd)
        # setpriv sets the parent-death signal between fork and exec, which Python can't do safely itself.
        wrapped = [executable("setpriv", package="util-linux"), "--pdeathsig", "KILL", "--", *command]
        output = await _Output.open()
        try:
            process = await asyncio.create_subprocess_exec(
                *wrapped,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output.write_end,
                stderr=asyncio.subprocess.STDOUT,
                env=dict(env) if env is not None else None,
                cwd=cwd,
                pass_fds=tuple(pass_fds),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            output.close()
            raise StartError(f"{name} could not be started ({' '.join(command)}): {error}") from error
        except asyncio.CancelledError:
            output.close()
            raise
        finally:
            os.close(output.write_end)
        return cls(name, process, output, log_level)

    @property
    def pid(self) -> int:
        """Its process id, which is its group's too."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """None while it runs; as ``subprocess`` has it afterwards (negative: the signal that ended it)."""
        return self._process.returncode

    @property
    def output_tail(self) -> str:
        """The last lines of its output, for an error message."""
        return "\n".join(self._output_tail)

    async def wait(self) -> int:
        """Its return code, once it has ended."""
        return await asyncio.shield(self._reaper)

    def describe_end(self) -> str:
        """How it ended, in words: ``killed by SIGKILL`` or ``exit status 3``."""
        code = self._process.returncode
        if code is None:
            return "still running"
        if code < 0:
            # Most real-time signals have no name.
            known = -code in signal.Signals.__members__.values()
            return f"killed by {signal.Signals(-code).name if known else f'signal {-code}'}"
        return f"exit status {code}"

    def on_end(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` from the event loop once it has ended, at once if it has already."""
        self._reaper.add_done_callback(lambda _: callback())

    def kill(self) -> None:
        """Kill it and its group at once, if it still runs."""
        if self._process.returncode is None:
            self._signal_group(signal.SIGKILL)

    async def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """SIGTERM to the group, SIGKILL after ``grace_s`` seconds, and reap. May be called at any time, repeatedly."""
        if self._process.returncode is None:
            self._signal_group(signal.SIGTERM)
            try:
                await asyncio.wait({self._reaper}, timeout=grace_s)
            finally:
                # Also where this call is cancelled: nobody else may remember the process.
                self.kill()
        await asyncio.shield(self._reaper)
        await asyncio.wait({self._reader})

    async def _reap(self) -> int:
        returncode = await self._process.wait()
        # Whatever the leader left behind in its group goes with it; now, while the group's id can't be anyone else's.
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


def require_free(what: str, host: str, port: int, option: str) -> None:
    """Make sure that ``port`` can be listened on.

    Raises:
        StartError: it can't; says who has it, and with which ``option`` to choose another.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the servers do: a port whose last connections linger is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                reason = f"is taken by {holder(port)}"
            else:
                reason = f"can't be had: {error.strerror}"
            raise StartError(f"the {what} port {host}:{port} {reason}; choose another with {option}") from None


def holder(port: int) -> str:
    """Who listens on ``port``, as far as this user may know."""
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
