"""The other end of a ``ProcessEnvironment``: one environment, which does what it is told over a socket.

It is told ``(name, arguments)``, a method of the environment to call, and answers, in order. The first message is the
environment's constructor, its index and its seed; the answer to that is a ``Description``. It ends when it is told to
``close``, when its parent hangs up or dies, and when its environment raises what isn't the fault of whoever asked.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import select
import signal
import threading
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Final

import numpy as np

from pluriverse.errors import ActionError, Closed, ConfigurationError, Misuse, ResetNeeded

from . import nest
from .alf_environment import AlfEnvironment
from .data_structures import TimeStep
from .tensor_specs import TensorSpec

# How long an environment may take to close once nobody is there any more.
GRACE_S: Final = 5.0

# NumPy's old generator takes 32 bits.
_NUMPY_SEEDS: Final = 2**32

CLOSE: Final = "close"

DONE: Final = "done"
"""With what was returned."""
REFUSED: Final = "refused"
"""With an error that says what was wrong with the question."""
CRASHED: Final = "crashed"
"""With a traceback; it was the last answer."""

Answer = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Description:
    """What an environment says of itself, and won't change."""

    observation_spec: nest.Nest
    action_spec: nest.Nest
    reward_spec: TensorSpec
    env_info_spec: nest.Nest
    time_step_spec: TimeStep
    num_tasks: int
    task_names: list[str]
    metadata: dict[str, Any]
    is_single: bool
    """Whether it is one environment, with arrays."""


def describe(env: AlfEnvironment) -> Description:
    """What an environment says of itself."""
    return Description(
        env.observation_spec(),
        env.action_spec(),
        env.reward_spec(),
        env.env_info_spec(),
        env.time_step_spec(),
        env.num_tasks,
        env.task_names,
        env.metadata,
        is_single=not env.batched and not env.is_tensor_based,
    )


def main(descriptor: int) -> None:
    """Serve at a socket."""
    # The environment's own programs must not keep the socket open when this one ends.
    os.set_inheritable(descriptor, False)
    # Ctrl-C is for the parent, which then hangs up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(descriptor,), daemon=True).start()
    with Connection(descriptor) as connection, _Farewell(connection):
        _serve(connection)


class _Farewell:
    """Tells the parent what ended its environment."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is not None and not isinstance(error, EOFError | ConnectionError):
            with contextlib.suppress(ConnectionError):
                self._connection.send((CRASHED, "".join(traceback.format_exception(error))))
        return isinstance(error, Exception)


def _serve(connection: Connection) -> None:
    constructor, env_id, seed = pickle.loads(connection.recv_bytes())  # noqa: S301 - the parent's own
    if seed is not None:
        # Some environments draw from these as they are made.
        random.seed(seed)
        np.random.seed(seed % _NUMPY_SEEDS)
    env: AlfEnvironment = constructor(env_id=env_id)
    with contextlib.closing(env):
        if seed is not None:
            env.seed(seed)
        connection.send((DONE, describe(env)))
        while (message := connection.recv())[0] != CLOSE:
            name, arguments = message
            try:
                answer = (DONE, getattr(env, name)(*arguments))
            except (ActionError, Closed, ConfigurationError, Misuse, ResetNeeded) as error:
                answer = (REFUSED, error)
            connection.send(answer)


def _end_with_parent(descriptor: int) -> None:
    """End this process if the parent is gone, also when its environment doesn't come back from a step."""
    hangup = select.poll()
    hangup.register(descriptor, select.POLLRDHUP)
    hangup.poll()
    time.sleep(GRACE_S)
    os._exit(1)
