"""Remotes as process trees of this machine, each a child of this process that dies with it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from pluriverse_protocol.child_process import (
    SETPRIV,
    SETPRIV_PACKAGE,
    child_environment,
    describe_exit,
    dying_with_parent,
)
from pluriverse_protocol.rfb.security import generate_password

from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.runtimes import runtime_folder

from .address import PASSWORD_CHARS, Address, hide_password
from .engine import STARTED_HERE_AT_ONCE, Engine, EngineOptions
from .owner import is_dead, this_process

SERVER: Final = "pluriverse_server"
HOST: Final = "127.0.0.1"

# A remote that can't start as asked ends at once, and says why behind its name: something isn't installed, or another
# program has taken a port meanwhile.
NOT_AS_ASKED: Final = 2
COMMAND: Final = "pluriverse-server"

# A remote stops its program and its screen within two seconds; one that doesn't is killed.
STOP_S: Final = 5.0

FOLDER_PREFIX: Final = "pluriverse-local-"
OWNER_FILE: Final = "owner"

# Enough for a remote's error message and some lines of a traceback.
OUTPUT_TAIL_CHARS: Final = 2000


@dataclass(frozen=True, slots=True, eq=False)
class LocalRemote:
    address: Address
    process: subprocess.Popen[bytes]
    folder: Path
    output: IO[bytes]

    @property
    def lost_a_port(self) -> bool:
        """Whether it could not start since another program has one of its ports."""
        ports = (self.address.vnc_port, self.address.rewarder_port)
        host = self.address.host
        return self.process.poll() == NOT_AS_ASKED and any(port is not None and is_taken(port, host) for port in ports)

    def require_running(self) -> None:
        """Raise RemoteUnavailable, with its last output, unless it runs; ConfigurationError if it can't as asked."""
        if self.process.poll() is not None:
            if self.process.returncode == NOT_AS_ASKED and not self.lost_a_port:
                raise ConfigurationError(self.output_tail().rpartition(f"{COMMAND}: ")[2])
            how = describe_exit(self.process.returncode)
            raise RemoteUnavailable(f"the remote ended before it was ready, {how}:\n{self.output_tail()}")

    def output_tail(self) -> str:
        self.output.seek(0)
        output = hide_password(self.output.read().decode(errors="replace"), self.address.password)
        return output[-OUTPUT_TAIL_CHARS:].strip()

    def ask_to_stop(self) -> None:
        if self.process.poll() is None:
            # A stopped process takes no SIGTERM before it goes on.
            for signum in (signal.SIGTERM, signal.SIGCONT):
                self._signal(signum)

    def stop(self) -> None:
        """Stop it and its children, and remove its temporary files."""
        if self.process.poll() is None:
            self.ask_to_stop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_S)
        self._signal(signal.SIGKILL)
        self.process.wait()
        self.output.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _signal(self, signum: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signum)


@dataclass(frozen=True, kw_only=True)
class LocalOptions(EngineOptions):
    """``host``: this machine's address to listen on, by which others reach it."""

    host: str = HOST


class LocalEngine(Engine[LocalRemote]):
    Options = LocalOptions
    STARTED_AT_ONCE = STARTED_HERE_AT_ONCE
    what = "a local process"

    def __init__(self, runtime: str, env_id: str, options: LocalOptions, *arguments: str) -> None:
        """Start nothing yet; raise ``ConfigurationError`` unless the daemon and the runtime's folder are here.

        ``arguments``: further ones of each remote's command.
        """
        self._host = options.host
        reason = why_unavailable(runtime)
        if reason is not None:
            raise ConfigurationError(f"a local remote can't be started: {reason}")
        self._folder = runtime_folder(runtime)
        self._env_id = env_id
        self._arguments = arguments
        sweep()
        # The kernel kills a child when the *thread* that forked it ends, so one thread forks them all, and stays.
        self._forker = ThreadPoolExecutor(1, thread_name_prefix="pluriverse: local remotes")

    def make(self) -> LocalRemote:
        try:
            forking = self._forker.submit(self._fork)
        except RuntimeError:  # it was shut down
            raise RemoteUnavailable("the environment is being closed") from None
        return forking.result()

    def may_try_again(self, remote: LocalRemote) -> bool:
        """Return whether another program took one of its ports."""
        return remote.lost_a_port

    def stop_all(self, remotes: Sequence[LocalRemote]) -> None:
        """Stop remotes; without threads, which can't be started any more when Python exits."""
        for remote in remotes:
            remote.ask_to_stop()
        for remote in remotes:
            remote.stop()

    def close(self) -> None:
        self._forker.shutdown()

    def _fork(self) -> LocalRemote:
        try:
            vnc_port, rewarder_port = free_ports(2, self._host)
        except OSError as error:
            raise RemoteUnavailable(f"a local remote can't listen on {self._host}: {error}") from error
        address = Address(self._host, vnc_port, rewarder_port, generate_password(PASSWORD_CHARS))
        # Its temporary files go with it even if it is killed; those of a killed owner with the next sweep.
        try:
            folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
            (folder / OWNER_FILE).write_text(this_process())
            output = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        except OSError as error:
            raise RemoteUnavailable(f"temporary files can't be written: {error}; export TMPDIR=FOLDER") from error
        ports = [
            "--host",
            self._host,
            "--vnc-port",
            str(address.vnc_port),
            "--rewarder-port",
            str(address.rewarder_port),
        ]
        command = [sys.executable, "-m", SERVER, "run", str(self._folder), *ports, *self._arguments]
        settings = {"PLURIVERSE_PASSWORD": address.password or "", "PLURIVERSE_ENV": self._env_id}
        settings |= {"PLURIVERSE_FIRST_CLOCK": self.clock, "TMPDIR": str(folder)}
        try:
            process = subprocess.Popen(
                dying_with_parent(command, signal.SIGTERM),
                env=child_environment(os.environ, settings, network=True),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            output.close()
            shutil.rmtree(folder)
            raise RemoteUnavailable(f"a local remote could not be started: {error}") from error
        return LocalRemote(address, process, folder, output)


def why_unavailable(runtime: str) -> str | None:
    """Return None if remotes of ``runtime`` can be started here, else why not and what fixes it."""
    if importlib.util.find_spec(SERVER) is None:
        return "the daemon isn't installed; install it with: pip install pluriverse-server"
    if shutil.which(SETPRIV) is None:
        return f"the program {SETPRIV!r} was not found on PATH; install it with: apt-get install {SETPRIV_PACKAGE}"
    try:
        runtime_folder(runtime)
    except ConfigurationError as error:
        return str(error)
    return None


def sweep() -> None:
    """Remove the temporary files of remotes whose owner was killed; the remotes themselves have died with it."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError):
            if is_dead((folder / OWNER_FILE).read_text()):
                shutil.rmtree(folder, ignore_errors=True)


def free_ports(count: int, host: str = HOST) -> list[int]:
    """Return different TCP ports of an address of this machine on which nothing listens at the moment."""
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((host, 0))
        return [probe.getsockname()[1] for probe in probes]


def is_taken(port: int, host: str = HOST) -> bool:
    """Return whether something listens on a TCP port of an address of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed sockets there don't block it
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False
