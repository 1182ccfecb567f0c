"""Hands the connections of agents that play in lockstep to the program, which answers their steps itself."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path

from pluriverse_protocol import step_channel as step_channels

from pluriverse_server.process import start_error

NO_PROGRAM = "the program isn't running; wait until an episode in lockstep runs"


class StepChannelSocket:
    """Listens on ``path`` for one program at a time; a new one takes the place of the last."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._listener: socket.socket | None = None
        self._program: socket.socket | None = None

    def start(self) -> None:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            listener.bind(str(self.path))
            # For programs with a user of their own, whose group its folder then has.
            self.path.chmod(0o660)
            listener.listen(1)
        except OSError as error:
            listener.close()
            raise start_error(f"the socket {self.path}", error) from error
        self._listener = listener
        asyncio.get_running_loop().add_reader(listener, self._accept)

    def stop(self) -> None:
        self.hang_up()
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = None
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()

    @property
    def connected(self) -> bool:
        return self._program is not None

    def hang_up(self) -> None:
        if self._program is not None:
            self._program.close()
            self._program = None

    def hand_over(self, step_channel: socket.socket, slot: int = 0, view: step_channels.View | None = None) -> None:
        """Give the program a connection to one of its slots, which stays open here as well until it is closed.

        ``view`` is what is wanted of its pictures.
        """
        if self._program is None:
            raise ConnectionError(NO_PROGRAM)
        try:
            socket.send_fds(self._program, [step_channels.pack_handover(slot, view)], [step_channel.fileno()])
        except OSError as error:
            self.hang_up()
            raise ConnectionError(NO_PROGRAM) from error

    def take_back(self) -> None:
        """Have the program, if there is one, hang up the connections that it has: words come without one."""
        if self._program is not None:
            try:
                self._program.send(bytes(step_channels.HANDOVER_BYTES))
            except OSError:
                self.hang_up()

    def _accept(self) -> None:
        assert self._listener is not None
        with contextlib.suppress(BlockingIOError, InterruptedError):
            program, _ = self._listener.accept()
            program.setblocking(False)
            self.hang_up()
            self._program = program
