"""One run of a program, under a keeper that ends all that it started; a thread reads its output."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from pluriverse_protocol.child_process import describe_exit

from pluriverse_server.process import ChildProcess, StartError
from pluriverse_server.sources.program.reader import ProgramOutput
from pluriverse_server.tasks import start_task

# A pipe's usual size; with the largest that anyone may ask for, a program that floods it costs fewer switches.
PIPE_BYTES: Final = 1024 * 1024

# The keeper ends everything within a second; what takes longer hangs in the kernel, or has killed its keeper.
STOP_S: Final = 5.0

# The end of its output, which goes to the log when it ends.
OUTPUT_TAIL_BYTES: Final = 4096
OUTPUT_TAIL_LINES: Final = 8
LAST_LINE_CHARS: Final = 200

# Its keeper says how a program ended as soon as it has, in under a millisecond.
SAID_S: Final = 1.0

# The end of its output is read by then, unless the machine is very busy; it has none while a snapshot of it is kept.
LAST_WORDS_S: Final = 0.1

# How many ends are remembered: a program that is gone back to ends each time.
ENDS: Final = 64


class Child:
    """A running program. ``stop`` ends it with everything that it started, and removes its folder."""

    def __init__(self, keeper: ChildProcess, pid: int, status: BinaryIO, output: _Drain) -> None:
        self.keeper = keeper
        self.pid = pid
        self.exit_code: int | None = None
        self.has_lost_keeper = False
        self.ended = asyncio.Event()
        self.output = output.output
        self._drain = output
        self._ends: dict[int, int] = {}
        self._said = threading.Condition()
        listened = asyncio.Event()
        self._listening = start_task(self._watch_keeper(listened), "program's end")
        listen = partial(self._listen, status, asyncio.get_running_loop(), listened)
        threading.Thread(target=listen, name="program's end", daemon=True).start()

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        folder: Path,
        output: ProgramOutput,
        nice: int = 0,
        network: bool = False,
    ) -> Child:
        status_end, status_write_end = os.pipe()
        output_end, output_write_end = os.pipe()
        keeper_command = [sys.executable, "-m", f"{__package__}.keeper", "--parent", str(os.getpid())]
        keeper_command += ["--status", str(status_write_end), "--output", str(output_write_end)]
        keeper_command += ["--folder", str(folder), "--nice", str(nice), "--", *command]
        try:
            keeper = await ChildProcess.start(
                "keeper",
                keeper_command,
                cwd=cwd,
                env=env,
                pass_fds=(status_write_end, output_write_end),
                network=network,
            )
        except BaseException:
            os.close(status_end)
            os.close(output_end)
            raise
        finally:
            os.close(status_write_end)
            os.close(output_write_end)
        drain = _Drain(output_end, output)
        status = os.fdopen(status_end, "rb")
        try:
            word, _, what = (await asyncio.to_thread(status.readline)).decode().strip().partition(" ")
        except BaseException:
            await keeper.stop(STOP_S)
            status.close()
            raise
        if word != "started":
            await keeper.stop(STOP_S)
            status.close()
            why = what or f"its keeper ended, {keeper.describe_end()}: {keeper.output_tail}"
            raise StartError(f"the program could not be started ({' '.join(command)}): {why}")
        return cls(keeper, int(what), status, drain)

    @property
    def printed_bytes(self) -> int:
        return self._drain.bytes

    @property
    def output_tail(self) -> str:
        end = self.output.end
        said = self.output.read(max(0, end - OUTPUT_TAIL_BYTES), OUTPUT_TAIL_BYTES)
        return "\n".join(said.decode(errors="replace").splitlines()[-OUTPUT_TAIL_LINES:])

    def become(self, pid: int) -> None:
        """Take another process below the keeper for the program from now on; it runs."""
        self.pid = pid
        self.exit_code = None
        self.ended.clear()

    def describe_end(self) -> str:
        if self.exit_code is None:
            ended = "it killed its keeper" if self.has_lost_keeper else "it was ended"
            return ended if self.ended.is_set() else "still running"
        return describe_exit(self.exit_code)

    def how_it_ended(self, pid: int) -> str:
        """Return how a process of the program ended just now, and the last line that was printed. Blocking."""
        with self._said:
            self._said.wait_for(lambda: pid in self._ends, SAID_S)
            code = self._ends.get(pid)
        self._drain.await_end(LAST_WORDS_S)
        how = "its status isn't known" if code is None else describe_exit(code)
        _, _, said = self.output_tail.rpartition("\n")
        return f"{how}; it printed last: {said[:LAST_LINE_CHARS]}" if said else how

    def end(self) -> None:
        """Send SIGTERM to all of it, SIGKILL soon after, without waiting."""
        if self.keeper.returncode is None:
            # It may have ended without our knowing yet.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.keeper.pid, signal.SIGTERM)

    async def stop(self) -> None:
        await self.keeper.stop(STOP_S)
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)
        self.ended.set()

    def _listen(self, status: BinaryIO, loop: asyncio.AbstractEventLoop, listened: asyncio.Event) -> None:
        with status:
            for line in status:
                _, pid, code = line.split()
                with self._said:
                    self._ends[int(pid)] = int(code)
                    if len(self._ends) > ENDS:
                        del self._ends[next(iter(self._ends))]
                    self._said.notify_all()
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._note_end, int(pid), int(code))
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(listened.set)

    def _note_end(self, pid: int, code: int) -> None:
        if pid == self.pid:
            self.exit_code = code
            self.ended.set()

    async def _watch_keeper(self, listened: asyncio.Event) -> None:
        await listened.wait()
        # The pipe ends if the keeper was killed, or was asked to end the program.
        self.has_lost_keeper = await self.keeper.wait() != 0
        self.ended.set()


class _Drain:
    """The thread that reads a program's output, however fast it comes, for as long as the pipe is open."""

    def __init__(self, descriptor: int, output: ProgramOutput) -> None:
        self.output = output
        self.bytes = 0
        with contextlib.suppress(PermissionError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._thread = threading.Thread(target=self._read, args=(descriptor,), name="program's output", daemon=True)
        self._thread.start()

    def await_end(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)

    def _read(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb", buffering=0) as pipe:
            while data := pipe.read(PIPE_BYTES):
                self.bytes += len(data)
                self.output.write(data)
