"""The process of a ``ProcessEnvironment``: one environment, whose methods its parent calls over a socket.

The first message is the environment's constructor, its index and its seed, and is answered with a ``Description``.
The others are ``(name, arguments)`` of a method, answered in order. The process ends when it is asked to ``close``,
when its parent hangs up or dies, and when the environment raises what isn't the caller's fault.
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
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np

from pluriverse.errors import ActionError, Closed, ConfigurationError, Misuse, ResetNeeded

from .alf_environment import AlfEnvironment, Description

# How long an environment may take to close after its parent is gone.
GRACE_S: Final = 5.0

# NumPy's old generator takes 32 bits.
_NUMPY_SEEDS: Final = 2**32

CLOSE: Final = "close"

DONE: Final = "done"
"""With what the method returned."""
REFUSED: Final = "refused"
"""With the error of a wrong call."""
CRASHED: Final = "crashed"
"""With a traceback; the last answer."""

Answer = tuple[str, Any]


def main(descriptor: int) -> None:
    """Serve one environment at a socket."""
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
                connection.send((CRASHED, "".join(traceback.format_exception(error))))
            raise SystemExit(1) from error


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
        connection.send((DONE, Description.of(env)))
        while (message := connection.recv())[0] != CLOSE:
            name, arguments = message
            try:
                answer: Answer = (DONE, getattr(env, name)(*arguments))
            except (ActionError, Closed, ConfigurationError, Misuse, ResetNeeded) as error:
                answer = (REFUSED, error)
            connection.send(answer)


def _end_with_parent(descriptor: int) -> None:
    """End this process if the parent is gone, also when its environment is stuck in a step."""
    hangup = select.poll()
    hangup.register(descriptor, select.POLLRDHUP)
    hangup.poll()
    time.sleep(GRACE_S)
    os._exit(1)
