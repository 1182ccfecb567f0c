"""The raw pool underneath: remotes that are sent lists of arrays, and give lists of arrays when they answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, cast

import numpy as np
from numpy.typing import NDArray

from pluriverse.adapters.core import Core
from pluriverse.adapters.player import Phase
from pluriverse.errors import ActionError, Misuse

from .arrays import Stacks
from .game import Game, Row, opening_of
from .spec import STATE, EnvSpec

# The types of a ``Row``, which is what comes after the environment and its player, without the picture; and its place.
_KINDS: Final = [spec.dtype for name, spec in STATE.items() if name != "obs"][2:]
_PICTURE: Final = list(STATE).index("obs") - 2


class RemotePool:
    """As EnvPool's own pools. For one thread at a time. Arrays that ``_recv`` returns aren't changed later."""

    _state_keys: ClassVar[list[str]] = list(STATE)

    def __init__(self, spec: EnvSpec) -> None:
        """Start or find the remotes; blocks until they play."""
        config = spec.config
        self._spec: EnvSpec = spec
        self.core: Core = config.open()
        try:
            spec.described = self.core.actions, self.core.pictures.shape
            self._stacks = Stacks(self.core.n, config.stack_num, self.core.pictures.shape)
            self._action_keys: list[str] = list(spec.action_array_spec)
            # Of what an action is made of, for one environment.
            self._shapes = {name: part.shape for name, part in list(spec.action_array_spec.items())[2:]}
            opening = opening_of(self.core.actions, config)
        except BaseException:
            self.core.close()
            raise
        self._waits_for_all = config.batch_size == config.num_envs
        self._games = [Game(config, seed, opening) for seed in config.seeds]
        # The opening actions still to be taken, of environments that begin an episode.
        self._opening: dict[int, deque[Any]] = {}
        # The environments that were asked and not received yet, in the order of asking.
        self._asked: dict[int, None] = {}
        self._answered: deque[int] = deque()
        # The results of those whose answer is an episode's first observation.
        self._begun: dict[int, Row] = {}
        # Whether a call that asks and waits has asked, and was interrupted before it had the answer.
        self._owes = False

    def __reduce__(self) -> Any:
        return self.core.env.__reduce__()  # raises, and says what to pickle instead

    def _send(self, action: Sequence[Any]) -> None:
        """See ``EnvPool.send``; ``action`` has arrays in the order of ``_action_keys``."""
        self.core.require_whole()
        env_id, players, *parts = action
        indices = self._indices(env_id)
        if players is not env_id and self._indices(players) != indices:
            raise Misuse("players.env_id differs from env_id; each environment has one player, which is its number")
        actions = dict(zip(indices, self._rows(len(indices), parts), strict=True))
        if again := sorted(actions.keys() & self._asked.keys()):
            raise Misuse(f"environments {again} have not been received since they were sent to; recv comes first")
        games = self._games
        with self.core.whole:
            self.core.send({index: games[index].choose(act) for index, act in actions.items() if not games[index].done})
            for index in indices:
                self._asked[index] = None
                if games[index].done:
                    self._begin(index)

    def _recv(self) -> list[NDArray[Any]]:
        """See ``EnvPool.recv``; the arrays are in the order of ``_state_keys``."""
        self.core.require_whole()
        count = len(self._asked) if self._waits_for_all else self._spec.config.batch_size
        if not 0 < count <= len(self._asked):
            self._owes = False
            raise Misuse(
                f"recv waits for {count or 'whoever was asked'}, and {len(self._asked)} environments have been sent "
                "to or reset since they were received; call send, step, reset or async_reset first"
            )
        asked = list(self._asked)
        observations = np.empty((count, *self._stacks.shape), np.uint8)
        for place in range(count):
            while len(self._answered) <= place:
                self.core.wait(1)
                with self.core.whole:
                    self._take(*self.core.receive(1))
            # One by one, so that pictures are copied while others are waited for.
            index = self._answered[place]
            self._stacks.copy_to(index, observations[asked.index(index) if self._waits_for_all else place])
        with self.core.whole:
            answered = [self._answered.popleft() for _ in range(count)]
            indices = asked if self._waits_for_all else answered
            for index in indices:
                del self._asked[index]
            # One table is much faster than an array for each column.
            table = np.array([self._row(index) for index in indices], np.float64).T
            arrays = [column.astype(kind) for column, kind in zip(table, _KINDS, strict=True)]
            env_id = np.array(indices, np.int32)
            self._owes = False
        return [env_id, env_id.copy(), *arrays[:_PICTURE], observations, *arrays[_PICTURE:]]

    def _reset(self, env_id: Any) -> None:
        """Begin new episodes; what was sent and not received is given up."""
        indices = self._indices(env_id)
        if self.core.whole.broken:
            # Of all others nothing is known, and their next actions begin episodes.
            for known in (self._asked, self._answered, self._begun, self._opening):
                known.clear()
            for game in self._games:
                game.done = True
        with self.core.whole:
            for index in indices:
                self._asked.pop(index, None)
                self._asked[index] = None
                self._begun.pop(index, None)
                if index in self._answered:
                    self._answered.remove(index)
                self._games[index].goes_on = False
                self._begin(index)

    def _indices(self, env_id: Any) -> list[int]:
        array = np.asarray(env_id)
        n = len(self._games)
        if array.ndim > 1 or array.dtype.kind not in "iu":
            raise Misuse(f"env_id is {env_id!r:.80}; expected integers of 0 to {n - 1}")
        indices = cast("list[int]", array.reshape(-1).tolist())
        if not indices or min(indices) < 0 or max(indices) >= n:
            raise Misuse(f"env_id is {indices!r:.80}; expected some of 0 to {n - 1}")
        if len(set(indices)) < len(indices):
            raise Misuse(f"env_id is {indices!r:.80}; each environment can be named once in a call")
        return indices

    def _rows(self, n: int, parts: Iterable[Any]) -> Sequence[Any]:
        """Return the action of each of ``n`` environments."""
        arrays = {name: np.asarray(part) for name, part in zip(self._shapes, parts, strict=True)}
        for name, array in arrays.items():
            if array.shape != (expected := (n, *self._shapes[name])):
                raise ActionError(
                    f"{name!r} is of shape {array.shape}; expected {expected}: a row for each environment"
                )
        if "action" in arrays:
            action = arrays["action"]
            return list(action) if action.ndim > 1 else action.tolist()
        names = [name.partition(".")[2] for name in arrays]
        return [dict(zip(names, row, strict=True)) for row in zip(*arrays.values(), strict=True)]

    def _begin(self, index: int) -> None:
        """Begin an episode, or the rest of one; ``_open`` goes on with it."""
        game = self._games[index]
        self._opening[index] = deque(game.opening())
        if game.goes_on:
            self._open(index)
        else:
            self.core.reset(index, game.seed(), join=game.done)

    def _row(self, index: int) -> Row:
        return self._begun.pop(index, None) or self._games[index].take(self.core.result(index))

    def _take(self, index: int) -> None:
        if index not in self._opening:
            self._stacks.push(index, self.core.picture(index))
            self._answered.append(index)
        elif self.core.phase(index) is Phase.ENDED:
            # It ended before the agent saw anything of it; take the next.
            self._games[index].goes_on = False
            self._opening[index] = deque(self._games[index].opening())
            self.core.reset(index, join=True)
        else:
            self._open(index)

    def _open(self, index: int) -> None:
        left = self._opening[index]
        if left:
            self.core.send({index: left.popleft()})
            return
        del self._opening[index]
        game = self._games[index]
        keep = self._stacks.push if game.goes_on else self._stacks.fill
        keep(index, self.core.picture(index))
        self._begun[index] = game.begun(self.core.result(index))
        self._answered.append(index)
