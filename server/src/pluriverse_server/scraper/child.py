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
from pathlib import Path
from typing import Final

from pluriverse_protocol.child_process import describe_exit

from pluriverse_server.process import ChildProcess, Pipe, StartError
from pluriverse_server.sources.program.reader import ProgramOutput
from pluriverse_server.tasks import start_task

# A pipe's usual size; with the largest that anyone may ask for, a program that floods it costs fewer switches.
PIPE_BYTES: Final = 1024 * 1024

# The keeper ends everything within a second; what takes longer hangs in the kernel, or has killed its keeper.
STOP_S: Final = 5.0

# The end of its output, which goes to the log when it ends.
OUTPUT_TAIL_BYTES: Final = 4096
OUTPUT_TAIL_LINES: Final = 8


class Child:
    """A running program. ``stop`` ends it with everything that it started, and removes its folder."""

    def __init__(self, keeper: ChildProcess, pid: int, status: asyncio.StreamReader, output: _Drain) -> None:
        self.keeper = keeper
        self.pid = pid
        self.exit_code: int | None = None
        self.has_lost_keeper = False
        self.ended = asyncio.Event()
        self.output = output.output
        self._drain = output
        self._listening = start_task(self._listen(status), "program's end")

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
        status = await Pipe.open()
        output_end, output_write_end = os.pipe()
        keeper_command = [sys.executable, "-m", f"{__package__}.keeper", "--parent", str(os.getpid())]
        keeper_command += ["--status", str(status.write_end), "--output", str(output_write_end)]
        keeper_command += ["--folder", str(folder), "--nice", str(nice), "--", *command]
        try:
            keeper = await ChildProcess.start(
                "keeper",
                keeper_command,
                cwd=cwd,
                env=env,
                pass_fds=(status.write_end, output_write_end),
                network=network,
            )
        except BaseException:
            status.close()
            os.close(output_end)
            raise
        finally:
            status.close_write_end()
            os.close(output_write_end)
        drain = _Drain(output_end, output)
        try:
            word, _, what = (await status.stream.readline()).decode().strip().partition(" ")
        except BaseException:
            await keeper.stop(STOP_S)
            raise
        if word != "started":
            await keeper.stop(STOP_S)
            why = what or f"its keeper ended, {keeper.describe_end()}: {keeper.output_tail}"
            raise StartError(f"the program could not be started ({' '.join(command)}): {why}")
        return cls(keeper, int(what), status.stream, drain)

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

    async def _listen(self, status: asyncio.StreamReader) -> None:
        while line := (await status.readline()).decode().split():
            if int(line[1]) == self.pid:
                self.exit_code = int(line[2])
                self.ended.set()
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
        threading.Thread(target=self._read, args=(descriptor,), name="program's output", daemon=True).start()

    def _read(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb", buffering=0) as pipe:
            while data := pipe.read(PIPE_BYTES):
                self.bytes += len(data)
                self.output.write(data)
