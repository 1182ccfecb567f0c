"""Remotes as one batched environment, straight over the core."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, Self

import numpy as np

from pluriverse import validation
from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.core import Core
from pluriverse.adapters.info import Observations, audio_array, state_array
from pluriverse.adapters.making import make_copies
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.errors import Closed
from pluriverse.remotes import RemoteManager
from pluriverse.rewarder.result import Result

from . import tensors
from .data_structures import StepType, TimeStep
from .tensor_specs import BoundedTensorSpec, TensorSpec, as_action, encode_text, text_spec
from .tensors import Array, Nest, tree, unstack

_INFO: Final = ("elapsed", "lives", "terminated", "truncated", "lost")
_FIRST, _MID, _LAST = StepType.FIRST.item(), StepType.MID.item(), StepType.LAST.item()


class PluriverseAlfEnvironment:
    """All remotes as one batch, in real time: they go on between two calls. Takes and returns tensors.

    ``reset`` begins an episode in each; before the first one a step does that instead. A step acts on all remotes at
    once, and waits until each has a frame that was not given before; older ones are dropped, and rewards add up. An
    episode that is over ends with discount 0 for an outcome, with ``discount`` for a limit or a lost remote; the next
    is asked for at once, and the next step gives its FIRST step and ignores the action. It waits until a lost remote is
    back, while the others go on unseen. After a call that was interrupted, as by Ctrl-C, the next step gives its
    answer, and ignores the action.

    Observations are the picture, uint8 of shape (n, channels, height, width); or a dict of ``vision``, ``text`` (see
    ``decode_text``), ``observation`` (float32) and ``audio`` (int16), where remotes send those. Actions, int64, are one
    number for each remote, a bit for each key, or a dict of ``pointer``, ``buttons`` and ``keys``. ``env_info`` has
    ``elapsed`` (int32, steps of the episode), ``lives`` (int32, 0 if not reported), ``terminated``, ``truncated`` and
    ``lost`` (bool).
    """

    batched = is_tensor_based = True
    _current_time_step: TimeStep | None = None
    _closed = False

    def __init__(
        self,
        env_id: str | None,
        remotes: int | str | RemoteManager | None = None,
        *,
        batch_size: int | None = None,
        size: tuple[int, int] | None = None,
        grey: bool = False,
        crop: tuple[int, int, int, int] | None = None,
        image_channel_first: bool = True,
        discount: float = 1.0,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        """Start or find the remotes as ``pluriverse.make`` does, and learn what they play; blocks.

        ``env_id`` None is whatever the remotes play. ``remotes`` None starts as few as hold ``batch_size``, which is
        otherwise as many as there are; in lockstep each remote can hold ``slots``. Pictures are what the environment
        draws on, or ``crop``, (x, y, width, height) of the screen, in ``size``, (height, width), of one channel if
        ``grey``, which comes first if ``image_channel_first``. ``discount`` is above 0 and at most 1. Remote ``i``'s
        first episode gets ``seed + i``, and what follows is drawn from that. ``options`` are those of ``Core``
        (``actions``, ``audio``, ``frame_skip``, ``max_episode_steps``, ``fps``) and of ``pluriverse.make``.
        """
        self._discount = validation.number("discount", discount, above=0, maximum=1)
        self._channel_first = validation.flag("image_channel_first", image_channel_first)
        seed = validation.seed(seed)
        # Loads torch now, and not while an episode goes on.
        tensors.tensor(np.zeros(0))
        pictures = PictureOptions(crop=crop, size=size, grey=grey)
        # In lockstep render shows what steps brought.
        options = {"whole_screens": options.get("clock") == "lockstep", **options}
        self.core: Core = make_copies(env_id, batch_size, remotes, called="batch_size", pictures=pictures, **options)
        n = self.core.n
        self._observations = Observations(self.core.spaces, self.core.pictures, self.core.audio_shape)
        # The seeds of each remote's episodes; None: the remote draws them.
        self._seeds: list[Iterator[int] | None] = [None] * n
        # Whose next reset begins an episode in any case: its seed is new.
        self._seed_is_new = [False] * n
        # Whose next episode was asked for, and not given yet.
        self._began = [False] * n
        try:
            self.batch_size: int = n
            self.metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": self.core.fps}
            self._action_spec = action_spec(self.core.actions)
            self._observation_spec = self._spec_of_observations()
            zeros = partial(TensorSpec.numpy_zeros, outer_dims=(n,))
            self._action = self._no_action = tree.map_structure(zeros, self._action_spec)
            if seed is not None:
                self.seed(seed)
        except BaseException:
            self.core.close()
            raise

    def observation_spec(self) -> Nest:
        """Return the specs of observations, without the batch dimension."""
        return self._observation_spec

    def action_spec(self) -> Nest:
        """Return the specs of actions, without the batch dimension."""
        return self._action_spec

    def reward_spec(self) -> TensorSpec:
        """Return the spec of rewards."""
        return TensorSpec((), "float32", "reward")

    def env_info_spec(self) -> Nest:
        """Return the specs of ``TimeStep.env_info``."""
        return {name: TensorSpec((), "int32" if name in _INFO[:2] else "bool", name) for name in _INFO}

    def time_step_spec(self) -> TimeStep:
        """Return the specs of steps. As in ALF, ``env_info`` is left out; see ``env_info_spec``."""
        return TimeStep(
            step_type=BoundedTensorSpec((), "int32", StepType.FIRST, StepType.LAST, "step_type"),
            reward=self.reward_spec(),
            discount=BoundedTensorSpec((), "float32", 0, 1, "discount"),
            observation=self.observation_spec(),
            prev_action=self.action_spec(),
            env_id=TensorSpec((), "int32", "env_id"),
        )

    def current_time_step(self) -> TimeStep:
        """Return the last step; begin an episode if there was none."""
        return self.reset() if self._current_time_step is None else self._current_time_step

    def seed(self, seed: int | Sequence[int]) -> None:
        """Seed the episodes that the next ``reset`` begins: remote ``i`` gets ``seed + i``, or ``seed[i]``.

        The seeds of those that follow are drawn from it; without, a remote draws its own. Raise ``ConfigurationError``
        if there aren't as many, or remotes don't take such seeds.
        """
        self._seeds = [_draws(each) for each in validation.seeds(seed, self.core.n)]
        self._seed_is_new = [True] * self.core.n

    def render(self, mode: str = "rgb_array") -> Array:
        """Return the first remote's screen, uint8 (height, width, 3)."""
        validation.choice("mode", mode, self.metadata["render_modes"])
        return self.core.screen(0)

    def get_info(self) -> list[dict[str, Any]]:
        """Return all that is known of each remote's last step: its lags, and ``error`` where it was lost."""
        return [self.core.result(index).full_info() for index in range(self.core.n)]

    def close(self) -> None:
        """Release the remotes; may be called repeatedly."""
        self._closed = True
        self.core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def reset(self) -> TimeStep:
        """Begin an episode in each remote and return the FIRST steps."""
        self._require_open()
        anew = self.core.whole.broken
        with self.core.whole:
            for index in range(self.core.n):
                # An episode that was not given yet is as good as another one, unless another was asked for by its seed.
                if anew or not self._began[index] or self._seed_is_new[index]:
                    self._begin(index, join=False)
            self._action = self._no_action
        return self._receive()

    def step(self, action: Nest) -> TimeStep:
        """Act and return the next steps; raise ``ActionError`` unless ``action`` matches ``action_spec``."""
        if self._current_time_step is None:
            return self.reset()
        self._require_open()
        # After a call that was interrupted, as by Ctrl-C, this one gives its answer.
        if not self.core.owes:
            checked = as_action(self._action_spec, action, (self.core.n,))
            each = unstack(checked, self.core.n)
            with self.core.whole:
                self.core.send({index: one for index, one in enumerate(each) if not self._began[index]})
                self._action = checked
        return self._receive()

    def _receive(self) -> TimeStep:
        self.core.receive_all()
        results = self.core.results()
        # Tables with a row for each remote; an array for each column would take several times as long.
        integers: list[tuple[int, ...]] = []
        floats: list[tuple[float, float]] = []
        for result in results:
            lives = result.lives if isinstance(result.lives, int) else 0
            cut = result.truncated and not result.terminated
            step_type = _FIRST if result.first else _LAST if result.over else _MID
            integers.append((step_type, result.elapsed, lives, result.terminated, cut, result.lost))
            floats.append((result.reward, 1.0 if result.first else 0.0 if result.terminated else self._discount))
        step_types, elapsed, lives, *flags = np.array(integers, np.int32).T.copy()
        rewards, discounts = np.array(floats, np.float32).T.copy()
        first = step_types == _FIRST
        info = dict(zip(_INFO, (elapsed, lives, *np.array(flags, np.bool_)), strict=True))
        action = _zero_where(first, self._action) if first.any() else self._action
        everyone = np.arange(self.core.n, dtype=np.int32)
        step = step_types, rewards, discounts, self._observed(results), action, everyone
        answer = TimeStep(*step, env_info=info).to_tensors()
        with self.core.whole:
            self._began = [result.over for result in results]
            for index, over in enumerate(self._began):
                if over:
                    self._begin(index, join=True)
            self.core.owes = False
            self._current_time_step = answer
        return answer

    def _require_open(self) -> None:
        if self._closed:
            raise Closed("this environment is closed")

    def _begin(self, index: int, *, join: bool) -> None:
        seeds = self._seeds[index]
        self._seed_is_new[index] = False
        self.core.reset(index, None if seeds is None else next(seeds), join=join and seeds is None)

    def _spec_of_observations(self) -> Nest:
        shape = np.roll(self.core.pictures.shape, 1 if self._channel_first else 0).tolist()
        specs: dict[str, TensorSpec] = {"vision": BoundedTensorSpec(shape, "uint8", 0, 255, "vision")}
        if "text" in self._observations.names:
            specs["text"] = text_spec()
        if self._observations.state_shape is not None:
            specs["observation"] = TensorSpec(self._observations.state_shape, "float32", "observation")
        if self._observations.audio_shape is not None:
            specs["audio"] = TensorSpec(self._observations.audio_shape, "int16", "audio")
        return specs if len(specs) > 1 else specs["vision"]

    def _observed(self, results: Sequence[Result]) -> Nest:
        """Return the observations of results, in arrays that are new each time: they become the agent's tensors."""
        pictures = self.core.pictures
        height, width, channels = pictures.shape
        shape = (channels, height, width) if self._channel_first else pictures.shape
        vision = np.empty((len(results), *shape), np.uint8)
        places = vision.transpose(0, 2, 3, 1) if self._channel_first else vision
        for place, result in zip(places, results, strict=True):
            place[...] = pictures.make(result.picture)
        if len(self._observations.names) == 1:
            return vision
        parts: dict[str, Array] = {"vision": vision}
        if "text" in self._observations.names:
            parts["text"] = np.array([encode_text(result.text) for result in results])
        if (state := self._observations.state_shape) is not None:
            parts["observation"] = np.array([state_array(result.observation, state) for result in results])
        if (audio := self._observations.audio_shape) is not None:
            parts["audio"] = np.array([audio_array(result.sound, audio) for result in results])
        return parts


load = PluriverseAlfEnvironment


def action_spec(actions: ActionMap) -> Nest:
    """Return the specs of the actions that a remote takes; raise ``ConfigurationError`` for lists of events."""
    parts = {
        name: BoundedTensorSpec(part.shape, "int64" if part.kind is None else "float32", part.least, part.most, name)
        for name, part in actions.arrays().items()
    }
    return parts if len(parts) > 1 else next(iter(parts.values()))


def _draws(first: int | None) -> Iterator[int] | None:
    """Return a seed, and then those that are drawn from it; None: the remote draws them."""
    if first is None:
        return None
    random = np.random.default_rng(first)
    return itertools.chain([first], (int(random.integers(2**31)) for _ in itertools.count()))


def _zero_where(first: Array, action: Nest) -> Nest:
    """Return the actions of a batch, with zeros where an episode began: that step did nothing with its own."""
    zeroed = [np.where(first.reshape(-1, *[1] * (array.ndim - 1)), 0, array) for array in tree.flatten(action)]
    return tree.unflatten_as(action, zeroed)
