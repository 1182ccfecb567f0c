"""ALF environments as tests need them: in which everything is known beforehand, and which break when told to."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from pluriverse.adapters.alf import nest
from pluriverse.adapters.alf.alf_environment import AlfEnvironment
from pluriverse.adapters.alf.alf_wrappers import BatchEnvironmentWrapper
from pluriverse.adapters.alf.data_structures import TimeStep, restart, termination, transition
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, TensorSpec, as_action
from pluriverse.errors import Misuse

DIE, RAISE = 8, 9


class Counting(AlfEnvironment):
    """An episode has ``length`` steps, each with its number as the reward; actions 8 and 9 break it if it ``breaks``.

    The observation is the process, the seed, the episode's number and the step's.
    """

    def __init__(
        self,
        env_id: int = 0,
        length: int = 3,
        *,
        breaks: bool = False,
        reset_s: float = 0.0,
        closed: Path | None = None,
    ) -> None:
        super().__init__()
        self._env_id = env_id
        self._length = length
        self._breaks = breaks
        self._reset_s = reset_s
        self._seed = 0
        self._episode = 0
        self._steps = 0
        self._closed_at = closed

    def env_info_spec(self) -> nest.Nest:
        return {"even": TensorSpec((), "bool")}

    def observation_spec(self) -> nest.Nest:
        return TensorSpec((4,), "int64")

    def action_spec(self) -> nest.Nest:
        return BoundedTensorSpec((), "int64", 0, 9)

    def seed(self, seed: Any) -> None:
        self._seed = seed

    def render(self, mode: str = "rgb_array") -> Any:
        return np.full((2, 2, 3), self._env_id, np.uint8)

    def has_loaded(self, module: str) -> bool:
        return module in sys.modules

    def variable(self, name: str) -> str | None:
        return os.environ.get(name)

    def close(self) -> None:
        if self._closed_at is not None:
            self._closed_at.write_text("closed")

    def _observation(self) -> Any:
        return np.array([os.getpid(), self._seed, self._episode, self._steps])

    def _reset(self) -> TimeStep:
        time.sleep(self._reset_s)
        self._episode += 1
        self._steps = 0
        return restart(self._observation(), self.action_spec(), env_id=self._env_id, env_info={"even": np.True_})

    def _step(self, action: nest.Nest) -> TimeStep:
        if self._steps == self._length:
            return self.reset()
        action = as_action(self.action_spec(), action)
        if self._breaks and action == DIE:
            os._exit(3)
        if self._breaks and action == RAISE:
            raise ZeroDivisionError("as it was told to")
        self._steps += 1
        make = termination if self._steps == self._length else transition
        even = np.bool_(self._steps % 2 == 0)
        return make(self._observation(), action, float(self._steps), env_id=self._env_id, env_info={"even": even})


class Blank(Counting):
    """Has nothing to render."""

    def render(self, mode: str = "rgb_array") -> Any:
        raise Misuse(f"no picture as {mode}")


class Unmakeable(Counting):
    """Can't be made."""

    def __init__(self, env_id: int = 0) -> None:
        super().__init__(env_id)
        raise RuntimeError("no such level")


class DiesOnce(Counting):
    """Episodes have one step; the second of them never begins, where none has died before."""

    def __init__(self, env_id: int = 0, *, died: Path) -> None:
        super().__init__(env_id, length=1)
        self._died = died

    def _reset(self) -> TimeStep:
        if self._episode == 1 and not self._died.exists():
            self._died.touch()
            os._exit(4)
        return super()._reset()


class NeverBegins(Counting):
    """Breaks at each reset."""

    def _reset(self) -> TimeStep:
        raise RuntimeError("no level to play")


class Pictures(AlfEnvironment):
    """Pictures of 12 by 8 pixels, red, that get brighter by 10 with each step; an episode has 4 steps.

    Beside them in a dict, where ``nested``, is the number of the step. Continuous actions of 2 to 6.
    """

    def __init__(self, env_id: int = 0, *, channel_first: bool = True, nested: bool = False) -> None:
        super().__init__()
        self._env_id = env_id
        self._channel_first = channel_first
        self._nested = nested
        self._steps = 0
        self.actions: list[float] = []

    def env_info_spec(self) -> nest.Nest:
        return {}

    def observation_spec(self) -> nest.Nest:
        spec = BoundedTensorSpec((3, 8, 12) if self._channel_first else (8, 12, 3), "uint8", 0, 255)
        return {"camera": {"front": spec}, "steps": TensorSpec((), "int64")} if self._nested else spec

    def action_spec(self) -> nest.Nest:
        return BoundedTensorSpec((), "float32", 2, 6)

    def _observation(self) -> Any:
        picture = np.zeros((8, 12, 3), np.uint8)
        picture[..., 0] = 10 * (self._steps + 1)
        picture = picture.transpose(2, 0, 1) if self._channel_first else picture
        return {"camera": {"front": picture}, "steps": np.asarray(self._steps)} if self._nested else picture

    def _reset(self) -> TimeStep:
        self._steps = 0
        return restart(self._observation(), self.action_spec(), env_id=self._env_id)

    def _step(self, action: nest.Nest) -> TimeStep:
        if self._steps == 4:
            return self.reset()
        action = as_action(self.action_spec(), action)
        self._steps += 1
        self.actions.append(float(action))
        make = termination if self._steps == 4 else transition
        return make(self._observation(), action, 3.0 * self._steps - 6, env_id=self._env_id)


class Batch(Counting):
    """Written for arrays, and remembers what it was made with."""

    def __init__(self, name: str, batch_size: int) -> None:
        super().__init__()
        self.name = name
        self._n = batch_size

    @property
    def batched(self) -> bool:
        return True

    @property
    def batch_size(self) -> int:
        return self._n

    def _reset(self) -> Any:
        return restart(np.full((self._n, 4), self._seed), self.action_spec(), batched=True)


def load_batch(env_name: str, batch_size: int, env_id: int = 0, extra: int = 0) -> Batch:
    return Batch(f"{env_name}{extra}", batch_size)


load_batch.batched = True  # pyright: ignore[reportFunctionMemberAccess]


def two_in_one(env_id: int) -> BatchEnvironmentWrapper:
    """A batch of two, which break when told to; the second one's episodes are longer."""
    return BatchEnvironmentWrapper([Counting(2 * env_id + each, length=3 + each, breaks=True) for each in range(2)])
