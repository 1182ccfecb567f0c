"""One X server process: its start on a free display, its end, and the files that a killed one leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pluriverse_server.process import ChildProcess, Pipe, StartError

# Up within 0.1 s on an idle machine; one that starts a whole fleet at once takes seconds.
START_DEADLINE_S: Final = 15.0

# No TCP; no reset (which forgets the keyboard map) when the last client leaves; no screen saver.
COMMON_ARGUMENTS: Final = ("-nolisten", "tcp", "-noreset", "-s", "0", "-dpi", "96")

SOCKETS: Final = Path("/tmp/.X11-unix")  # noqa: S108 - X clients look there and nowhere else
LOCKS: Final = Path("/tmp")  # noqa: S108 - the same


class XServer:
    """A running X server. ``stop`` ends it and removes its socket and lock, however it ended."""

    def __init__(self, child: ChildProcess, number: int) -> None:
        self.child = child
        self._number = number

    @classmethod
    async def start(cls, command: Sequence[str], *, xauthority: Path, env: Mapping[str, str]) -> XServer:
        """Start ``command`` on a free display that it chooses; clients need a cookie of ``xauthority``.

        Raises:
            StartError: it ended, or wasn't ready in time; nothing is left of it.
        """
        pipe = await Pipe.open()
        full = [*command, "-displayfd", str(pipe.write_end), "-auth", str(xauthority), *COMMON_ARGUMENTS]
        try:
            try:
                child = await ChildProcess.start("X server", full, env=env, pass_fds=[pipe.write_end])
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
                raise StartError(f"the X server was not ready after {START_DEADLINE_S:.0f} s\n{_hint(full)}") from None
            except BaseException:
                await child.stop()
                raise
        finally:
            pipe.close()
        if not line.endswith(b"\n"):
            raise StartError(f"the X server ended at once, {child.describe_end()}:\n{child.output_tail}\n{_hint(full)}")
        return cls(child, int(line))

    @property
    def display(self) -> str:
        """The name of its display, such as ``:17``."""
        return f":{self._number}"

    async def stop(self) -> None:
        """End and reap it. May be called again."""
        await self.child.stop()
        lock = LOCKS / f".X{self._number}-lock"
        with contextlib.suppress(OSError, ValueError):
            if int(lock.read_text()) == self.child.pid:
                lock.unlink()
        path = SOCKETS / f"X{self._number}"
        # Another server may have taken the number since: remove only a socket that nobody listens on.
        with contextlib.suppress(FileNotFoundError), socket.socket(socket.AF_UNIX) as client:
            client.setblocking(False)
            try:
                client.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()
            except BlockingIOError:
                pass


def _hint(command: Sequence[str]) -> str:
    # Without the pipe and the cookie, which only exist while we run.
    cut = command.index("-displayfd")
    return f"to see what is wrong, run: {shlex.join(command[:cut])} :99"
