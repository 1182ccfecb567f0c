"""Vectors of remotes in the actors of a Ray cluster, stepped by one learner as EnvPool is: send, and receive."""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self, cast

import numpy as np
import ray as ray_package
from numpy.typing import NDArray
from ray.exceptions import RayError, RayTaskError

from pluriverse import validation
from pluriverse.errors import Closed, ConfigurationError, Misuse, RemoteError, RemoteFailed, RemoteUnavailable
from pluriverse.forks import Owner
from pluriverse.remotes.ray import BEGIN_S, STOP_S, RayOptions, connect, explained, reserved, why_no_place

from .batch import Batch, VectorSpec, lost_batch
from .node_vector import NodeVector

log: Final = logging.getLogger(__name__)

# Most of its types are unknown to type checkers.
ray: Final[Any] = ray_package

# What one process decodes at 60 frames a second with room to spare; the README has the figure.
REMOTES: Final = 24

# A frame comes within milliseconds, a new vector within a minute.
RECEIVE_S: Final = 120.0

# Before a vector that could not be begun is tried again.
RETRY_S: Final = 5.0

MAX_VECTORS: Final = 1024


class RayVector:
    """The environments of several vectors, each a process on some node; numbered through, from 0 to ``n`` - 1.

    ``recv`` returns what the first vector to answer has, without a copy if it is on this node; ``send`` acts on some
    environments. A vector sends its next answer once it was sent actions, so the object store holds one batch of each.
    One that dies, alone or with its node, is restarted, elsewhere if need be; the others continue. For one thread.
    """

    def __init__(
        self,
        env_id: str | None,
        vectors: int,
        *,
        remotes: int | str | Sequence[int | str] = REMOTES,
        reserve: RayOptions | None = None,
        **options: Any,
    ) -> None:
        """Start the vectors; blocks until all of them play.

        Args:
            env_id: such as ``"gym-core.Pong-v3"``; None for whatever the remotes play.
            vectors: how many processes.
            remotes: of each vector, as in ``pluriverse.make``: a number, ``"docker:24"`` and ``"local:24"`` start them
                on its node, ``"ray:24"`` anywhere. A list has one for each vector.
            reserve: what each vector's process takes of its node (``cpu``, ``memory``, ``resource``), and ``place_s``
                and ``address``; one core, if not given. Remotes of its own node aren't in it.
            options: those of the interfaces' core, such as ``pictures``, ``frame_skip``, ``actions`` and ``clock``.

        Raises:
            ConfigurationError: there is no cluster, or not one list of remotes for each vector.
            RemoteUnavailable: not all vectors were placed, or one could not begin; with the reason.
        """
        vectors = validation.integer("vectors", vectors, 1, MAX_VECTORS)
        each = [remotes] * vectors if isinstance(remotes, int | str) else list(remotes)
        if len(each) != vectors:
            raise ConfigurationError(f"got remotes for {len(each)} vectors; expected {vectors}")
        self._reserve = reserve if reserve is not None else RayOptions(cpu=1.0)
        connect(self._reserve.address)
        self._kind = ray.remote(NodeVector).options(**reserved(self._reserve))
        self._make = [(env_id, of_one, options) for of_one in each]
        self._closed = False
        self._owner = Owner("this vector")
        # The calls that were not received yet: of which vector, and for which environments (none: all, which begin).
        self._asked: dict[Any, tuple[int, list[int]]] = {}
        # The environments that wait for an action.
        self._idle: set[int] = set()
        self._actors = [self._kind.remote(*make) for make in self._make]
        self._beginning: set[int] = set()
        try:
            self._specs = self._begin_all()
        except BaseException:
            self.close()
            raise
        ends = list(itertools.accumulate(spec.n for spec in self._specs))
        self._ids = [np.arange(end - spec.n, end, dtype=np.int32) for end, spec in zip(ends, self._specs, strict=True)]
        self._ends = np.array(ends)

    @property
    def n(self) -> int:
        return int(self._ends[-1])

    @property
    def spec(self) -> VectorSpec:
        return replace(self._specs[0], n=self.n)

    def recv(self, timeout_s: float = RECEIVE_S) -> Batch:
        """Return the answers of one vector, the first to have some; at first, the first observations of its episodes.

        Raises:
            Misuse: all environments wait for an action.
            ActionError: an action that was sent to the vector was invalid; none of them was done.
            RemoteFailed: no vector answered within ``timeout_s`` seconds.
        """
        self._require_open()
        deadline = time.monotonic() + timeout_s
        while True:
            if not self._asked:
                raise Misuse("all environments wait for an action; send some before the next recv")
            ready, _ = ray.wait(list(self._asked), num_returns=1, timeout=max(0.0, deadline - time.monotonic()))
            if not ready:
                raise RemoteFailed(f"no vector answered within {timeout_s:g} s")
            batch = self._take(ready[0])
            if batch is not None:
                return batch

    def send(self, actions: Sequence[Any] | NDArray[Any], env_id: NDArray[Any] | Sequence[int]) -> None:
        """Act on some environments: ``actions[i]`` is ``env_id[i]``'s; the other ones of their vectors wait longer.

        An action for an environment whose episode is over is ignored, and begins the next.

        Raises:
            Misuse: there aren't as many of both, or an environment doesn't wait for an action; nothing was sent.
        """
        self._require_open()
        ids = np.asarray(env_id)
        if ids.ndim != 1 or ids.dtype.kind not in "iu" or len(ids) != len(actions):
            raise Misuse(f"env_id is {env_id!r:.80} for {len(actions)} actions; expected an integer for each")
        numbers = cast("list[int]", ids.tolist())
        away = {number for vector in self._beginning for number in self._ids[vector].tolist()}
        wrong = sorted(set(numbers) - self._idle - away)
        if wrong or len(set(numbers)) < len(numbers):
            raise Misuse(f"environments {wrong or numbers!r:.80} don't each wait for one action; recv comes first")
        chosen: dict[int, dict[int, Any]] = {}
        for number, vector, action in zip(
            numbers, np.searchsorted(self._ends, ids, side="right"), actions, strict=True
        ):
            chosen.setdefault(int(vector), {})[number] = action
        for vector in chosen.keys() - self._beginning:
            of_rows = {number - int(self._ids[vector][0]): action for number, action in chosen[vector].items()}
            self._asked[self._actors[vector].step.remote(of_rows)] = (vector, list(chosen[vector]))
        self._idle.difference_update(numbers)

    def close(self) -> None:
        """End the vectors, and their remotes; may be called repeatedly."""
        if self._closed or not self._owner.is_here or not ray.is_initialized():
            return
        self._closed = True
        with contextlib.suppress(RayError):
            closing = [actor.close.remote() for actor in self._actors]
            ray.wait(closing, num_returns=len(closing), timeout=STOP_S)
        for actor in self._actors:
            with contextlib.suppress(RayError):
                ray.kill(actor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin_all(self) -> list[VectorSpec]:
        places, place_s = [actor.ping.remote() for actor in self._actors], self._reserve.place_s
        placed, missing = ray.wait(places, num_returns=len(places), timeout=place_s)
        if missing:
            reason = why_no_place(self._reserve)
            raise RemoteUnavailable(f"{len(placed)} of {len(places)} vectors were placed in {place_s:g} s: {reason}")
        for vector in range(len(self._actors)):
            self._begin(vector)
        specs: list[VectorSpec] = []
        for ref, (vector, _) in self._asked.items():
            with explained(f"vector {vector}"):
                specs.append(ray.get(ref, timeout=BEGIN_S)[0])
        if len({spec.shape for spec in specs}) > 1:
            raise ConfigurationError("the vectors' pictures differ in size; expected remotes that play the same")
        return specs

    def _begin(self, vector: int, delay_s: float = 0.0) -> None:
        self._beginning.add(vector)
        self._asked[self._actors[vector].begin.remote(delay_s)] = (vector, [])

    def _take(self, ref: Any) -> Batch | None:
        """Return the answer of a vector; None: it could not be begun, and tries again."""
        vector, numbers = self._asked[ref]
        ids = self._ids[vector]
        try:
            answer: Any = ray.get(ref)
        except RayError as error:
            del self._asked[ref]
            cause: Any = cast("Any", error).cause if isinstance(error, RayTaskError) else error
            begun = vector not in self._beginning
            if begun and not isinstance(cause, RayError | RemoteError):
                self._idle.update(numbers)
                raise cause from error
            log.warning("vector %d is lost and is being restarted: %s", vector, cause)
            self._replace(vector, 0.0 if begun else RETRY_S)
            return lost_batch(ids, self._specs[vector].shape) if begun else None
        del self._asked[ref]
        if vector in self._beginning:
            self._beginning.remove(vector)
            self._specs[vector], answer = answer
        batch: Batch = replace(answer, env_id=ids[answer.env_id])
        self._idle.update(batch.env_id.tolist())
        return batch

    def _replace(self, vector: int, delay_s: float) -> None:
        self._idle.difference_update(self._ids[vector].tolist())
        with contextlib.suppress(RayError):
            ray.kill(self._actors[vector])
        self._actors[vector] = self._kind.remote(*self._make[vector])
        self._begin(vector, delay_s)

    def _require_open(self) -> None:
        self._owner.require()
        if self._closed:
            raise Closed("the vector is closed")
