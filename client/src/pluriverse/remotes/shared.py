"""Remotes that the processes of this machine share: each takes one, and gives it back.

Who takes one connects to a socket, and has a remote for as long as that holds. It is told the remote's address in a
line of JSON; a line of its own says that the remote broke, and is answered by the address of one in its place.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import socket
import tempfile
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pluriverse import forks
from pluriverse.errors import ConfigurationError, RemoteUnavailable

from .address import Address, parse_addresses
from .health import is_silent
from .local import FOLDER_PREFIX, OWNER_FILE
from .manager import Progress, RemoteManager
from .owner import this_process

SCHEME: Final = "shared"

# An address, or the reason why there is none, with the last output of what didn't start.
MAX_LINE_BYTES: Final = 64 * 1024

# So many may connect at the same moment; they then wait in a thread each.
BACKLOG: Final = 1024

# When there are no descriptors left.
RETRY_S: Final = 0.1


class Shared:
    """Remotes for the environments of this process and others of this machine: ``remotes=shared.url`` takes one.

    Who closes the environment, or ends, gives it back. One that died is replaced; where none is free, it is waited for.
    """

    def __init__(self, manager: RemoteManager, progress: Progress) -> None:
        """Start the remotes of ``manager``, which is closed with this; blocks until all are ready.

        Raises:
            RemoteUnavailable: one could not be started.
        """
        self._owner = forks.Owner("what shares these remotes")
        self._manager = manager
        self._closed = False
        self._free: deque[int] = deque()
        self._changed = threading.Condition()
        self._listener = forks.keep(socket.socket(socket.AF_UNIX))
        try:
            # Of who is killed, the next that starts local remotes removes it.
            self._folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
            (self._folder / OWNER_FILE).write_text(this_process())
            path = os.fspath(self._folder / SCHEME)
            self._listener.bind(path)
        except OSError as error:
            raise RemoteUnavailable(f"no socket can be made: {error}; export TMPDIR=FOLDER") from error
        self._listener.listen(BACKLOG)
        self.url: str = f"{SCHEME}:{path}"
        atexit.register(self.close)
        try:
            self._addresses = list(manager.start(progress))
        except BaseException:
            self.close()
            raise
        self._free.extend(range(manager.n))
        threading.Thread(target=self._accept, name="pluriverse: shared remotes", daemon=True).start()

    def close(self) -> None:
        """Remove the remotes that were started; may be called repeatedly, and does nothing in a fork."""
        with self._changed:
            if self._closed or not self._owner.is_here:
                return
            self._closed = True
            self._changed.notify_all()
        with contextlib.suppress(OSError):  # it isn't connected, but who waits for connections is woken
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._manager.close()
        atexit.unregister(self.close)

    def __enter__(self) -> Shared:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                taker = forks.keep(self._listener.accept()[0])
            except OSError:
                if self._closed:
                    return
                time.sleep(RETRY_S)
                continue
            threading.Thread(target=self._lend, args=(taker,), name="pluriverse: shared", daemon=True).start()

    def _lend(self, taker: socket.socket) -> None:
        with taker:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._free)
                if self._closed:
                    return
                index = self._free.popleft()
            try:
                broken = is_silent(self._addresses[index])
                while True:
                    taker.sendall(self._tell(index, broken) + b"\n")
                    if not taker.recv(MAX_LINE_BYTES):
                        break
                    broken = True
            except OSError:
                pass  # it has ended
            finally:
                with self._changed:
                    self._free.append(index)
                    self._changed.notify()

    def _tell(self, index: int, broken: bool) -> bytes:
        try:
            if broken:
                self._addresses[index] = self._manager.replace(index)
        except (RemoteUnavailable, ConfigurationError) as error:
            return json.dumps({"error": str(error)}).encode()
        address = self._addresses[index]
        return json.dumps({"url": address.url, "password": address.password}).encode()


class Borrowed:
    """A ``RemoteManager`` of one of the remotes that a process shares."""

    n: int = 1
    # Who had it before may not have been noticed to be gone.
    takes_over: bool = True

    def __init__(self, path: str, timeout_s: float) -> None:
        """``path`` is of its socket; one that is free is waited for for ``timeout_s`` seconds."""
        self._path = path
        self._timeout_s = timeout_s
        self._line = forks.keep(socket.socket(socket.AF_UNIX))

    def start(self, progress: Progress) -> Sequence[Address]:
        progress(0, "waiting for one that is free")
        self._line.settimeout(self._timeout_s)
        try:
            self._line.connect(self._path)
            address = self._told()
        except TimeoutError:
            raise RemoteUnavailable(f"no shared remote became free within {self._timeout_s:g} s") from None
        except OSError as error:
            raise RemoteUnavailable(f"no remotes are shared at {self._path}: {error}") from error
        self._line.settimeout(None)
        progress(0, f"ready at {address}")
        return [address]

    def replace(self, index: int) -> Address:
        try:
            self._line.sendall(b"\n")
            return self._told()
        except OSError as error:
            raise RemoteUnavailable(f"no remotes are shared at {self._path} any more: {error}") from error

    def close(self) -> None:
        with contextlib.suppress(OSError):  # who waits for a remote is woken
            self._line.shutdown(socket.SHUT_RDWR)
        self._line.close()

    def _told(self) -> Address:
        with self._line.makefile("rb") as file:
            line = file.readline(MAX_LINE_BYTES)
        if not line:
            raise RemoteUnavailable("the shared remotes were closed")
        told = json.loads(line)
        if "error" in told:
            raise RemoteUnavailable(told["error"])
        return parse_addresses(told["url"], told["password"])[0]
