"""Remotes as one batched environment, straight over the core: no processes, no copies but one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from pluriverse_protocol.limits import MAX_SEED

from pluriverse import remotes as remotes_module
from pluriverse.adapters.core import Core
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.env.views import View, make_view
from pluriverse.errors import Closed, ConfigurationError
from pluriverse.remotes import RemoteManager

from . import nest
from .alf_environment import AlfEnvironment
from .data_structures import GOES_ON, OUTCOME, StepType, TimeStep
from .remote_batch import Batch, action_spec
from .tensor_specs import TensorSpec, as_action, zero_where
from .tensors import Array

# As many as any program's random numbers take.
DRAWN_SEEDS: Final = 2**31

_INFO_SPEC: Final = {
    "elapsed": TensorSpec((), "int32", "elapsed"),
    "terminated": TensorSpec((), "bool", "terminated"),
    "truncated": TensorSpec((), "bool", "truncated"),
    "lost": TensorSpec((), "bool", "lost"),
}


class PluriverseAlfEnvironment(AlfEnvironment):
    """All remotes as one batch, in real time: they go on between two calls. Takes and gives tensors.

    A step acts on all remotes at once, and waits until each has a frame that was not given before; those that came
    meanwhile are dropped, and rewards add up. Where an episode is over the next is asked for at once, while the agent
    thinks, and is what the next step gives of that remote; its action is passed over.

    An outcome ends an episode with discount 0. A limit, or a remote that was lost, ends it with ``discount``; the next
    step then waits until that remote is back, while the others go on unseen. ``env_info`` has ``elapsed`` (int32, steps
    of the episode), ``terminated``, ``truncated`` and ``lost``; ``get_info`` has all of docs/agents.md, with ``error``.
    """

    def __init__(
        self,
        env_id: str | None,
        remotes: int | str | RemoteManager = 1,
        *,
        size: tuple[int, int] | None = None,
        grey: bool = False,
        crop: tuple[int, int, int, int] | None = None,
        image_channel_first: bool = True,
        discount: float = GOES_ON,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        """Start or find the remotes, and learn what they play; blocks.

        Args:
            env_id: such as ``"gym-core.PongDeterministic-v3"``; None: whatever they play.
            remotes: how many to start, or where they are, as in ``pluriverse.make``.
            size: (height, width) to resize pictures to; None: as they are.
            grey: one channel instead of three.
            crop: (x, y, width, height) of the screen; None: what the environment draws on.
            image_channel_first: pictures as (channels, height, width), as torch has them.
            discount: of steps after which an episode could go on, above 0 and at most 1.
            seed: of the first episodes; remote ``i`` gets ``seed + i``, and what follows is drawn from that.
            options: of ``Core`` (``actions``, ``frame_skip``, ``max_episode_steps``, ``fps``) and ``pluriverse.make``.

        Raises:
            ConfigurationError: what is asked for can't be had.
            RemoteUnavailable: a remote could not be started or reached.
        """
        super().__init__()
        if not 0 < discount <= 1:
            raise ConfigurationError(f"the discount is {discount!r}; expected above 0 and at most 1")
        self._discount = discount
        self.core = Core(env_id, remotes, pictures=PictureOptions(crop=crop, size=size, grey=grey), **options)
        # Whose next episode was asked for, and not given yet.
        self._began = [False] * self.core.n
        try:
            self._batch = Batch(self.core, image_channel_first)
            self._action_spec = action_spec(self.core.actions)
            self._no_action = nest.map_structure(partial(_zeros_of, self.core.n), self._action_spec)
            # Of each remote whatever draws the seeds of its episodes; None: the remote does.
            self._seeds: list[_Seeds | None] = [None] * self.core.n
            if seed is not None:
                self.seed(seed)
        except BaseException:
            self.core.close()
            raise
        self._title = env_id or "pluriverse"
        self._view: View | None = None
        self._closed = False

    @property
    def is_tensor_based(self) -> bool:
        """It is."""
        return True

    @property
    def batched(self) -> bool:
        """It is."""
        return True

    @property
    def batch_size(self) -> int:
        """How many remotes there are."""
        return self.core.n

    @property
    def metadata(self) -> dict[str, Any]:
        """``render_modes`` and ``render_fps``."""
        return {"render_modes": ["human", "rgb_array"], "render_fps": self.core.fps}

    def env_info_spec(self) -> nest.Nest:
        """``elapsed``, ``terminated``, ``truncated``, ``lost``."""
        return dict(_INFO_SPEC)

    def observation_spec(self) -> nest.Nest:
        """Of the picture, uint8; or a dict of ``vision``, ``text`` (as in ``texts``) and ``observation`` (float32)."""
        return self._batch.spec

    def action_spec(self) -> nest.Nest:
        """Of one number, of a bit for each key, or a dict of ``pointer``, ``buttons`` and ``keys``."""
        return self._action_spec

    def seed(self, seed: int | Sequence[int]) -> None:
        """Seed the episodes that the next ``reset`` begins: remote ``i`` gets ``seed + i``, or ``seed[i]``.

        The seeds of those that follow are drawn from it. Without, a remote draws its own.

        Raises:
            ConfigurationError: ``seed`` is a list, and hasn't one for each; or remotes don't take such seeds.
        """
        seeds = [seed + index for index in range(self.core.n)] if isinstance(seed, int) else list(seed)
        if len(seeds) != self.core.n:
            raise ConfigurationError(f"there are {len(seeds)} seeds for {self.core.n} remotes; expected one for each")
        self._seeds = [_Seeds(each) for each in seeds]

    def render(self, mode: str = "rgb_array") -> Any:
        """``"rgb_array"``: the first remote's screen, uint8 (height, width, 3). ``"human"``, ``"terminal"``: show it.

        Raises:
            ConfigurationError: there is no such mode.
        """
        picture = self.core.turn(0).screen
        if mode == "rgb_array":
            return picture
        if self._view is None:
            self._view = make_view(mode, title=self._title)
        self._view.show(picture)
        return None

    def get_info(self) -> list[dict[str, Any]]:
        """Of each remote all that is known of its last step: its lags, and ``error`` where it was lost."""
        return [self.core.turn(index).info for index in range(self.core.n)]

    def close(self) -> None:
        """Let go of the remotes; may be called repeatedly."""
        self._closed = True
        if self._view is not None:
            self._view.close()
            self._view = None
        self.core.close()

    def _reset(self) -> TimeStep:
        self._require_open()
        for index in range(self.core.n):
            seeds = self._seeds[index]
            # An episode that nobody has seen yet is as good as another one, unless another is what was asked for.
            if not self._began[index] or (seeds is not None and seeds.is_new):
                self._begin(index, join=False)
        return self._receive(self._no_action)

    def _step(self, action: nest.Nest) -> TimeStep:
        self._require_open()
        n = self.core.n
        checked = as_action(self._action_spec, action, (n,))
        each = nest.unstack(checked, n)
        self.core.send({index: each[index] for index in range(n) if not self._began[index]})
        return self._receive(checked)

    def _receive(self, action: nest.Nest) -> TimeStep:
        n = self.core.n
        self.core.receive(n)
        turns = [self.core.turn(index) for index in range(n)]
        first = np.array([turn.first for turn in turns])
        terminated = np.array([turn.terminated for turn in turns])
        truncated = np.array([turn.truncated and not turn.terminated for turn in turns])
        step = TimeStep(
            np.where(first, StepType.FIRST, np.where(terminated | truncated, StepType.LAST, StepType.MID)),
            np.array([turn.reward for turn in turns], np.float32),
            np.where(first, GOES_ON, np.where(terminated, OUTCOME, self._discount)).astype(np.float32),
            self._batch.observations(turns),
            nest.map_structure(partial(zero_where, first), action) if first.any() else action,
            np.arange(n, dtype=np.int32),
            env_info={
                "elapsed": np.array([turn.elapsed for turn in turns], np.int32),
                "terminated": terminated,
                "truncated": truncated,
                "lost": np.array([turn.lost for turn in turns]),
            },
        )
        over = step.is_last()
        self._began = over.tolist()
        for index in np.flatnonzero(over).tolist():
            self._begin(index, join=True)
        return step.to_tensors()

    def _begin(self, index: int, *, join: bool) -> None:
        seeds = self._seeds[index]
        self.core.reset(index, None if seeds is None else seeds.draw(), join=join and seeds is None)

    def _require_open(self) -> None:
        if self._closed:
            raise Closed("this environment is closed")


def load(
    environment_name: str | None,
    remotes: int | str | RemoteManager | None = None,
    *,
    batch_size: int | None = None,
    **options: Any,
) -> PluriverseAlfEnvironment:
    """Start or find remotes, and give them as one batched environment; ``create_environment`` takes this as it is.

    Args:
        environment_name: such as ``"gym-core.PongDeterministic-v3"``.
        remotes: where they are, as in ``pluriverse.make``; None: start as many as are wanted.
        batch_size: how many are wanted; None: as many as there are.
        options: of ``PluriverseAlfEnvironment``.

    Raises:
        ConfigurationError: there are more or fewer, or what is asked for can't be had.
        RemoteUnavailable: a remote could not be started or reached.
    """
    manager = (batch_size or 1) if remotes is None else remotes
    if isinstance(manager, int | str):
        manager = remotes_module.parse(manager, environment_name)
    if batch_size is not None and manager.n != batch_size:
        raise ConfigurationError(
            f"remotes={remotes!r} are {manager.n}, and the batch is of {batch_size}; expected as many"
        )
    return PluriverseAlfEnvironment(environment_name, manager, **options)


# create_environment makes one of these, instead of a process for each.
load.batched = True  # pyright: ignore[reportFunctionMemberAccess]


class _Seeds:
    """A seed, and then those that are drawn from it."""

    def __init__(self, first: int) -> None:
        if not 0 <= first <= MAX_SEED:
            raise ConfigurationError(f"the seed is {first!r}; expected an integer of 0 to {MAX_SEED}")
        self._first: int | None = first
        self._random = np.random.default_rng(first)

    @property
    def is_new(self) -> bool:
        """Whether nothing was drawn of it."""
        return self._first is not None

    def draw(self) -> int:
        """The next episode's."""
        first, self._first = self._first, None
        return int(self._random.integers(DRAWN_SEEDS)) if first is None else first


def _zeros_of(n: int, spec: TensorSpec) -> Array:
    return spec.numpy_zeros((n,))
