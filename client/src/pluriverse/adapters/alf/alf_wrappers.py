"""Wrappers of environments: what changes actions, steps, and the order of tasks. Pictures are ``gym_wrappers``'.

They raise ``Refused`` if they can't wrap an environment.
"""

from __future__ import annotations

import abc
import cProfile
import dataclasses
import math
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Literal, cast

import numpy as np

from pluriverse import validation

from . import nest, tensors
from .alf_environment import AlfEnvironment, Description
from .data_structures import GOES_ON, OUTCOME, SCALAR_REWARD, StepType, TimeStep, check_discount, with_type
from .nest import Nest
from .tensor_specs import BoundedTensorSpec, TensorSpec, as_action, zero_where
from .tensors import Array, Refused, Tensor, as_array

ChannelOrder = Literal["channels_first", "channels_last"]
Fields = Sequence[str] | None
"""Paths of the parts of an observation to change, such as ``"sensors.camera"``; None: the observation itself."""

# Larger ones are slips.
MAX_STACK: Final = 1024

# Keeps fractions of nothing from being none.
_TINY: Final = 1e-30


def channel_axis(order: ChannelOrder) -> int:
    """Return the dimension of the channels in a picture: the first or the last."""
    axes = {"channels_first": 0, "channels_last": -1}
    return axes[validation.choice("channel_order", order, axes)]


class AlfEnvironmentBaseWrapper(AlfEnvironment):
    """Pass everything on to the environment within, and what is given for ``action`` and ``step`` through those."""

    def __init__(
        self,
        env: AlfEnvironment,
        *,
        action: Callable[[Nest], Nest] | None = None,
        step: Callable[[Any], TimeStep] | None = None,
        **changes: Any,
    ) -> None:
        """Call ``action`` with the agent's actions and ``step`` with the environment's steps; None changes nothing.

        ``changes``: specs and properties of the wrapper that differ, the fields of ``Description``.
        """
        super().__init__(dataclasses.replace(Description.of(env), **changes))
        self._env = env
        self._transform_action = action
        self._transform_step = step

    def __getattr__(self, name: str) -> Any:
        """Return a public attribute of the environment within."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._env, name)

    def sync_progress(self) -> None:
        """Tell environments in processes how far the training is."""
        self._call("sync_progress")

    def seed(self, seed: Any) -> Any:
        """Seed the episodes that the next ``reset`` begins."""
        return self._call("seed", seed)

    def render(self, mode: str = "rgb_array") -> Any:
        """Return the picture, or show it."""
        return self._call("render", mode)

    def get_info(self) -> Any:
        """Return all that is known of the last step."""
        return self._call("get_info")

    def close(self) -> None:
        """Close what is within."""
        self._call("close")

    def wrapped_env(self) -> AlfEnvironment:
        """Return the environment within."""
        return self._env

    def _call(self, name: str, *arguments: Any) -> Any:
        """Call a method of the environment within."""
        return getattr(self._env, name)(*arguments)

    def _reset(self) -> TimeStep:
        return self._transformed(self._call("reset"))

    def _step(self, action: Nest) -> TimeStep:
        inner = self._transform_action(action) if self._transform_action else action
        return self._transformed(self._call("step", inner))

    def _transformed(self, time_step: Any) -> TimeStep:
        return self._transform_step(time_step) if self._transform_step else time_step

    def _out(self, arrays: Nest) -> Nest:
        """Return arrays as this environment gives them."""
        return nest.map_structure(tensors.chosen().tensor, arrays) if self.is_tensor_based else arrays

    def _discounted(self, time_step: TimeStep, where: Tensor, discount: float) -> TimeStep:
        discounts = np.where(as_array(where), np.float32(discount), as_array(time_step.discount))
        return time_step._replace(discount=self._out(discounts))

    def _checked(self, action: Nest) -> Nest:
        return as_action(self.action_spec(), action, self._outer_dims)


TransformWrapper = AlfEnvironmentBaseWrapper
"""The same, for those who make a wrapper of two functions."""


class ActionWrapper(AlfEnvironmentBaseWrapper):
    """Take other actions than the environment within; ``prev_action`` is the agent's own."""

    def __init__(self, env: AlfEnvironment, action_spec: Nest, inner: Callable[[Nest], Nest]) -> None:
        """``inner``: returns the environment's action, arrays, for the agent's."""
        super().__init__(env, action=self._acting, step=self._acted, action_spec=action_spec)
        self._inner = inner
        self._given = nest.map_structure(lambda spec: spec.numpy_zeros(self._outer_dims), action_spec)

    def _acting(self, action: Nest) -> Nest:
        self._given = self._checked(action)
        return self._out(self._inner(self._given))

    def _acted(self, time_step: TimeStep) -> TimeStep:
        return time_step._replace(prev_action=self._out(zero_where(time_step.is_first(), self._given)))


class TimeLimit(AlfEnvironmentBaseWrapper):
    """End each episode ``duration`` steps after its FIRST with a LAST step, whose discount stays what it was."""

    def __init__(self, env: AlfEnvironment, duration: int) -> None:
        super().__init__(env)
        if duration < 1 or self.batch_size > 1:
            given = f"the duration is {duration} for a batch of {self.batch_size}; expected 1 step or more, and one"
            raise Refused(f"{given}: wrap each of them, or say max_episode_steps where the batch is made")
        self._duration: float = duration
        self._steps = 0

    @property
    def duration(self) -> float:
        """The number of steps."""
        return self._duration

    def _reset(self) -> TimeStep:
        self._steps = 0
        return super()._reset()

    def _step(self, action: Nest) -> TimeStep:
        if self.current_time_step().is_last():
            return self.reset()
        time_step = super()._step(action)
        self._steps += 1
        if self._steps >= self._duration:
            time_step = with_type(StepType.LAST, time_step)
        return time_step


class RandomFirstEpisodeLength(TimeLimit):
    """End the first episodes after a random number of steps, so that environments don't all end at once."""

    def __init__(self, env: AlfEnvironment, random_length_range: int, num_episodes: int = 1) -> None:
        """The first ``num_episodes`` episodes have 1 to ``random_length_range`` steps, by Python's generator."""
        super().__init__(env, random_length_range)
        self._lengths = [random.randint(1, random_length_range) for _ in range(num_episodes)]  # noqa: S311

    def _reset(self) -> TimeStep:
        self._duration = self._lengths.pop() if self._lengths else math.inf
        return super()._reset()


class PerformanceProfiler(AlfEnvironmentBaseWrapper):
    """Measure where the environment's time goes, with Python's own profiler."""

    def __init__(
        self, env: AlfEnvironment, process_profile_fn: Callable[[cProfile.Profile], Any], process_steps: int
    ) -> None:
        """``process_profile_fn`` is called with each ``process_steps`` steps' profile."""
        super().__init__(env)
        self._process, self._every, self._steps = process_profile_fn, process_steps, 0
        self._profile = cProfile.Profile()

    def _call(self, name: str, *arguments: Any) -> Any:
        return self._profile.runcall(super()._call, name, *arguments)

    def _step(self, action: Nest) -> TimeStep:
        time_step = super()._step(action)
        self._steps += 1
        if self._steps >= self._every:
            self._process(self._profile)
            self._steps, self._profile = 0, cProfile.Profile()
        return time_step


class GoalReplayEnvWrapper(AlfEnvironmentBaseWrapper):
    """Add a goal to observations, for hindsight experience replay; a "trajectory" is a ``TimeStep``."""

    def __init__(self, env: AlfEnvironment) -> None:
        super().__init__(env, step=self._with_goal)
        self._goal: Any = None

    @abc.abstractmethod
    def get_trajectory_with_goal(self, trajectory: TimeStep, goal: Any) -> TimeStep:
        """Return the step as if this had been the goal."""

    @abc.abstractmethod
    def get_goal_from_trajectory(self, trajectory: TimeStep) -> Any:
        """Return the goal of the episode that this step begins."""

    def _with_goal(self, time_step: TimeStep) -> TimeStep:
        if as_array(time_step.is_first()).all():
            self._goal = self.get_goal_from_trajectory(time_step)
        return self.get_trajectory_with_goal(time_step, self._goal)


class NonEpisodicAgent(AlfEnvironmentBaseWrapper):
    """Give outcomes the discount of limits, so that an agent values what comes after the end of an episode too."""

    def __init__(self, env: AlfEnvironment, discount: float = GOES_ON) -> None:
        """``discount``: of every LAST step, above 0 and at most 1."""
        last = check_discount(discount)
        super().__init__(env, step=lambda step: self._discounted(step, step.is_last(), last))


class AtariTerminalOnLifeLossWrapper(AlfEnvironmentBaseWrapper):
    """Give each step that loses a life discount 0; the episode goes on. Lives are ``env_info``'s ``lives``."""

    def __init__(self, env: AlfEnvironment) -> None:
        name = next((name for name in ("lives", "ale.lives") if name in env.env_info_spec()), None)
        if name is None:
            raise Refused(f"the environment tells no lives in its env_info: {env.env_info_spec()!r:.200}")
        lives = np.zeros(())

        def change(time_step: TimeStep) -> TimeStep:
            nonlocal lives
            before, lives = lives, as_array(time_step.env_info[name])
            return self._discounted(time_step, (lives < before) & ~as_array(time_step.is_first()), OUTCOME)

        super().__init__(env, step=change)


class ActionObservationWrapper(AlfEnvironmentBaseWrapper):
    """Make observations a dict of ``observation``, as it was, and ``prev_action``."""

    def __init__(self, env: AlfEnvironment) -> None:
        def both(step: TimeStep) -> TimeStep:
            return step._replace(observation={"observation": step.observation, "prev_action": step.prev_action})

        super().__init__(env, step=both, observation_spec=both(env.time_step_spec()).observation)


class ScalarRewardWrapper(AlfEnvironmentBaseWrapper):
    """Add up the parts of rewards, each times its weight."""

    def __init__(self, env: AlfEnvironment, reward_weights: Sequence[float] | None = None) -> None:
        """``reward_weights``: None counts the first part alone."""
        (parts, *more) = env.reward_spec().shape or (0,)
        weights = np.array([1.0] + [0.0] * (parts - 1) if reward_weights is None else reward_weights, np.float32)
        if more or not parts or weights.shape != (parts,):
            raise Refused(f"there are {weights.size} weights for {env.reward_spec()}; expected one for each of a row")

        def add_up(step: TimeStep) -> TimeStep:
            return step._replace(reward=self._out(np.asarray(as_array(step.reward) @ weights)))

        super().__init__(env, step=add_up, reward_spec=SCALAR_REWARD)


class RewardClipping(AlfEnvironmentBaseWrapper):
    """Clip rewards to ``minimum`` and ``maximum``, inclusive."""

    def __init__(self, env: AlfEnvironment, minimum: float = -1.0, maximum: float = 1.0) -> None:
        before = env.reward_spec()
        spec = BoundedTensorSpec(before.shape, before.dtype_str, minimum, maximum, before.name)
        # Arrays and tensors both have clip, with numbers of Python.
        low, high = spec.minimum.item(), spec.maximum.item()
        super().__init__(env, step=lambda step: step._replace(reward=step.reward.clip(low, high)), reward_spec=spec)


class ContinuousActionClip(AlfEnvironmentBaseWrapper):
    """Clip continuous actions to their bounds, for policies that leave them; others stay as they are."""

    def __init__(self, env: AlfEnvironment) -> None:
        spec = env.action_spec()
        super().__init__(env, action=partial(nest.map_structure_up_to, spec, _clip, spec, check_types=False))


def _clip(spec: BoundedTensorSpec, value: Any) -> Any:
    return as_array(value).clip(spec.minimum, spec.maximum) if spec.is_continuous else value


class NormalizedActionWrapper(ActionWrapper):
    """Take continuous actions of -1 to 1 in place of their own bounds; discrete ones stay as they are."""

    def __init__(self, env: AlfEnvironment) -> None:
        inner = env.action_spec()
        super().__init__(env, nest.map_structure(_normalized, inner), partial(nest.map_structure, _denormalize, inner))


def _normalized(spec: TensorSpec) -> TensorSpec:
    if spec.is_discrete:
        return spec
    if not isinstance(spec, BoundedTensorSpec) or not np.isfinite([spec.minimum.min(), spec.maximum.max()]).all():
        raise Refused(f"actions of {spec} have no finite bounds; nothing stands for their -1 and 1")
    return spec.replace(minimum=-1, maximum=1)


def _denormalize(spec: BoundedTensorSpec, value: Array) -> Array:
    return value if spec.is_discrete else between(spec, (value.astype(np.float64) + 1) / 2)


def between(spec: BoundedTensorSpec, share: Array) -> Array:
    """Return the values that lie ``share``, of 0 to 1, of the way between the bounds of a spec."""
    wide = spec.minimum.astype(np.float64) * (1 - share) + spec.maximum.astype(np.float64) * share
    # Rounding may leave the bounds by a hair.
    return wide.astype(spec.dtype_str).clip(spec.minimum, spec.maximum)


class DiscreteActionWrapper(ActionWrapper):
    """Take one number in place of a row of continuous actions, each of which has ``actions_num`` even values."""

    def __init__(self, env: AlfEnvironment, actions_num: int) -> None:
        spec: Any = env.action_spec()
        if not isinstance(spec, BoundedTensorSpec) or not spec.is_continuous or spec.ndim != 1 or actions_num < 2:
            raise Refused(f"{spec!r:.200} can't have {actions_num} values; expected a bounded row of floats, 2 or more")
        values = (actions_num,) * spec.numel

        def inner(number: Array) -> Array:
            return between(spec, np.stack(np.unravel_index(number, values), -1) / (actions_num - 1))

        super().__init__(env, BoundedTensorSpec((), "int64", 0, actions_num**spec.numel - 1), inner)


class TemporallyCorrelatedNoiseWrapper(AlfEnvironmentBaseWrapper):
    """Add noise to continuous actions, of this step and of the last, as in arXiv:2202.01312."""

    def __init__(self, env: AlfEnvironment, sigma: float = 0.5, past_noise_weight: float = 1.0) -> None:
        """``sigma``: the noise's standard deviation; ``past_noise_weight``: how much of the last step's is added."""
        self._past: Array | None = None
        spec: BoundedTensorSpec = env.action_spec()

        def add_noise(action: Tensor) -> Tensor:
            array = as_array(action)
            past, self._past = self._past, np.random.standard_normal(array.shape) * sigma
            past = np.random.standard_normal(array.shape) * sigma if past is None else past
            return self._out(_clip(spec, array + max(past_noise_weight, 0) * past + self._past).astype(spec.dtype_str))

        super().__init__(env, action=add_noise)

    def _reset(self) -> TimeStep:
        self._past = None
        return super()._reset()


class TensorWrapper(AlfEnvironmentBaseWrapper):
    """Give tensors to the agent of a batched environment that was written for arrays."""

    def __init__(self, env: AlfEnvironment) -> None:
        if not env.batched:
            raise Refused("TensorWrapper wraps batched environments; BatchedTensorWrapper makes a batch of one")
        to_arrays = partial(nest.map_structure, as_array)
        super().__init__(env, action=to_arrays, step=TimeStep.to_tensors, is_tensor_based=True)


class BatchedTensorWrapper(AlfEnvironmentBaseWrapper):
    """Make a single environment that was written for arrays a batch of one, which takes and gives tensors."""

    def __init__(self, env: AlfEnvironment) -> None:
        if env.batched:
            raise Refused(f"{type(self).__name__} wraps a single environment, and this one is batched")
        super().__init__(env, action=self._only, step=self._alone, batched=True, is_tensor_based=True)

    def _only(self, action: Nest) -> Nest:
        return nest.unbatch_nested_tensor(self._checked(action))

    def _alone(self, time_step: TimeStep) -> TimeStep:
        return nest.stack([time_step]).to_tensors()

    def get_info(self) -> list[Any]:
        """Return all that is known of the last step: a list of one."""
        return [super().get_info()]


class BatchEnvironmentWrapper(AlfEnvironmentBaseWrapper):
    """Single environments as one batch of arrays, stepped one after the other; pictures are the first's."""

    def __init__(self, envs: Sequence[AlfEnvironment]) -> None:
        if Description.of_all(map(Description.of, envs)).batched:
            raise Refused("the environments are batched; expected single ones")
        self._envs = list(envs)
        super().__init__(envs[0], step=nest.stack, batched=True, batch_size=len(envs))

    def seed(self, seed: int) -> None:
        """Seed all; none gets the seed of another, nor of a batch of as many with another seed."""
        for index, env in enumerate(self._envs):
            env.seed(seed * len(self._envs) + index)

    def render(self, mode: str = "rgb_array") -> Any:
        """Return the first one's picture, or show it."""
        return self._env.render(mode)

    def _call(self, name: str, *arguments: Any) -> list[Any]:
        return [getattr(env, name)(*arguments) for env in self._envs]

    def _step(self, action: Nest) -> TimeStep:
        actions = nest.unstack(self._checked(action), self.batch_size)
        return nest.stack([env.step(each) for env, each in zip(self._envs, actions, strict=True)])


class MultitaskWrapper(AlfEnvironmentBaseWrapper):
    """Environments with a task each; actions are a dict of ``task_id``, which of them acts, and its ``action``."""

    def __init__(self, envs: Sequence[AlfEnvironment], task_names: Sequence[str], env_id: int | None = None) -> None:
        """Begin an episode of each."""
        if len({*task_names}) != len(envs):
            raise Refused(f"the tasks are {task_names!r:.200}; expected a name of its own for each of {len(envs)}")
        one = Description.of_all(map(Description.of, envs))
        spec = {"task_id": BoundedTensorSpec((), "int64", 0, len(envs) - 1, "task_id"), "action": one.action_spec}
        self._envs, self._task, names = list(envs), 0, list(task_names)
        super().__init__(envs[0], step=self._of_task, action_spec=spec, num_tasks=len(envs), task_names=names)
        self._env_id = np.int32(env_id or 0)
        for env in envs:
            env.reset()

    @staticmethod
    def load(
        load_fn: Callable[..., AlfEnvironment], environment_name: Any, env_id: int | None = None, **kwargs: Any
    ) -> MultitaskWrapper:
        """Make each environment as ``load_fn(name, **kwargs)``, and all one."""
        return MultitaskWrapper([load_fn(name, **kwargs) for name in environment_name], environment_name, env_id)

    def get_num_tasks(self) -> int:
        """Return the number of tasks."""
        return self.num_tasks

    def seed(self, seed: int) -> None:
        """Give all the same seed."""
        for env in self._envs:
            env.seed(seed)

    def close(self) -> None:
        """Close them all."""
        for env in self._envs:
            env.close()

    def _step(self, action: Nest) -> TimeStep:
        checked = self._checked(action)
        over = self.current_time_step().is_last()
        self._task = int(checked["task_id"])
        self._env = self._envs[self._task]
        # Another task than the one that ended has begun an episode already, whose first step was not given.
        return self._of_task(self._env.reset() if over else self._env.step(checked["action"]))

    def _of_task(self, time_step: TimeStep) -> TimeStep:
        previous = {"task_id": np.asarray(self._task), "action": time_step.prev_action}
        return time_step._replace(env_id=self._env_id, prev_action=previous)


class CurriculumWrapper(AlfEnvironmentBaseWrapper):
    """Choose the tasks of a batch of ``MultitaskWrapper``, those more often whose rewards rise faster.

    A task's progress is by how much its episodes' rewards of late are above those of before, for each of their steps.
    In ``env_info`` are at each LAST step ``curriculum_task_count``, ``_score`` and ``_prob`` of all tasks by name.
    """

    def __init__(
        self,
        env: AlfEnvironment,
        progress_favor: float = 10.0,
        current_score_update_rate: float = 1e-3,
        past_score_update_rate: float = 5e-4,
        warmup_period: int = 100,
    ) -> None:
        """The task with the most progress is ``progress_favor`` times as likely as one with none.

        It is so after ``warmup_period`` episodes of each. The rates say how fast the averages follow the rewards.
        """
        spec = env.action_spec()
        if not env.batched or not isinstance(spec, dict) or {*cast("dict[str, Nest]", spec)} != {"task_id", "action"}:
            raise Refused(f"the action is {spec!r:.200}; expected a batch with actions of task_id and action")
        self._infos = ("curriculum_task_count", "curriculum_task_score", "curriculum_task_prob")
        info_spec = {name: {task: TensorSpec(()) for task in env.task_names} for name in self._infos}
        specs: dict[str, Any] = {"action_spec": spec["action"], "env_info_spec": {**env.env_info_spec(), **info_spec}}
        super().__init__(env, action=self._of_tasks, step=self._learned, **specs)
        self._scale = math.log(progress_favor)
        self._warmup = warmup_period * self.num_tasks
        # The averages are of the episodes' steps and rewards of late, and of the rewards of before.
        self._rates = np.array([[current_score_update_rate]] * 2 + [[past_score_update_rate]])
        self._averages = np.zeros((3, self.num_tasks))
        self._counts = np.zeros(self.num_tasks)
        self._probs = np.full(self.num_tasks, 1 / self.num_tasks)
        self._steps, self._rewards = np.zeros((2, self.batch_size))
        self._tasks = self._sample(self.batch_size)

    def _sample(self, n: int) -> Array:
        return np.random.choice(self.num_tasks, n, p=self._probs)

    def _of_tasks(self, action: Nest) -> Nest:
        return {"task_id": self._out(self._tasks.copy()), "action": action}

    def _learned(self, time_step: TimeStep) -> TimeStep:
        going_on = ~as_array(time_step.is_first())
        self._steps = self._steps * going_on + 1
        reward = as_array(time_step.reward)
        self._rewards = self._rewards * going_on + reward.reshape(len(reward), -1).sum(1)
        last = np.flatnonzero(as_array(time_step.is_last()))
        for index in last:
            self._learn(self._tasks[index], self._steps[index], self._rewards[index])
        informed = self._informed(time_step)
        self._tasks[last] = self._sample(len(last))
        return informed

    def _learn(self, task: int, steps: float, reward: float) -> None:
        self._counts[task] += 1
        self._averages[:, task] += self._rates[:, 0] * (np.array([steps, reward, reward]) - self._averages[:, task])
        # The averages began at 0; this takes it out of them.
        length, late, before = self._averages / (1 - (1 - self._rates) ** self._counts + _TINY)
        progress = np.maximum(late - before, 0) / (length + _TINY)
        scale = self._scale * min(1, self._counts.sum() / max(self._warmup, 1))
        favours = np.exp(scale * progress / (progress.max() + _TINY))
        self._probs = favours / favours.sum()

    def _informed(self, time_step: TimeStep) -> TimeStep:
        last = as_array(time_step.is_last()).astype(np.float32)
        info = {
            name: {task: self._out(last * np.float32(each)) for task, each in zip(self.task_names, values, strict=True)}
            for name, values in zip(self._infos, (self._counts, self._averages[1], self._probs), strict=True)
        }
        return time_step._replace(prev_action=time_step.prev_action["action"], env_info={**time_step.env_info, **info})


class FrameStack(AlfEnvironmentBaseWrapper):
    """Join the last ``stack_size`` frames, the newest last; an episode begins with that many of its first."""

    def __init__(
        self,
        env: AlfEnvironment,
        stack_size: int = 4,
        channel_order: ChannelOrder = "channels_first",
        fields: Fields = None,
    ) -> None:
        """Join frames along their first dimension, or the last where channels are last."""
        self._size = validation.integer("stack_size", stack_size, 1, MAX_STACK)
        self._axis = channel_axis(channel_order)
        self._frames: dict[str | None, list[Array]] = {}
        paths = (None,) if fields is None else tuple(fields)
        spec = env.observation_spec()
        for path in paths:
            spec = nest.transform_nest(spec, path, self._stacked_spec)

        def change(step: TimeStep) -> TimeStep:
            for path in paths:
                stack = partial(self._stacked, as_array(step.is_first()), path)
                step = step._replace(observation=nest.transform_nest(step.observation, path, stack))
            return step

        super().__init__(env, step=change, observation_spec=spec)

    def _stacked_spec(self, spec: Any) -> TensorSpec:
        if not isinstance(spec, TensorSpec) or spec.ndim < 1:
            raise Refused(
                f"{spec!r:.120} can't be stacked; expected one dimension or more, or fields=[…] that say which"
            )
        shape = list(spec.shape)
        shape[self._axis] *= self._size
        if not isinstance(spec, BoundedTensorSpec):
            return spec.replace(shape)
        low, high = (
            np.concatenate([np.broadcast_to(bound, spec.shape)] * self._size, self._axis) if bound.ndim else bound
            for bound in (spec.minimum, spec.maximum)
        )
        return spec.replace(shape, minimum=low, maximum=high)

    def _stacked(self, first: Array, path: str | None, part: Tensor) -> Tensor:
        newest = as_array(part).copy()
        first = first.reshape(first.shape + (1,) * (newest.ndim - first.ndim))
        older = self._frames.get(path, [newest] * self._size)[1:]
        older = [np.where(first, newest, frame) for frame in older] if first.any() else older
        self._frames[path] = frames = [*older, newest]
        return self._out(np.concatenate(frames, len(self._outer_dims) if self._axis == 0 else -1))
