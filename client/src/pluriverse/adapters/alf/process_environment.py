"""``ProcessEnvironment``: one environment in a process of its own, whose methods are called over a socket.

The first message is the environment's constructor, its index and its seed, and is answered with a ``Description``.
The others are ``(name, arguments, options)`` of a method, answered in order; without arguments, of an attribute. The
process ends when it is asked to ``close``, when its parent hangs up or dies, and when the environment raises what isn't
the caller's fault.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
import weakref
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Final, Literal

import numpy as np

from pluriverse import forks
from pluriverse.errors import ActionError, Closed, ConfigurationError, Misuse, PluriverseError, ResetNeeded, needed
from pluriverse.forks import Owner

from . import nest, tensors
from .alf_environment import AlfEnvironment, Description
from .nest import Nest
from .tensors import Refused

# What takes longer than starting a container on a slow machine doesn't come back.
ANSWER_S: Final = 300.0

# A process that has closed its end of the socket is about to end.
EXIT_S: Final = 1.0

# A fresh interpreter, which gets no thread, lock or memory of this process. It finds modules where this one does.
_PROGRAM: Final = f"import sys; fd, *sys.path = sys.argv[1:]; from {__name__} import serve; serve(int(fd))"

# How long an environment may take to close after its parent is gone.
GRACE_S: Final = 5.0

# What NumPy's and torch's libraries read as they are loaded.
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# NumPy's old generator takes 32 bits.
_NUMPY_SEEDS: Final = 2**32

CLOSE: Final = "close"


class WorkerFailed(PluriverseError):
    """A process with an environment died, or its environment raised; says what happened."""


class Promise:
    """An answer to come; call it to wait for it, and for the error of a process that died or refused the call."""

    def __init__(self, process: ProcessEnvironment) -> None:
        self._process: ProcessEnvironment | None = process
        self.answer: tuple[Literal["returned", "raised"], Any] | None = None

    def __call__(self) -> Any:
        """Return the answer."""
        while self.answer is None:
            assert self._process is not None
            self._process.receive()
        # Without this circle of references a process that is dropped ends at once.
        self._process = None
        outcome, value = self.answer
        if outcome == "raised":
            raise value
        return value


class ProcessEnvironment:
    """One environment in a process, which ends with this one. Answers can be waited for later.

    It has an ``AlfEnvironment``'s attributes and methods. Whatever waits for the process raises ``WorkerFailed`` if it
    died or its environment raised.
    """

    def __init__(
        self,
        env_constructor: Callable[..., AlfEnvironment],
        env_id: int | None = None,
        flatten: bool = False,
        fast: bool = False,
        num_envs: int = 0,
        torch_num_threads_per_env: int | None = 1,
        start_method: str = "fork",
        name: str = "",
        seed: int | None = None,
    ) -> None:
        """Prepare a process, in which ``start`` calls ``env_constructor(env_id=…)``, sent with what it needs.

        NumPy and torch compute with ``torch_num_threads_per_env`` threads there; None: as many as they like. ``seed``
        is of Python's and NumPy's own generators, before the environment is made, and of the environment. The others
        change nothing: there is one way to start a process, and one to talk to it.
        """
        self.constructor = env_constructor
        self.env_id = env_id
        self._seed = seed
        threads = {} if torch_num_threads_per_env is None else dict.fromkeys(_THREADS, str(torch_num_threads_per_env))
        self._variables = {**os.environ, **threads}
        self._connection: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting = deque[Promise]()
        self._made: Promise | None = None
        self._finalizer: weakref.finalize[..., ProcessEnvironment] | None = None
        self._owner = Owner("this environment")

    @property
    def pid(self) -> int | None:
        """The process's id; None before it is started."""
        return self._process.pid if self._process is not None else None

    @property
    def description(self) -> Description:
        """The environment's description; waits until it is made."""
        if self._made is None:
            raise Closed("this process was not started; call start() first")
        return self._made()

    def start(self, wait_to_start: bool = True) -> None:
        """Start the process; raise ``Refused`` if the constructor can't be sent to it."""
        if self._process is not None:
            raise Closed("this process was started before; make another ProcessEnvironment")
        self._owner = Owner("this environment")
        first_message = self._pickled()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, str(theirs.fileno()), *sys.path],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=self._variables,
            )
        self._connection = forks.keep(Connection(ours.detach()))
        self._finalizer = weakref.finalize(self, _end, self._owner, self._process, self._connection, GRACE_S)
        self._made = self._ask(first_message)
        if wait_to_start:
            self.wait_start()

    def wait_start(self) -> None:
        """Wait until the environment is made."""
        _ = self.description

    def step(self, action: Nest, blocking: bool = True) -> Any:
        """Act; return a ``TimeStep``, or the ``Promise`` of one."""
        promise = self.call("step", action)
        return promise() if blocking else promise

    def reset(self, blocking: bool = True) -> Any:
        """Begin an episode; return a ``TimeStep``, or the ``Promise`` of one."""
        promise = self.call("reset")
        return promise() if blocking else promise

    def call(self, name: str, *args: object, **kwargs: object) -> Promise:
        """Call a method of the environment; return the promise of its result."""
        arrays = nest.map_structure(lambda leaf: tensors.as_array(leaf) if tensors.is_torch(leaf) else leaf, args)
        return self._ask((name, arrays, kwargs))

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the environment, or a function that calls its method and waits."""
        if name.startswith("__"):
            raise AttributeError(f"ProcessEnvironment has no attribute {name!r}")
        kind, value = self._ask((name,))()
        if kind == "missing":
            raise AttributeError(f"the environment has no attribute {name!r}")

        def method(*args: Any, **kwargs: Any) -> Any:
            return self.call(name, *args, **kwargs)()

        return value if kind == "value" else method

    def receive(self) -> None:
        """Receive one answer; if the process has died, all that are waited for fail."""
        self._owner.require()
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
        self._fail(f"environment {self.env_id} is lost: {reason}")

    def hang_up(self) -> None:
        """Ask the process to end, without waiting for it; ``close`` waits."""
        if self._connection is not None:
            _hang_up(self._connection)

    def close(self, grace_s: float = GRACE_S) -> None:
        """End the process, by force after ``grace_s`` seconds; may be called repeatedly."""
        if self._finalizer is not None and self._finalizer.detach() is not None:
            assert self._process is not None
            assert self._connection is not None
            _end(self._owner, self._process, self._connection, grace_s)
            self._connection = None

    def _ask(self, message: object) -> Promise:
        self._owner.require()
        promise = Promise(self)
        self._waiting.append(promise)
        # If it has died, the promise says so.
        with contextlib.suppress(ConnectionError):
            if self._connection is not None:
                _send(self._connection, message)
        return promise

    def _fail(self, reason: str) -> None:
        while self._waiting:
            self._waiting.popleft().answer = ("raised", WorkerFailed(reason))

    def _pickled(self) -> bytes:
        with needed("cloudpickle, which sends environments to their processes,", extra="alf"):
            cloudpickle = importlib.import_module("cloudpickle")
        try:
            return cloudpickle.dumps((self.constructor, self.env_id, self._seed))
        except (TypeError, AttributeError, ValueError) as error:
            raise Refused(
                f"{self.constructor!r} can't be sent to another process ({error}); give a function that makes the "
                "environment, instead of one that has it"
            ) from error


def _send(connection: Connection, message: object) -> None:
    # As plain bytes: torch changes how connections send its tensors, so that processes must share a secret for them.
    connection.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))


def _hang_up(connection: Connection) -> None:
    # The process may be gone already, or this end be closed.
    with contextlib.suppress(OSError):
        _send(connection, (CLOSE,))
    connection.close()


def _end(owner: Owner, process: subprocess.Popen[bytes], connection: Connection, grace_s: float) -> None:
    if not owner.is_here:
        return
    _hang_up(connection)
    try:
        process.wait(grace_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def serve(descriptor: int) -> None:
    """Run one environment in this process, at a socket."""
    # The environment's own programs must not keep the socket open when this one ends.
    os.set_inheritable(descriptor, False)
    # Ctrl-C is for the parent, which then hangs up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(descriptor,), daemon=True).start()
    with Connection(descriptor) as connection:
        try:
            _serve(connection)
        except (EOFError, ConnectionError):
            return
        except BaseException as error:
            with contextlib.suppress(ConnectionError):
                _send(connection, ("raised", WorkerFailed("".join(traceback.format_exception(error)))))
            raise SystemExit(1) from error


def _serve(connection: Connection) -> None:
    constructor, env_id, seed = pickle.loads(connection.recv())  # noqa: S301 - the parent's own
    if seed is not None:
        # Some environments draw from these as they are made.
        random.seed(seed)
        np.random.seed(seed % _NUMPY_SEEDS)
    env: AlfEnvironment = constructor(env_id=env_id)
    with contextlib.closing(env):
        if seed is not None:
            env.seed(seed)
        _send(connection, ("returned", Description.of(env)))
        while (message := connection.recv())[0] != CLOSE:
            try:
                answer = ("returned", _answer(env, *message))
            except (ActionError, Closed, ConfigurationError, Misuse, ResetNeeded) as error:
                answer = ("raised", error)
            _send(connection, answer)


def _answer(env: AlfEnvironment, name: str, *call: Any) -> Any:
    if call:
        args, kwargs = call
        return getattr(env, name)(*args, **kwargs)
    if not hasattr(env, name):
        return "missing", None
    value = getattr(env, name)
    return ("method", None) if callable(value) else ("value", value)


def _end_with_parent(descriptor: int) -> None:
    """End this process if the parent is gone, also when its environment is stuck in a step."""
    hangup = select.poll()
    hangup.register(descriptor, select.POLLRDHUP)
    hangup.poll()
    time.sleep(GRACE_S)
    os._exit(1)
