"""Remotes as one EnvPool, with the interfaces of Gymnasium and of dm_env."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from dm_env import Environment, TimeStep
from gymnasium import Env
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import Core
from pluriverse.adapters.info import numbers
from pluriverse.adapters.pictures import Pixels
from pluriverse.errors import ActionError, Misuse

from .game import Game, Row, columns, opening_of
from .spec import EnvSpec, as_tuple, nested_info

if TYPE_CHECKING:

    class _Gymnasium:
        """Hides methods and attributes whose types differ from an EnvPool's."""

    _DmEnv = _Gymnasium
else:
    _DmEnv = Environment

    class _Gymnasium(VectorEnv, Env):
        """Wrappers ask for either of them."""


class EnvPool:
    """What the interfaces have in common: send actions to some environments, receive from those that answer first.

    For one thread at a time. Arrays that ``recv`` returns aren't changed later.
    """

    def __init__(self, spec: EnvSpec) -> None:
        """Start or find the remotes; blocks until they play.

        Raises:
            ConfigurationError: an option is wrong, or something is missing on this machine.
            RemoteUnavailable: a remote could not be started or reached.
        """
        config = spec.config
        self.core: Core = config.open()
        try:
            spec.described = self.core.actions, self.core.pictures.shape
            arrays = self.core.actions.arrays()
            opening = opening_of(self.core.actions, config)
        except BaseException:
            self.core.close()
            raise
        self.spec: Any = spec
        names = [f"action.{name}" for name in arrays] if len(arrays) > 1 else ["action"]
        self._shapes = {name: part.shape for name, part in zip(names, arrays.values(), strict=True)}
        self._shape: tuple[int, ...] = spec.observation_space.shape
        self._waits_for_all = config.batch_size == config.num_envs
        self._games = [Game(config, seed, opening) for seed in cast("list[int | None]", config.seed)]
        # The last pictures of each, channel first.
        self._stacks: list[deque[Pixels]] = [deque(maxlen=config.stack_num) for _ in self._games]
        # The opening actions still to be taken, of environments that begin an episode.
        self._opening: dict[int, deque[Any]] = {}
        # The environments that were asked and not received yet, in the order of asking.
        self._asked: dict[int, None] = {}
        self._answered: deque[int] = deque()
        # The results of those whose answer is an episode's first observation.
        self._begun: dict[int, Row] = {}
        # Whether a call that asks and waits has asked, and was interrupted before it had the answer.
        self._owes = False

    def __len__(self) -> int:
        """Return the number of environments."""
        return len(self._games)

    def __reduce__(self) -> Any:
        return self.core.env.__reduce__()  # raises, with what to pickle instead

    @property
    def config(self) -> dict[str, Any]:
        """The options by EnvPool's names, then ours."""
        return self.spec.config._asdict()

    @property
    def all_env_ids(self) -> NDArray[np.int32]:
        """0 to ``num_envs`` - 1, int32."""
        return np.arange(len(self), dtype=np.int32)

    def send(self, action: Any, env_id: Any = None) -> None:
        """Act on the environments of ``env_id``, by default all; doesn't wait.

        ``action`` is an array with a row for each environment, of whole numbers of any type; or a dict of int32 arrays
        with the spec's names, which may have ``env_id`` itself. Where an episode is over, or none has begun, the action
        is ignored, and the next episode begins.

        Raises:
            Misuse: an environment doesn't exist, is named twice, or has been sent to since it was received.
            ActionError: a dtype, a shape, a name or a number is wrong; nothing was sent to any.
        """
        self.core.require_whole()
        parts = _named(action)
        named = parts.pop("env_id", None)
        env_id = named if env_id is None else env_id
        indices = list(range(len(self))) if env_id is None else self._indices(env_id)
        players = parts.pop("players.env_id", None)
        if players is not None and self._indices(players) != indices:
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

    def recv(self, reset: bool = False) -> Any:
        """Wait for ``batch_size`` environments, whichever answer first; in synchronous mode for all asked, in order.

        ``reset`` leaves out what a reset doesn't return.

        Raises:
            Misuse: fewer than that were asked.
            RemoteFailed: they didn't answer within ``core.RECEIVE_S`` seconds.
        """
        self.core.require_whole()
        count = len(self._asked) if self._waits_for_all else self.spec.config.batch_size
        if not 0 < count <= len(self._asked):
            self._owes = False
            raise Misuse(
                f"recv waits for {count or 'all asked'}, and {len(self._asked)} environments have been sent "
                "to or reset since they were received; call send, step, reset or async_reset first"
            )
        asked = list(self._asked)
        observations = np.empty((count, *self._shape), np.uint8)
        for place in range(count):
            while len(self._answered) <= place:
                self.core.wait(1)
                with self.core.whole:
                    for index in self.core.receive_ready():
                        self._take(index)
            # One by one, so that pictures are copied while others are waited for.
            index = self._answered[place]
            row = asked.index(index) if self._waits_for_all else place
            np.concatenate(self._stacks[index], out=observations[row])
        with self.core.whole:
            answered = [self._answered.popleft() for _ in range(count)]
            indices = asked if self._waits_for_all else answered
            for index in indices:
                del self._asked[index]
            values = columns([self._row(index) for index in indices])
            self._owes = False
        values["obs"] = observations
        numbers = {"lives": values["lives"], "reward": values["earned"], "terminated": values["terminated"]}
        return self._to(values, nested_info(np.array(indices, np.int32), values["lost"], **numbers), reset)

    def step(self, action: Any, env_id: Any = None) -> Any:
        """Call ``send`` and ``recv``; after a call that was interrupted, as by Ctrl-C, ``recv`` alone."""
        with self.core.whole:
            if not self._owes:
                self.send(action, env_id)
            self._owes = True
        return self.recv()

    def async_reset(self) -> None:
        """Begin an episode in every environment; doesn't wait."""
        self._reset(self.all_env_ids)

    def reset(self, env_id: Any = None) -> Any:
        """Begin new episodes in the environments of ``env_id``, all where it is None, and ``recv``.

        What they have been sent and was not received is given up. In the asynchronous mode this waits for
        ``batch_size`` environments only, whichever they are; ``async_reset`` and ``recv`` say so.

        Raises:
            Misuse: an environment doesn't exist, or is named twice; or too few have been asked, see ``recv``.
        """
        with self.core.whole:
            self._reset(self.all_env_ids if env_id is None else env_id)
            self._owes = True
        return self.recv(reset=True)

    def close(self) -> None:
        """Disconnect, and remove the remotes that were started; may be called repeatedly."""
        self.core.close()

    def _to(self, values: Mapping[str, Any], info: dict[str, Any], reset: bool) -> Any:
        """Return ``obs`` and the arrays of ``columns`` as this interface has them."""
        raise NotImplementedError

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
        indices: list[int] = array.reshape(-1).tolist()
        valid = array.ndim <= 1 and array.dtype.kind in "iu" and indices and set(indices) <= set(range(len(self)))
        if not valid or len(set(indices)) < len(indices):
            raise Misuse(f"env_id is {env_id!r:.80}; expected some of 0 to {len(self) - 1}, each once")
        return indices

    def _rows(self, n: int, parts: Mapping[str, Any]) -> Sequence[Any]:
        """Return the action of each of ``n`` environments."""
        if parts.keys() != self._shapes.keys():
            raise ActionError(f"the action has {', '.join(map(repr, parts))}; expected {', '.join(self._shapes)}")
        arrays = {name: np.asarray(parts[name]) for name in self._shapes}
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
            self._keep(index)
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
        # An episode's first picture fills the stack.
        self._keep(index, 1 if game.goes_on else self.spec.config.stack_num)
        self._begun[index] = game.begun(self.core.result(index))

    def _keep(self, index: int, times: int = 1) -> None:
        # A grey picture of its own isn't copied; a view of a screen is, so that the screen can be freed.
        picture = np.ascontiguousarray(self.core.picture(index).transpose(2, 0, 1))
        self._stacks[index].extend([picture] * times)
        self._answered.append(index)


class GymnasiumEnvPool(EnvPool, _Gymnasium):
    """``reset`` returns (observations, info), ``step`` (observations, rewards, terminated, truncated, info)."""

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, spec: EnvSpec) -> None:
        super().__init__(spec)
        self.num_envs: int = len(self)
        self.observation_space: Any = self.spec.observation_space
        self.single_observation_space: Any = self.observation_space
        self.action_space: Any = self.spec.action_space
        self.single_action_space: Any = self.action_space

    def reset(self, env_id: Any = None, *, seed: Any = None, options: Mapping[str, Any] | None = None) -> Any:
        """See ``EnvPool.reset``; there are no options, and seeds are given when a pool is made."""
        if seed is not None:
            warnings.warn("seeds are given to make(…, seed=…); reset(seed=…) is ignored", stacklevel=2)
        if options:
            raise Misuse(f"reset takes no options, such as {', '.join(options)}")
        return super().reset(env_id)

    def _to(self, values: Mapping[str, Any], info: dict[str, Any], reset: bool) -> Any:
        info["elapsed_step"], truncated = values["elapsed_step"], values["trunc"]
        info["pluriverse"] = numbers([self._games[int(index)].result for index in info["env_id"]])
        if reset:
            return values["obs"], info
        return values["obs"], values["reward"], values["done"] & ~truncated, truncated, info


class DMEnvPool(EnvPool, _DmEnv):
    """``reset`` and ``step`` return a TimeStep; its observation is a named tuple, ``observation_spec`` has its fields.

    As in EnvPool, and unlike dm_env, discounts are 0 at every end of an episode, also at a limit of steps.
    """

    def observation_spec(self) -> Any:
        """Return a named tuple of the specs of one environment."""
        return self.spec.observation_spec()

    def action_spec(self) -> Any:
        """Return the spec of one environment's action, or a named tuple of the specs of its parts."""
        return self.spec.action_spec()

    def _to(self, values: Mapping[str, Any], info: dict[str, Any], reset: bool) -> Any:
        del reset
        observation = as_tuple("State", {"obs": values["obs"], **info})
        # dm_env's StepType is for one environment; here it is an array of their numbers.
        return TimeStep(values["step_type"], values["reward"], values["discount"], observation)


def _named(action: Any) -> dict[str, Any]:
    """Return the parts of an action by EnvPool's names, once their types are right."""
    if isinstance(action, Mapping):
        parts = _flat(cast("Mapping[str, Any]", action))
        for name, value in parts.items():
            if np.asarray(value).dtype != np.int32:
                raise ActionError(f"{name!r} is of {np.asarray(value).dtype}; expected int32 within a dict")
        return parts
    array = whole = np.asarray(action)
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int32)
    if array.dtype.kind not in "iuf" or (whole is not array and not np.array_equal(whole, array)):
        raise ActionError(f"the action is an array of {array.dtype}: {action!r:.80}; expected whole numbers")
    return {"action": whole}


def _flat(nest: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return ``{"action": {"keys": 1}}`` as ``{"action.keys": 1}``."""
    found: dict[str, Any] = {}
    for name, value in nest.items():
        if isinstance(value, Mapping):
            found |= _flat(cast("Mapping[str, Any]", value), f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found
