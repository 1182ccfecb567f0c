"""Remotes as one EnvPool: send actions to some environments, receive from those that answer first."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pluriverse.adapters.core import Core
from pluriverse.adapters.pictures import PictureOptions, Pictures
from pluriverse.adapters.player import Phase
from pluriverse.env.views import View, make_view
from pluriverse.errors import Misuse

from .arrays import Stacks, arrays
from .config import Config, Connection, Rendering
from .game import Game, Row, opening_of
from .inputs import Inputs
from .spec import PoolSpec


class EnvPool:
    """The base of EnvPool's interfaces. For one thread at a time. Arrays that ``recv`` returns aren't changed later."""

    def __init__(self, env_id: str, config: Config, connection: Connection, rendering: Rendering) -> None:
        """Start or find the remotes; blocks until they play.

        Raises:
            ConfigurationError: an option is wrong, or something is missing on this machine.
            RemoteUnavailable: a remote could not be started or reached.
        """
        self.core: Core = open_core(env_id, config, connection, whole_screens=rendering.render_mode is not None)
        try:
            self._rendering = rendering
            self._stacks = Stacks(self.core.n, config.stack_num, self.core.pictures.shape)
            self.spec: Any = PoolSpec(config, self.core.actions, self._stacks.shape)
            self._inputs = Inputs(self.spec)
            opening = opening_of(self.core.actions, config)
        except BaseException:
            self.core.close()
            raise
        self._config = config
        self._games = [Game(config, seed, opening) for seed in config.seeds]
        # The opening actions still to be taken, of environments that begin an episode.
        self._opening: dict[int, deque[Any]] = {}
        # The environments that were asked and not received yet, in the order of asking.
        self._asked: dict[int, None] = {}
        self._answered: deque[int] = deque()
        # The results of those whose answer is an episode's first observation.
        self._begun: dict[int, Row] = {}
        self._view: View | None = None

    def __len__(self) -> int:
        """Return the number of environments."""
        return self._config.num_envs

    @property
    def config(self) -> dict[str, Any]:
        """The options by EnvPool's names."""
        return self._config._asdict()

    @property
    def all_env_ids(self) -> NDArray[np.int32]:
        """0 to ``num_envs`` - 1, int32."""
        return np.arange(self._config.num_envs, dtype=np.int32)

    @property
    def is_async(self) -> bool:
        """Whether ``recv`` returns before all environments have answered."""
        return self._config.batch_size != self._config.num_envs

    def send(self, action: Any, env_id: Any = None) -> None:
        """Act on the environments of ``env_id``, by default all; doesn't wait. ``Inputs.read`` has the types.

        Where an episode is over, or none has begun, the action is ignored, and the next episode begins.

        Raises:
            Misuse: an environment doesn't exist, is named twice, or has been sent to since it was received.
            ActionError: an action is invalid; nothing was sent to any.
        """
        actions = self._inputs.read(action, env_id)
        if again := sorted(actions.keys() & self._asked.keys()):
            raise Misuse(f"environments {again} have not been received since they were sent to; recv comes first")
        games = self._games
        self.core.send({index: games[index].choose(each) for index, each in actions.items() if not games[index].done})
        for index in actions:
            self._asked[index] = None
            if games[index].done:
                self._begin(index)

    def recv(self, reset: bool = False, return_info: bool = True) -> Any:
        """Wait for ``batch_size`` environments, whichever answer first; in synchronous mode for all asked, in order.

        ``reset`` leaves out what a reset doesn't return; ``return_info`` is ignored, as in EnvPool.

        Raises:
            Misuse: fewer than that were asked.
            RemoteFailed: they didn't answer within ``core.RECEIVE_S`` seconds.
        """
        del return_info
        count = self._config.batch_size if self.is_async else len(self._asked)
        if not 0 < count <= len(self._asked):
            raise Misuse(
                f"recv waits for {count or 'whoever was asked'}, and {len(self._asked)} environments have been sent "
                "to or reset since they were received; call send, step, reset or async_reset first"
            )
        asked = list(self._asked)
        observations = np.empty((count, *self._stacks.shape), np.uint8)
        for row in range(count):
            while len(self._answered) <= row:
                self._take(*self.core.receive(1))
            # One by one, so that pictures are copied while others are waited for.
            index = self._answered[row]
            self._stacks.copy_to(index, observations[row if self.is_async else asked.index(index)])
        answered = [self._answered.popleft() for _ in range(count)]
        indices = answered if self.is_async else asked
        for index in indices:
            del self._asked[index]
        return self._to(arrays(indices, [self._row(index) for index in indices], observations), reset)

    def step(self, action: Any, env_id: Any = None) -> Any:
        """Call ``send`` and ``recv``."""
        self.send(action, env_id)
        return self.recv()

    def async_reset(self) -> None:
        """Begin an episode in every environment; doesn't wait."""
        self._reset(self._inputs.indices(None))

    def reset(self, env_id: Any = None) -> Any:
        """Begin new episodes in the environments of ``env_id``, all where it is None, and ``recv``.

        What they have been sent and was not received is given up. In the asynchronous mode this waits for
        ``batch_size`` environments only, whichever they are; ``async_reset`` and ``recv`` say so.

        Raises:
            Misuse: an environment doesn't exist, or is named twice; or too few have been asked, see ``recv``.
        """
        self._reset(self._inputs.indices(env_id))
        return self.recv(reset=True)

    def seed(self, seed: Any = None) -> None:
        """Only warn, as EnvPool does: seeds are given to ``make``."""
        del seed
        warnings.warn("seeds are given to make(…, seed=…); seed() does nothing", stacklevel=2)

    def xla(self) -> Any:
        """Raise an error: remotes can't be compiled.

        Raises:
            Misuse: always.
        """
        raise Misuse("XLA compiles no remotes: time goes on while its programs run; use step, or send and recv")

    def render(self, env_ids: Any = None, camera_id: int | None = None) -> NDArray[np.uint8] | None:
        """Return the last pictures of some environments, uint8 (n, height, width, 3), RGB; or show one in a window.

        Raises:
            Misuse: there is no ``render_mode``, or it is "human" and there are several; or a camera is wanted.
        """
        if self._rendering.render_mode is None:
            raise Misuse("render() needs render_mode='rgb_array' or 'human', given to make")
        if camera_id not in (None, -1):
            raise Misuse("a remote has one screen and no cameras; leave camera_id at -1")
        indices = self._inputs.indices(self._rendering.render_env_id if env_ids is None else env_ids)
        frames = np.stack([self._drawn(index) for index in indices])
        if self._rendering.render_mode == "rgb_array":
            return frames
        if len(frames) > 1:
            raise Misuse(f"{len(frames)} environments can't be shown in one window; name one of them")
        self._view = self._view or make_view("human", title=self._config.task)
        self._view.show(frames[0])
        return None

    def close(self) -> None:
        """Disconnect, and remove the remotes that were started; may be called repeatedly."""
        if self._view is not None:
            self._view.close()
            self._view = None
        self.core.close()

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.config.items())
        return f"{type(self).__name__}({options})"

    def _to(self, state: Mapping[str, NDArray[Any]], reset: bool) -> Any:
        """Return a state as this interface has it."""
        raise NotImplementedError

    def _reset(self, indices: Iterable[int]) -> None:
        for index in indices:
            self._asked.pop(index, None)
            self._asked[index] = None
            self._begun.pop(index, None)
            if index in self._answered:
                self._answered.remove(index)
            self._games[index].goes_on = False
            self._begin(index)

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

    def _drawn(self, index: int) -> NDArray[np.uint8]:
        width, height = self._rendering.render_width, self._rendering.render_height
        size = (height, width) if width > 0 and height > 0 else None
        return Pictures(PictureOptions(size=size), self.core.pictures.box).make(self.core.screen(index))


def open_core(env_id: str, config: Config, connection: Connection, *, whole_screens: bool = False) -> Core:
    """Start or find the remotes of an EnvPool."""
    size = None
    if config.img_height is not None and config.img_width is not None:
        size = (config.img_height, config.img_width)
    return Core(
        env_id,
        connection.remotes if connection.remotes is not None else config.num_envs,
        actions=cast("Any", connection.actions),
        pictures=PictureOptions(connection.crop, size, config.gray_scale),
        frame_skip=config.frame_skip,
        fps=connection.fps,
        whole_screens=whole_screens,
        **connection.options,
    )
