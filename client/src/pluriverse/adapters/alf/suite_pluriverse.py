"""Remotes as one batched environment, straight over the core: no processes, and one copy of each picture."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from pluriverse_protocol.limits import MAX_SEED

from pluriverse import remotes as remotes_module
from pluriverse import validation
from pluriverse.adapters.actions import BUTTONS, ActionMap
from pluriverse.adapters.core import Core
from pluriverse.adapters.making import fit, make_copies
from pluriverse.adapters.observations import Observations
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.adapters.player import StepResult
from pluriverse.env.views import View, make_view
from pluriverse.errors import ConfigurationError
from pluriverse.remotes import RemoteManager

from . import nest, tensors
from .alf_environment import AlfEnvironment, Description, one_seed_each
from .data_structures import GOES_ON, OUTCOME, StepType, TimeStep, check_discount
from .nest import Nest
from .tensor_specs import BoundedTensorSpec, TensorSpec, as_action, zero_where
from .tensors import Array
from .texts import encode, text_spec

# As many as any program's random numbers take.
DRAWN_SEEDS: Final = 2**31


class PluriverseAlfEnvironment(AlfEnvironment):
    """All remotes as one batch, in real time: they go on between two calls. Takes and returns tensors.

    A step acts on all remotes at once, and waits until each has a frame that was not given before; older ones are
    dropped, and rewards add up. An episode that is over ends with discount 0 for an outcome, with ``discount`` for a
    limit or a lost remote; the next is asked for at once, and the next step gives its FIRST step and ignores the
    action. It waits until a lost remote is back, while the others go on unseen. After a call that was interrupted, as
    by Ctrl-C, the next step gives its answer, and ignores the action.

    Observations are the picture, uint8 of shape (n, channels, height, width); or a dict of ``vision``, ``text`` (uint8,
    see ``texts``) and ``observation`` (float32), where remotes send those. Actions, int64, are one number for each
    remote, a bit for each key, or a dict of ``pointer``, ``buttons`` and ``keys``. ``env_info`` has ``elapsed`` (int32,
    steps of the episode), ``lives`` (int32, 0 where none are told), ``terminated``, ``truncated`` and ``lost`` (bool).
    """

    def __init__(
        self,
        env_id: str | None,
        remotes: int | str | RemoteManager | None = 1,
        *,
        size: tuple[int, int] | None = None,
        grey: bool = False,
        crop: tuple[int, int, int, int] | None = None,
        image_channel_first: bool = True,
        discount: float = GOES_ON,
        seed: int | None = None,
        n: int | None = None,
        **options: Any,
    ) -> None:
        """Start or find the remotes as ``pluriverse.make`` does, and learn what they play; blocks.

        ``env_id`` None is whatever the remotes play. Pictures are what the environment draws on, or ``crop``, (x, y,
        width, height) of the screen, in ``size``, (height, width), of one channel if ``grey``, which comes first if
        ``image_channel_first``. ``discount`` is above 0 and at most 1. Remote ``i``'s first episode gets ``seed + i``,
        and what follows is drawn from that. ``options`` are those of ``Core`` (``actions``, ``frame_skip``,
        ``max_episode_steps``, ``fps``) and of ``pluriverse.make``. ``n`` is how many environments there are, by default
        a remote each; in lockstep each remote can hold ``slots`` of them, and ``remotes`` None are as few as hold all.

        Raise ``ConfigurationError`` if that can't be had, ``RemoteUnavailable`` if a remote can't be reached.
        """
        self._discount = check_discount(validation.number("discount", discount))
        seed = validation.seed(seed)
        n = None if n is None else validation.integer("n", n, 1)
        image_channel_first = validation.flag("image_channel_first", image_channel_first)
        self._title = env_id or "pluriverse"
        self._view: View | None = None
        manager = None if remotes is None else remotes_module.parse(remotes, env_id)
        wanted = n or (1 if manager is None else manager.n * (options.get("slots") or 1))
        pictures = PictureOptions(crop=crop, size=size, grey=grey)
        # In lockstep render shows what steps brought.
        options = {"whole_screens": options.get("clock") == "lockstep", **options}
        self.core: Core = make_copies(env_id, wanted, manager, pictures=pictures, **options)
        n = self.core.n
        try:
            self._observations = _Observations(self.core, image_channel_first)
            actions = action_spec(self.core.actions)
            # The seeds of each remote's episodes; None: the remote draws them.
            self._seeds: list[Iterator[int] | None] = [None] * n
            # Whose next reset begins an episode in any case: its seed is new.
            self._seed_is_new = [False] * n
            if seed is not None:
                self.seed(seed)
        except BaseException:
            self.core.close()
            raise
        # Whose next episode was asked for, and not given yet.
        self._began = [False] * n
        self._action = self._no_action = nest.map_structure(lambda spec: spec.numpy_zeros((n,)), actions)
        info_spec = {name: TensorSpec((), "int32", name) for name in ("elapsed", "lives")}
        info_spec |= {name: TensorSpec((), "bool", name) for name in ("terminated", "truncated", "lost")}
        metadata = {"render_modes": ["human", "rgb_array"], "render_fps": self.core.fps}
        one = Description(self._observations.spec, actions, env_info_spec=info_spec, metadata=metadata)
        super().__init__(dataclasses.replace(one, batched=True, batch_size=n, is_tensor_based=True))

    def seed(self, seed: int | Sequence[int]) -> None:
        """Seed the episodes that the next ``reset`` begins: remote ``i`` gets ``seed + i``, or ``seed[i]``.

        The seeds of those that follow are drawn from it; without, a remote draws its own. Raise ``ConfigurationError``
        if there aren't as many, or remotes don't take such seeds.
        """
        self._seeds = [_draws(each) for each in one_seed_each(seed, self.core.n, "remotes")]
        self._seed_is_new = [True] * self.core.n

    def render(self, mode: str = "rgb_array") -> Any:
        """Return the first remote's screen, uint8 (height, width, 3); or show it: ``"human"``, ``"terminal"``."""
        picture = self.core.screen(0)
        if mode == "rgb_array":
            return picture
        if self._view is None:
            self._view = make_view(mode, title=self._title)
        self._view.show(picture)
        return None

    def get_info(self) -> list[dict[str, Any]]:
        """Return all that is known of each remote's last step: its lags, and ``error`` where it was lost."""
        return [self.core.result(index).info for index in range(self.core.n)]

    def close(self) -> None:
        """Release the remotes; may be called repeatedly."""
        self._closed = True
        if self._view is not None:
            self._view.close()
            self._view = None
        self.core.close()

    def _reset(self) -> TimeStep:
        self._require_open()
        anew = self.core.whole.broken
        with self.core.whole:
            for index in range(self.core.n):
                # An episode that was not given yet is as good as another one, unless another was asked for by its seed.
                if anew or not self._began[index] or self._seed_is_new[index]:
                    self._begin(index, join=False)
            self._action = self._no_action
        return self._receive()

    def _step(self, action: Nest) -> TimeStep:
        self._require_open()
        n = self.core.n
        # After a call that was interrupted, as by Ctrl-C, this one gives its answer.
        if not self.core.owes:
            checked = as_action(self.action_spec(), action, (n,))
            each = nest.unstack(checked, n)
            with self.core.whole:
                self.core.send({index: each[index] for index in range(n) if not self._began[index]})
                self._action = checked
        return self._receive()

    def _receive(self) -> TimeStep:
        n = self.core.n
        self.core.receive_all()
        results = [self.core.result(index) for index in range(n)]
        step = TimeStep(
            np.array([_step_type(result) for result in results], np.int32),
            np.array([result.reward for result in results], np.float32),
            np.array([self._discount_of(result) for result in results], np.float32),
            self._observations.of(results),
            zero_where(np.array([result.first for result in results]), self._action),
            np.arange(n, dtype=np.int32),
        )
        info = {
            "elapsed": np.array([result.elapsed for result in results], np.int32),
            "lives": np.array([result.lives if isinstance(result.lives, int) else 0 for result in results], np.int32),
            "terminated": np.array([result.terminated for result in results]),
            "truncated": np.array([result.truncated and not result.terminated for result in results]),
            "lost": np.array([result.lost for result in results]),
        }
        tensor = tensors.chosen().tensor
        answer = step.to_tensors()._replace(env_info={name: tensor(array) for name, array in info.items()})
        with self.core.whole:
            self._began = [result.terminated or result.truncated for result in results]
            for index, began in enumerate(self._began):
                if began:
                    self._begin(index, join=True)
            self.core.owes = False
        return answer

    def _discount_of(self, result: StepResult) -> float:
        if result.first:
            return GOES_ON
        return OUTCOME if result.terminated else self._discount

    def _begin(self, index: int, *, join: bool) -> None:
        seeds = self._seeds[index]
        self._seed_is_new[index] = False
        self.core.reset(index, None if seeds is None else next(seeds), join=join and seeds is None)


def load(
    environment_name: str | None,
    remotes: int | str | RemoteManager | None = None,
    *,
    batch_size: int | None = None,
    **options: Any,
) -> PluriverseAlfEnvironment:
    """Start or find remotes, and return them as one batched environment; ``create_environment`` takes this as it is.

    ``remotes`` None starts ``batch_size``, which are else as many as there are; the rest is as in
    ``PluriverseAlfEnvironment``. Raise ``ConfigurationError`` too if there are more or fewer.
    """
    if batch_size is not None:
        batch_size = validation.integer("batch_size", batch_size, 1)
    manager = None if remotes is None else remotes_module.parse(remotes, environment_name)
    if batch_size is not None and manager is not None and not fit(batch_size, manager, options.get("clock")):
        raise ConfigurationError(
            f"remotes={remotes!r} are {manager.n}, and batch_size is {batch_size}; expected as many"
        )
    return PluriverseAlfEnvironment(environment_name, manager, n=batch_size, **options)


# create_environment makes one of these, instead of a process for each.
load.batched = True  # pyright: ignore[reportFunctionMemberAccess]


def _step_type(result: StepResult) -> np.int32:
    if result.first:
        return StepType.FIRST
    return StepType.LAST if result.terminated or result.truncated else StepType.MID


def _draws(first: int) -> Iterator[int]:
    """Return a seed, and then those that are drawn from it."""
    first = validation.integer("seed", first, 0, MAX_SEED)
    random = np.random.default_rng(first)
    return itertools.chain([first], (int(random.integers(DRAWN_SEEDS)) for _ in itertools.count()))


class _Observations:
    """Makes the observations of a batch, in arrays that are new each time: they become the agent's tensors."""

    def __init__(self, core: Core, channel_first: bool) -> None:
        self._make = Observations(core.spaces, core.pictures)
        height, width, channels = core.pictures.shape
        self._shape = (channels, height, width) if channel_first else core.pictures.shape
        self._copy = _channel_copier() if channel_first and channels > 1 else _copy
        parts: dict[str, TensorSpec] = {"vision": BoundedTensorSpec(self._shape, "uint8", 0, 255, "vision")}
        if "text" in self._make.names:
            parts["text"] = text_spec()
        if self._make.state_shape is not None:
            parts["observation"] = TensorSpec(self._make.state_shape, "float32", "observation")
        self.spec: Nest = parts if len(parts) > 1 else parts["vision"]

    def of(self, results: Sequence[StepResult]) -> Nest:
        """Return the observations of results, as ``spec`` says behind the batch dimension."""
        made = [self._make.make(result) for result in results]
        if len(self._make.names) == 1:
            return self._joined("vision", made)
        return {name: self._joined(name, [each[name] for each in made]) for name in self._make.names}

    def _joined(self, name: str, values: Sequence[Any]) -> Array:
        if name != "vision":
            return np.stack([encode(value) if name == "text" else value for value in values])
        batch = np.empty((len(values), *self._shape), np.uint8)
        for picture, to in zip(values, batch, strict=True):
            self._copy(picture, to)
        return batch


def action_spec(actions: ActionMap) -> Nest:
    """Return the specs of the actions that a remote takes; raise ``ConfigurationError`` for lists of events."""
    if actions.kind == "discrete":
        return BoundedTensorSpec((), "int64", 0, actions.n - 1, "action")
    keys = BoundedTensorSpec((len(actions.keys),), "int64", 0, 1, "keys")
    if actions.kind == "keys":
        return keys
    if actions.kind == "pointer":
        _, _, width, height = actions.box
        parts = {
            "pointer": BoundedTensorSpec((2,), "int64", 0, (width - 1, height - 1), "pointer"),
            "buttons": BoundedTensorSpec((BUTTONS,), "int64", 0, 1, "buttons"),
        }
        return {**parts, "keys": keys} if actions.keys else parts
    raise ConfigurationError("no tensor holds a list of events; expected actions of discrete, keys or pointer")


def _copy(picture: Array, to: Array) -> None:
    to[...] = picture.reshape(to.shape)


def _channel_copier() -> Callable[[Array, Array], None]:
    if importlib.util.find_spec("cv2") is None:
        return lambda picture, to: np.copyto(to, picture.transpose(2, 0, 1))
    # OpenCV takes half the time.
    split = importlib.import_module("cv2").split
    return lambda picture, to: split(picture, list(to))
