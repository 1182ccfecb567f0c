"""One X server process: its start on a free display, its end, and the files that a killed one leaves behind.

An X server listens at two names: a file in SOCKETS, and the abstract name of the same path, which needs no file. Where
that folder can't be written (WSL2 mounts it read-only, elsewhere it may be another user's) there is the second alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import shlex
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pluriverse_server.process import NOTHING_MORE, ChildProcess, Pipe, StartError, start_error
from pluriverse_server.x11.connection import SOCKETS

# Up within 0.1 s on an idle machine; one that starts a whole fleet at once takes seconds.
START_DEADLINE_S: Final = 15.0

# No TCP; no reset (which forgets the keyboard map) when the last client leaves; no screen saver.
COMMON_ARGUMENTS: Final = ("-nolisten", "tcp", "-noreset", "-s", "0", "-dpi", "96")

TMP: Final = Path("/tmp")  # noqa: S108 - X servers have their locks there, and everything that they write

# Part of its message if it can't write a file.
NO_KEYMAP: Final = "Failed to compile keymap"

# Display numbers end where the TCP ports that went with them do.
DISPLAYS: Final = 65536 - 6000

# How often another program's X server may take the number that was chosen, in the milliseconds until ours does.
ATTEMPTS: Final = 10


class XServer:
    """A running X server. ``stop`` ends it and removes its socket and lock, however it ended."""

    def __init__(self, child: ChildProcess, number: int, claim: socket.socket) -> None:
        self.child = child
        self._number = number
        self._claim = claim

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        xauthority: Path,
        env: Mapping[str, str] = NOTHING_MORE,
        pass_fds: Sequence[int] = (),
    ) -> XServer:
        """Start ``command`` on the lowest free display; clients need a cookie of ``xauthority``."""
        for attempt in range(ATTEMPTS):
            try:
                number, claim = claim_display()
            except OSError as error:
                raise start_error("the X server", error, command) from error
            try:
                return cls(await _start(command, number, xauthority, env, pass_fds), number, claim)
            except BaseException as error:
                claim.close()
                if not isinstance(error, StartError) or attempt == ATTEMPTS - 1 or is_free(number):
                    raise
        raise AssertionError

    @property
    def display(self) -> str:
        return f":{self._number}"

    async def stop(self) -> None:
        await self.child.stop()
        self._claim.close()
        lock = TMP / f".X{self._number}-lock"
        with contextlib.suppress(OSError, ValueError):
            if int(lock.read_text()) == self.child.pid:
                lock.unlink()
        # Another server may have taken the number since.
        _clear(SOCKETS / f"X{self._number}")


def claim_display() -> tuple[int, socket.socket]:
    """Return the lowest free display, and what keeps other processes like this one from it until it is closed.

    ``-displayfd`` alone would find one as well, but takes none whose file it can't make, and tries all 60,000.
    """
    for number in range(DISPLAYS):
        claim = socket.socket(socket.AF_UNIX)
        if _bind(claim, f"pluriverse{SOCKETS}/X{number}") and is_free(number):
            return number, claim
        claim.close()
    raise OSError(errno.EADDRINUSE, "no display is free")


def is_free(number: int) -> bool:
    """Return whether no X server has this display; a dead one's file is removed."""
    path = SOCKETS / f"X{number}"
    with socket.socket(socket.AF_UNIX) as probe:
        # X servers of other network namespaces have other abstract names, and maybe the same files.
        return _bind(probe, str(path)) and _clear(path)


def _bind(end: socket.socket, name: str) -> bool:
    """Bind a socket to an abstract name, if this system has those; return False if it is in use."""
    try:
        end.bind(f"\0{name}")
    except OSError as error:
        return error.errno != errno.EADDRINUSE
    return True


def _clear(path: Path) -> bool:
    """Remove a server's socket unless a process listens on it; return whether it is gone."""
    with socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)
        problem = client.connect_ex(str(path))
    if problem == errno.ECONNREFUSED:
        with contextlib.suppress(OSError):
            path.unlink()
            return True
    # Everybody may connect to such a socket: who may not can't enter its folder.
    return problem in (errno.ENOENT, errno.ENOTDIR, errno.EACCES)


async def _start(
    command: Sequence[str], number: int, xauthority: Path, env: Mapping[str, str], pass_fds: Sequence[int]
) -> ChildProcess:
    pipe = await Pipe.open()
    # Given the number too, it needs no lock file; it writes it back once it accepts connections.
    own = [f":{number}", "-displayfd", str(pipe.write_end), "-auth", str(xauthority)]
    full = [*command, *own, *COMMON_ARGUMENTS]
    hint = f"to see the problem, run: {shlex.join(command)} :99"
    try:
        try:
            child = await ChildProcess.start("X server", full, env=env, pass_fds=[pipe.write_end, *pass_fds])
        finally:
            pipe.close_write_end()
        try:
            async with asyncio.timeout(START_DEADLINE_S):
                # The server writes the newline by itself, and dies if the pipe is closed before.
                line = await pipe.stream.readline()
            if not line.endswith(b"\n"):
                await child.wait()
        except TimeoutError:
            await child.stop()
            raise StartError(f"the X server was not ready after {START_DEADLINE_S:.0f} s\n{hint}") from None
        except BaseException:
            await child.stop()
            raise
    finally:
        pipe.close()
    if not line.endswith(b"\n"):
        if NO_KEYMAP in child.output_tail:
            hint = f"it writes its keyboard map to {TMP}: make room there, and allow this user to write; {hint}"
        raise StartError(f"the X server ended at once, {child.describe_end()}:\n{child.output_tail}\n{hint}")
    return child
