"""One vector of remotes, as an actor of a node: acts on the given ones, and gathers those that answer in time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import RECEIVE_S, Core
from pluriverse.errors import Misuse, RemoteFailed

from .batch import Batch, VectorSpec


class NodeVector:
    """Calls come one after the other; the rows of its batches are numbered from 0."""

    def __init__(self, env_id: str | None, remotes: int | str, options: dict[str, Any]) -> None:
        """Start nothing yet. The arguments are those of ``Core``."""
        self._make = (env_id, remotes, options)
        self._core: Core | None = None
        # In lockstep all are waited for. In real time those that are a frame late come later.
        self._lockstep = options.get("clock") == "lockstep"
        self._patience_s = RECEIVE_S

    def ping(self) -> None:
        """Return: it has a place."""

    def begin(self, delay_s: float = 0.0) -> tuple[VectorSpec, Batch]:
        """Start or find the remotes, after ``delay_s`` seconds, and wait for the first observation of each."""
        time.sleep(delay_s)
        self.close()
        env_id, remotes, options = self._make
        self._core = core = Core(env_id, remotes, **options)
        try:
            if not self._lockstep:
                self._patience_s = (options.get("frame_skip", 1) + 1) / core.fps
            for row in range(core.n):
                core.reset(row, join=True)
            spec = VectorSpec(core.n, core.pictures.shape, core.fps, core.actions)
            return spec, self._batch(core, core.receive(core.n))
        except BaseException:
            self.close()
            raise

    def step(self, actions: Mapping[int, Any]) -> Batch:
        """Act on some rows, or begin the next episode where one is over; return at least one answer."""
        core = self._core
        if core is None:
            raise Misuse("the vector has not begun; call begin() before step()")
        over = [row for row in actions if core.phase(row) is Phase.ENDED]
        acted = {row: action for row, action in actions.items() if row not in over}
        if acted:
            core.send(acted)
        for row in over:
            core.reset(row, join=True)
        return self._batch(core, self._receive(core, set(actions if self._lockstep else acted)))

    def close(self) -> None:
        """Disconnect, and remove the remotes that were started."""
        if self._core is not None:
            self._core.close()
            self._core = None

    def _receive(self, core: Core, expected: set[int]) -> list[int]:
        """Wait for ``expected``, though no longer than a frame too long, and for one answer at least."""
        deadline = time.monotonic() + self._patience_s
        answered: list[int] = []
        while not answered or expected.difference(answered):
            try:
                left = max(0.0, deadline - time.monotonic())
                answered += core.receive(1, left if answered else RECEIVE_S)
            except RemoteFailed:
                if not answered:
                    raise
                break
        return answered

    def _batch(self, core: Core, rows: list[int]) -> Batch:
        results = [core.result(row) for row in rows]
        observation = np.empty((len(rows), *core.pictures.shape), np.uint8)
        for place, row in enumerate(rows):
            observation[place] = core.picture(row)
        return Batch(
            np.array(rows, np.int32),
            observation,
            np.array([result.reward for result in results], np.float32),
            np.array([result.terminated for result in results], np.bool_),
            np.array([result.truncated for result in results], np.bool_),
            np.array([result.first for result in results], np.bool_),
            np.array([result.lost for result in results], np.bool_),
            np.array([result.elapsed for result in results], np.int32),
        )
