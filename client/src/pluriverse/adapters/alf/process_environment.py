"""``ProcessEnvironment``: one environment in a process of its own."""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import subprocess
import sys
import weakref
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Final

from pluriverse.errors import Closed, ConfigurationError, PluriverseError

from . import nest
from .alf_environment import AlfEnvironment
from .data_structures import TimeStep
from .tensor_specs import TensorSpec
from .worker import CLOSE, CRASHED, GRACE_S, REFUSED, Answer, Description

# What takes longer than starting a container on a slow machine doesn't come back.
ANSWER_S: Final = 300.0

# After being asked to close, an environment has as long as it has after its parent's end; then it is ended.
CLOSE_S: Final = GRACE_S

# A process that has closed its end of the line is about to end.
EXIT_S: Final = 1.0

# A fresh interpreter: nothing of this process is copied into it, neither threads nor locks nor what torch has open.
# It finds modules where this one does.
_PROGRAM: Final = "import sys; fd, *sys.path = sys.argv[1:]; from {module} import main; main(int(fd))"


class WorkerFailed(PluriverseError):
    """A process with an environment died, or its environment raised; says what happened."""


class Promise:
    """An answer to come."""

    def __init__(self, process: ProcessEnvironment) -> None:
        self._process: ProcessEnvironment | None = process
        self.answer: Answer | None = None

    def __call__(self) -> Any:
        """Wait for it.

        Raises:
            WorkerFailed: there is none.
            Misuse, ActionError, …: the environment refused what it was asked.
        """
        while self.answer is None:
            assert self._process is not None
            self._process.receive()
        # A process that nobody needs any more ends at once, not when circles of references are looked for.
        self._process = None
        kind, value = self.answer
        if kind == REFUSED:
            raise value
        if kind == CRASHED:
            raise WorkerFailed(value)
        return value


class ProcessEnvironment:
    """One environment in a process, which ends with this one. Answers can be waited for later.

    It isn't an ``AlfEnvironment`` itself; ``ParallelAlfEnvironment`` makes one of several.
    """

    def __init__(
        self, env_constructor: Callable[..., AlfEnvironment], env_id: int | None = None, seed: int | None = None
    ) -> None:
        """``env_constructor`` is called as ``env_constructor(env_id=…)`` in the process.

        It may be a function of a script, or a lambda; what it needs is sent along. ``seed`` seeds Python's and NumPy's
        own generators before that, and the environment after it.
        """
        self._constructor = env_constructor
        self._env_id = env_id
        self._seed = seed
        self._connection: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: deque[Promise] = deque()
        self._made: Promise | None = None
        self._description: Description | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process; None before it is started."""
        return self._process.pid if self._process is not None else None

    @property
    def description(self) -> Description:
        """What the environment says of itself; waits until it is made.

        Raises:
            WorkerFailed: it could not be made.
        """
        if self._made is None:
            raise Closed("this process was not started; call start() first")
        description = self._description or self._made()
        self._description = description
        return description

    def start(self, wait_to_start: bool = True) -> None:
        """Start the process.

        Raises:
            ConfigurationError: the constructor can't be sent to another process.
            WorkerFailed: the environment could not be made.
        """
        if self._process is not None:
            raise Closed("this process was started before; make another ProcessEnvironment")
        constructor = self._pickled()
        ours, theirs = socket.socketpair()
        with theirs:
            program = _PROGRAM.format(module=f"{__package__}.worker")
            self._process = subprocess.Popen(
                [sys.executable, "-c", program, str(theirs.fileno()), *sys.path],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._connection = Connection(ours.detach())
        self._finalizer = weakref.finalize(self, _end, os.getpid(), self._process, self._connection)
        self._made = self._ask(lambda connection: connection.send_bytes(constructor))
        if wait_to_start:
            self.wait_start()

    def wait_start(self) -> None:
        """Wait until the environment is made.

        Raises:
            WorkerFailed: it could not be.
        """
        _ = self.description

    def observation_spec(self) -> nest.Nest:
        """The specs of observations."""
        return self.description.observation_spec

    def action_spec(self) -> nest.Nest:
        """The specs of actions."""
        return self.description.action_spec

    def reward_spec(self) -> TensorSpec:
        """The spec of rewards."""
        return self.description.reward_spec

    def env_info_spec(self) -> nest.Nest:
        """The specs of ``TimeStep.env_info``."""
        return self.description.env_info_spec

    def time_step_spec(self) -> TimeStep:
        """The specs of steps."""
        return self.description.time_step_spec

    def step(self, action: nest.Nest, blocking: bool = True) -> Any:
        """Act. A ``TimeStep``, or the promise of one.

        Raises:
            WorkerFailed: none came.
        """
        promise = self.call("step", action)
        return promise() if blocking else promise

    def reset(self, blocking: bool = True) -> Any:
        """Begin an episode. A ``TimeStep``, or the promise of one.

        Raises:
            WorkerFailed: none came.
        """
        promise = self.call("reset")
        return promise() if blocking else promise

    def render(self, mode: str = "rgb_array") -> Any:
        """The environment's picture.

        Raises:
            WorkerFailed: it has none.
        """
        return self.call("render", mode)()

    def call(self, name: str, *arguments: Any) -> Promise:
        """Call a method of the environment; the promise of what it returns."""
        return self._ask(lambda connection: connection.send((name, arguments)))

    def receive(self) -> None:
        """Take in one answer; if the process has died, all that are waited for fail."""
        connection, process = self._connection, self._process
        if connection is None or process is None:
            self._fail("this environment is closed")
            return
        try:
            if connection.poll(ANSWER_S):
                self._waiting.popleft().answer = connection.recv()
                return
            self.close(grace_s=0)
            reason = f"nothing came within {ANSWER_S:g} s"
        except (EOFError, ConnectionError):
            self.close(grace_s=EXIT_S)
            reason = f"its process ended with exit code {process.returncode}"
        self._fail(f"environment {self._env_id} is lost: {reason}")

    def hang_up(self) -> None:
        """Ask the process to end, without waiting for it; ``close`` waits."""
        if self._connection is not None:
            _hang_up(self._connection)

    def close(self, grace_s: float = CLOSE_S) -> None:
        """End the process, by force after ``grace_s`` seconds; may be called repeatedly."""
        if self._finalizer is not None:
            self.hang_up()
            self._connection = None
            self._finalizer.detach()
            self._finalizer = None
            assert self._process is not None
            _wait(self._process, grace_s)

    def _ask(self, send: Callable[[Connection], None]) -> Promise:
        promise = Promise(self)
        self._waiting.append(promise)
        # If it has died, whoever waits for the answer learns of it.
        with contextlib.suppress(ConnectionError):
            if self._connection is not None:
                send(self._connection)
        return promise

    def _fail(self, reason: str) -> None:
        while self._waiting:
            self._waiting.popleft().answer = (CRASHED, reason)

    def _pickled(self) -> bytes:
        try:
            cloudpickle = importlib.import_module("cloudpickle")
        except ImportError as error:
            raise ConfigurationError(
                f"environments are sent to their processes with cloudpickle, which isn't there ({error}); "
                "install it with: pip install 'pluriverse[alf]'"
            ) from error
        try:
            return cloudpickle.dumps((self._constructor, self._env_id, self._seed))
        except (TypeError, AttributeError, ValueError) as error:
            raise ConfigurationError(
                f"{self._constructor!r} can't be sent to another process ({error}); give a function that makes the "
                "environment, instead of one that has it"
            ) from error


def _hang_up(connection: Connection) -> None:
    # It may be gone already, or this end be closed.
    with contextlib.suppress(OSError):
        connection.send((CLOSE, ()))
    connection.close()


def _wait(process: subprocess.Popen[bytes], grace_s: float) -> None:
    try:
        process.wait(grace_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _end(pid: int, process: subprocess.Popen[bytes], connection: Connection) -> None:
    """At the end of this process, or where it was forgotten to close. A forked process has copies, not its own."""
    if os.getpid() == pid:
        _hang_up(connection)
        _wait(process, CLOSE_S)
