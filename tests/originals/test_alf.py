"""Our ALF interface beside the original's, which is on no package index: facts from its documentation."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Callable, Generator
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Any, Final

import numpy as np
import pytest
from pluriverse.adapters.alf import nest, tensors
from pluriverse.adapters.alf.alf_wrappers import (
    BatchedTensorWrapper,
    CurriculumWrapper,
    DiscreteActionWrapper,
    MultitaskWrapper,
    TimeLimit,
)
from pluriverse.adapters.alf.data_structures import Experience, StepType, TimeStep, namedtuple, restart
from pluriverse.adapters.alf.random_alf_environment import RandomAlfEnvironment
from pluriverse.adapters.alf.suite_gym import load
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, TensorSpec
from pluriverse.adapters.alf.thread_environment import ThreadEnvironment
from pluriverse.adapters.alf.utils import create_environment
from support.originals import Row, accepts, check_table, compare

# What ALF's documentation names, with its parameters and their defaults; without parentheses: a property.
FACTS: Final = """
alf_environment.AlfEnvironment()
alf_environment.AlfEnvironment.num_tasks
alf_environment.AlfEnvironment.task_names
alf_environment.AlfEnvironment.is_tensor_based
alf_environment.AlfEnvironment.batched
alf_environment.AlfEnvironment.batch_size
alf_environment.AlfEnvironment.env_info_spec(self)
alf_environment.AlfEnvironment.observation_spec(self)
alf_environment.AlfEnvironment.action_spec(self)
alf_environment.AlfEnvironment.reward_spec(self)
alf_environment.AlfEnvironment.time_step_spec(self)
alf_environment.AlfEnvironment.current_time_step(self)
alf_environment.AlfEnvironment.reset(self)
alf_environment.AlfEnvironment.step(self, action)
alf_environment.AlfEnvironment.sync_progress(self)
alf_environment.AlfEnvironment.seed(self, seed)
alf_environment.AlfEnvironment.render(self, mode="rgb_array")
alf_environment.AlfEnvironment.get_info(self)
alf_environment.AlfEnvironment.close(self)
alf_gym_wrapper.AlfGymWrapper(gym_env, env_id=None, discount=1.0, auto_reset=True, simplify_box_bounds=True)
alf_gym_wrapper.AlfGymWrapper.gym
alf_gym_wrapper.tensor_spec_from_gym_space(space, simplify_box_bounds=True, float_dtype=numpy.float32)
alf_wrappers.AlfEnvironmentBaseWrapper(env)
alf_wrappers.AlfEnvironmentBaseWrapper.wrapped_env(self)
alf_wrappers.TimeLimit(env, duration)
alf_wrappers.TimeLimit.duration
alf_wrappers.PerformanceProfiler(env, process_profile_fn, process_steps)
alf_wrappers.GoalReplayEnvWrapper(env)
alf_wrappers.GoalReplayEnvWrapper.get_trajectory_with_goal(self, trajectory, goal)
alf_wrappers.GoalReplayEnvWrapper.get_goal_from_trajectory(self, trajectory)
alf_wrappers.NonEpisodicAgent(env, discount=1.0)
alf_wrappers.RandomFirstEpisodeLength(env, random_length_range, num_episodes=1)
alf_wrappers.ActionObservationWrapper(env)
alf_wrappers.ScalarRewardWrapper(env, reward_weights=None)
alf_wrappers.MultitaskWrapper(envs, task_names, env_id=None)
alf_wrappers.MultitaskWrapper.load(load_fn, environment_name, env_id=None, **kwargs)
alf_wrappers.MultitaskWrapper.get_num_tasks(self)
alf_wrappers.CurriculumWrapper(env, progress_favor=10.0, current_score_update_rate=0.001,
    past_score_update_rate=0.0005, warmup_period=100)
alf_wrappers.BatchedTensorWrapper(env)
alf_wrappers.TensorWrapper(env)
alf_wrappers.DiscreteActionWrapper(env, actions_num)
alf_wrappers.AtariTerminalOnLifeLossWrapper(env)
alf_wrappers.TemporallyCorrelatedNoiseWrapper(env, sigma=0.5, past_noise_weight=1.0)
alf_wrappers.NormalizedActionWrapper(env)
alf_wrappers.BatchEnvironmentWrapper(envs)
gym_wrappers.transform_space(observation_space, field, func)
gym_wrappers.BaseObservationWrapper(env, fields=None)
gym_wrappers.BaseObservationWrapper.transform_space(self, observation_space)
gym_wrappers.BaseObservationWrapper.transform_observation(self, observation)
gym_wrappers.ImageChannelFirst(env, fields=None)
gym_wrappers.FrameStack(env, stack_size=4, channel_order="channels_last", fields=None)
gym_wrappers.FrameSkip(env, skip)
gym_wrappers.FrameResize(env, width=84, height=84, fields=None, interpolation=3)
gym_wrappers.EpisodicRandomFrameCrop(env, cropping_fraction=0.8, channel_order="channels_last",
    share_cropping=True, fields=None)
gym_wrappers.FrameFlip(env, ud_flip_prob=0.5, lr_flip_prob=0.5, channel_order="channels_last", fields=None)
gym_wrappers.FrameCrop(env, sx=0, sy=0, width=84, height=84, channel_order="channels_last", fields=None)
gym_wrappers.FrameGrayScale(env, fields=None)
gym_wrappers.DMAtariPreprocessing(env, frame_skip=4, noop_max=30, screen_size=84, gray_scale=True)
gym_wrappers.ContinuousActionClip(env, min_v=-1000000000.0, max_v=1000000000.0)
gym_wrappers.ContinuousActionMapping(env, low, high)
gym_wrappers.NormalizedAction(env)
gym_wrappers.NonEpisodicEnv(env)
process_environment.ProcessEnvironment(env_constructor, env_id=None, flatten=False, fast=False, num_envs=0,
    torch_num_threads_per_env=1, start_method="fork", name="")
process_environment.ProcessEnvironment.start(self, wait_to_start=True)
process_environment.ProcessEnvironment.wait_start(self)
process_environment.ProcessEnvironment.call(self, name, *args, **kwargs)
process_environment.ProcessEnvironment.step(self, action, blocking=True)
process_environment.ProcessEnvironment.reset(self, blocking=True)
process_environment.ProcessEnvironment.close(self)
parallel_environment.ParallelAlfEnvironment(env_constructors, start_serially=True, blocking=False, flatten=True,
    num_spare_envs_for_reload=0, torch_num_threads_per_env=1)
parallel_environment.ParallelAlfEnvironment.envs
parallel_environment.ParallelAlfEnvironment.num_spare_envs_for_reload
parallel_environment.ParallelAlfEnvironment.start(self)
parallel_environment.ParallelAlfEnvironment.call_envs_with_same_args(self, func_name, *args, **kwargs)
parallel_environment.ParallelAlfEnvironment.seed(self, seeds)
fast_parallel_environment.FastParallelEnvironment(env_constructors, start_serially=True, blocking=False,
    flatten=True, num_spare_envs_for_reload=0, torch_num_threads_per_env=1, start_method="fork")
thread_environment.ThreadEnvironment(env_constructor)
random_alf_environment.RandomAlfEnvironment(observation_spec, action_spec, env_id=None,
    episode_end_probability=0.1, discount=1.0, reward_fn=None, batch_size=None, seed=42, render_size=(2, 2, 3),
    min_duration=0, max_duration=None, use_tensor_time_step=False)
suite_gym.load(environment_name, env_id=None, discount=1.0, max_episode_steps=None, gym_env_wrappers=(),
    alf_env_wrappers=(), image_channel_first=True)
suite_gym.wrap_env(gym_env, env_id=None, discount=1.0, max_episode_steps=0, gym_env_wrappers=(),
    time_limit_wrapper=TimeLimit, normalize_action=True, clip_action=True, alf_env_wrappers=(),
    image_channel_first=True, auto_reset=True)
utils.create_environment(env_name="CartPole-v0", env_load_fn=suite_gym.load, eval_env_load_fn=None,
    for_evaluation=False, num_parallel_environments=30, batch_size_per_env=None, eval_batch_size_per_env=None,
    nonparallel=False, flatten=True, start_serially=True, num_spare_envs=0, torch_num_threads_per_env=1,
    parallel_environment_ctor=FastParallelEnvironment, seed=None, batched_wrappers=())
utils.load_with_random_max_episode_steps(env_name, env_load_fn=suite_gym.load, min_steps=200, max_steps=250)
utils.UnwrappedEnvChecker()
data_structures.namedtuple(typename, field_names, default_value=None, default_values=())
data_structures.StepType(value)
data_structures.TimeStep(step_type=(), reward=(), discount=(), observation=(), prev_action=(), env_id=(),
    untransformed=(), env_info=())
data_structures.TimeStep.is_first(self)
data_structures.TimeStep.is_mid(self)
data_structures.TimeStep.is_last(self)
data_structures.TimeStep.cpu(self)
data_structures.TimeStep.cuda(self)
data_structures.Experience(time_step=(), action=(), rollout_info=(), state=(), batch_info=(), replay_buffer=(),
    rollout_info_field=())
data_structures.Experience.get_time_step_field(self, field)
data_structures.Experience.update_time_step_field(self, field, new_value)
data_structures.AlgStep(output=(), state=(), info=())
data_structures.LossInfo(loss=(), scalar_loss=(), extra=(), priority=(), gns=(), batch_label=())
data_structures.restart(observation, action_spec, reward_spec=TensorSpec(()), env_id=None, env_info=dict(),
    batched=False)
data_structures.transition(observation, prev_action, reward, reward_spec=TensorSpec(()), discount=1.0, env_id=None,
    env_info=dict())
data_structures.termination(observation, prev_action, reward, reward_spec=TensorSpec(()), env_id=None, env_info=dict())
data_structures.time_step_spec(observation_spec, action_spec, reward_spec)
data_structures.make_experience(time_step, alg_step, state)
data_structures.add_batch_info(experience, batch_info, buffer=())
data_structures.clear_batch_info(experience)
tensor_specs.TensorSpec(shape, dtype="float32")
tensor_specs.TensorSpec.from_spec(spec)
tensor_specs.TensorSpec.from_tensor(tensor, from_dim=0)
tensor_specs.TensorSpec.from_array(array, from_dim=0)
tensor_specs.TensorSpec.replace(self, shape=None, dtype=None)
tensor_specs.TensorSpec.is_bounded()
tensor_specs.TensorSpec.numel
tensor_specs.TensorSpec.ndim
tensor_specs.TensorSpec.dtype
tensor_specs.TensorSpec.dtype_str
tensor_specs.TensorSpec.is_discrete
tensor_specs.TensorSpec.is_continuous
tensor_specs.TensorSpec.constant(self, value, outer_dims=None)
tensor_specs.TensorSpec.zeros(self, outer_dims=None)
tensor_specs.TensorSpec.ones(self, outer_dims=None)
tensor_specs.TensorSpec.numpy_constant(self, value, outer_dims=None)
tensor_specs.TensorSpec.numpy_zeros(self, outer_dims=None)
tensor_specs.TensorSpec.rand(self, outer_dims=None)
tensor_specs.TensorSpec.randn(self, outer_dims=None)
tensor_specs.BoundedTensorSpec(shape, dtype="float32", minimum=0, maximum=1)
tensor_specs.BoundedTensorSpec.from_spec(spec)
tensor_specs.BoundedTensorSpec.replace(self, shape=None, dtype=None, minimum=None, maximum=None)
tensor_specs.BoundedTensorSpec.sample(self, outer_dims=None)
tensor_specs.BoundedTensorSpec.numpy_sample(self, outer_dims=None, rng=numpy.random)
tensor_specs.concat_specs(specs)
tensor_specs.torch_dtype_to_str(dtype)
nest.is_nested(value)
nest.is_namedtuple(value)
nest.is_unnamedtuple(value)
nest.flatten(nest)
nest.flatten_up_to(shallow_nest, nest)
nest.pack_sequence_as(nest, flat_seq)
nest.map_structure(func, *nests)
nest.map_structure_up_to(shallow_nest, func, *nests)
nest.map_structure_without_check(func, *nests)
nest.fast_map_structure(func, *structure)
nest.fast_map_structure_flatten(func, structure, *flat_structure)
nest.assert_same_structure(nest1, nest2)
nest.assert_same_structure_up_to(shallow_nest, deep_nest)
nest.prune_nest_like(nest, slim_nest, value_to_match=None)
nest.py_flatten(nest, keep_fields_order=False)
nest.py_flatten_up_to(shallow_nest, nest)
nest.py_pack_sequence_as(nest, flat_seq, keep_fields_order=False)
nest.py_assert_same_structure(nest1, nest2)
nest.py_map_structure(func, *nests)
nest.py_map_structure_up_to(shallow_nest, func, *nests)
nest.py_map_structure_with_path(func, *nests)
nest.py_prune_nest_like(nest, slim_nest, value_to_match=None)
nest.extract_fields_from_nest(nest, keep_order=False)
nest.extract_any_leaf_from_nest(nest)
nest.find_field(nest, name, ignore_empty=True)
nest.get_field(nested, field)
nest.set_field(nested, field, new_value)
nest.transform_nest(nested, field, func)
nest.transform_nests(nests, field, func)
nest.transpose(nested, shallow_nest=None, new_shallow_nest=None)
nest.nest_top_level(nested)
nest.batch_nested_tensor(nested_tensor)
nest.unbatch_nested_tensor(nested_tensor)
nest.get_nest_shape(nest)
nest.get_nest_size(nest, dim)
nest.get_nest_batch_size(nest)
nest.sum_nest(nested)
nest.utils
"""

REASONS: Final = {
    "parallel_environment.ParallelAlfEnvironment.start": "differs: its processes are started as it is made",
    "parallel_environment.ParallelAlfEnvironment.seed": "differs: the parameter is `seed`, and may be one number",
    "utils.create_environment": "differs: `env_name` is CartPole-v1, since Gymnasium calls v0 out of date",
    "utils.UnwrappedEnvChecker": "can't: it is for simulators in the agent's own process, and there are none here",
    "data_structures.add_batch_info": "can't: it is of ALF's replay buffer",
    "data_structures.clear_batch_info": "can't: it is of ALF's replay buffer",
    "nest.utils": "can't: it is layers of networks",
    "a named tuple's leaves come in the order of its fields' names": "differs: in that of its fields, as in dm-tree",
    "sample() follows torch.manual_seed": "differs: `numpy.random.seed`, also where there is no torch",
    "numpy_sample() gives ALF's very numbers of a RandomState": (
        "differs: others, which lie between bounds that are arrays too"
    ),
    "wrappers of Gymnasium's environments step with four results": (
        "differs: five, and so do those they take; `reset` gives an info too, as in Gymnasium"
    ),
    "a limit of Gymnasium's own ends an episode with discount 0": "differs: 1, since rewards could have followed",
    "a broken environment ends the whole batch": (
        'differs: only its own episode, with `env_info["crashed"]`, and another process takes its place'
    ),
    "steps come from processes through shared memory": "differs: through sockets, as `ParallelAlfEnvironment`'s",
    "start_method chooses how processes begin": (
        "differs: each is a fresh interpreter, without inherited locks; it is sent its constructor by cloudpickle, and "
        "takes the time to import what that needs"
    ),
    "a process takes anything with an action_spec()": "differs: an `AlfEnvironment`, whose specs it tells at the start",
    "get_info() is None before the first step": "differs: `{}`, then what Gymnasium's `reset` said",
    "AlfGymWrapper hands render() and seed() on": (
        "differs: Gymnasium's environments have no `seed`, but seeds in `reset`, and render in the mode that `make` has"
    ),
    "private names, such as _unstack_actions": "differs: what is private is each library's own",
    "seed() and get_info() raise where an environment has none": "differs: nothing is seeded, and there is no info",
    "current_time_step() is None before the first reset": "differs: it begins an episode, as the documentation says",
    "alf.configurable and gin set parameters": "can't: they are ALF's; `functools.partial` does the same",
}


@pytest.fixture(autouse=True, scope="module")
def library() -> Generator[None]:
    """Tensors are torch's, where it is."""
    tensors.chosen.cache_clear()
    yield
    tensors.chosen.cache_clear()


def test_interface_has_all_that_alfs_has() -> None:
    check_table("alf", [*names(), *behaviours()])


def names() -> Generator[Row]:
    for fact in re.sub(r"\n +", " ", FACTS).split("\n")[1:-1]:
        path, _, parameters = fact.partition("(")
        module, *parts = path.split(".")
        ours: Any = importlib.import_module(f"pluriverse.adapters.alf.{module}")
        for part in parts:
            # A spec's properties are attributes of each.
            ours = getattr(CUBE if ours is TensorSpec and not parameters else ours, part, None)
        same = ours is not None and (not parameters or takes(ours, signed(parameters.removesuffix(")"))))
        yield compare(path, same, REASONS)


def takes(ours: Any, theirs: Callable[..., None]) -> bool:
    """Whether ours takes what the original does, with the same defaults, where those are plain values."""
    own = signature(ours).parameters
    return accepts(ours, theirs) and all(
        each.default in (Parameter.empty, ...) or name not in own or own[name].default == each.default
        for name, each in signature(theirs).parameters.items()
    )


def signed(parameters: str) -> Callable[..., None]:
    """A function of these parameters; a default that is no plain value is ``...``."""
    arguments = ast.parse(f"lambda {parameters}: 0", mode="eval").body
    assert isinstance(arguments, ast.Lambda)
    plain, given = arguments.args.args, arguments.args.defaults
    defaults = [Parameter.empty] * (len(plain) - len(given)) + [plain_value(each) for each in given]
    made = [
        Parameter(each.arg, Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for each, default in zip(plain, defaults, strict=True)
    ]
    if arguments.args.vararg is not None:
        made.append(Parameter(arguments.args.vararg.arg, Parameter.VAR_POSITIONAL))
    if arguments.args.kwarg is not None:
        made.append(Parameter(arguments.args.kwarg.arg, Parameter.VAR_KEYWORD))

    def function() -> None: ...

    function.__signature__ = Signature(made)  # pyright: ignore[reportFunctionMemberAccess]
    return function


def plain_value(expression: ast.expr) -> Any:
    try:
        return ast.literal_eval(expression)
    except ValueError:
        return ...


CUBE: Final = BoundedTensorSpec((2, 3), "int32", -10, 10)
ROW: Final = BoundedTensorSpec((2,), "float32", -1, 1)


def random_environment(**options: Any) -> RandomAlfEnvironment:
    return RandomAlfEnvironment(CUBE, ROW, **options)


def step_of(env: Any) -> Any:
    return env.current_time_step()


def double(part: Any) -> Any:
    return part * 2


def raises(error: type[Exception], function: Callable[..., Any], *arguments: Any, **options: Any) -> bool:
    try:
        function(*arguments, **options)
    except error:
        return True
    return False


def behaviours() -> Generator[Row]:
    tried: dict[str, Callable[[], Any]] = {
        **environments_behave(),
        **wrappers_behave(),
        **batches_behave(),
        **nests_behave(),
        **specs_behave(),
    }
    for text, function in tried.items():
        yield compare(text, bool(function()), REASONS)


def environments_behave() -> dict[str, Callable[[], Any]]:
    action = ROW.numpy_zeros()

    def automatic_reset() -> bool:
        env = random_environment(max_duration=2, episode_end_probability=0)
        kinds = [int(env.step(action).step_type) for _ in range(4)]
        return kinds == [0, 1, 2, 0]

    def outcome() -> bool:
        env = random_environment(episode_end_probability=1)
        env.reset()
        return float(env.step(action).discount) == 0

    def gym_limit() -> bool:
        import gymnasium
        from pluriverse.adapters.alf.alf_gym_wrapper import AlfGymWrapper

        with AlfGymWrapper(gymnasium.make("CartPole-v1", max_episode_steps=1)) as env:
            env.reset()
            return float(env.step(0).discount) == 0

    def gym_steps() -> bool:
        import gymnasium
        from pluriverse.adapters.alf.gym_wrappers import FrameSkip

        env = FrameSkip(gymnasium.make("CartPole-v1"), 2)
        env.reset()
        return len(env.step(0)) == 4

    def gym_info() -> bool:
        with _loaded() as env:
            return env.get_info() is None

    def threaded() -> bool:
        with ThreadEnvironment(random_environment) as env:
            env.reset()
            return step_of(env).observation.shape == env.step(action).observation.shape

    first = restart(CUBE.numpy_zeros(), ROW)
    return {
        "get_info() is None before the first step": gym_info,
        "AlfGymWrapper hands render() and seed() on": lambda: False,
        "ThreadEnvironment takes its one action with and without a batch dimension": threaded,
        "namedtuple() takes its fields in one string": lambda: namedtuple("Pair", "a, b")() == (None, None),
        "private names, such as _unstack_actions": lambda: False,
        "step() begins an episode before the first reset() and after a LAST step": automatic_reset,
        "an outcome ends an episode with discount 0": outcome,
        "a limit of Gymnasium's own ends an episode with discount 0": gym_limit,
        "load() limits episodes by TimeLimit, and max_episode_steps=0 doesn't": lambda: (
            isinstance(_loaded(), TimeLimit) and not isinstance(_loaded(max_episode_steps=0), TimeLimit)
        ),
        "a time limit's LAST step keeps its discount": lambda: _last(_loaded(max_episode_steps=1)).discount == 1,
        "wrappers of Gymnasium's environments step with four results": gym_steps,
        "current_time_step() is None before the first reset": lambda: step_of(random_environment()) is None,
        "render() raises NotImplementedError where there is no picture": lambda: raises(
            NotImplementedError, random_environment().render, "human"
        ),
        "seed() and get_info() raise where an environment has none": lambda: raises(
            NotImplementedError, random_environment().get_info
        ),
        "StepType(2) is LAST, and StepType(3) a ValueError": lambda: (
            StepType(2) == StepType.LAST and raises(ValueError, StepType, 3)
        ),
        "TimeStep()'s fields are empty tuples": lambda: set(TimeStep()) == {()},
        "an Experience has the fields of its time step": lambda: Experience(first).reward == first.reward,
        "update_time_step_field() changes one part of it": lambda: (
            Experience(first).update_time_step_field("env_id", 3).env_id == 3
        ),
        "alf.configurable and gin set parameters": lambda: False,
    }


def _loaded(**options: Any) -> Any:
    with load("CartPole-v1", **options) as env:
        return env


def _last(env: Any) -> Any:
    env.reset()
    while not (step := env.step(0)).is_last():
        pass
    return step


def wrappers_behave() -> dict[str, Callable[[], Any]]:
    def multitask() -> bool:
        env = MultitaskWrapper.load(load, ["CartPole-v1"], env_id=2)
        step = env.step({"task_id": 0, "action": 1})
        task = BoundedTensorSpec((), "int64", 0, 0)
        return env.num_tasks == 1 and env.action_spec()["task_id"] == task and step.prev_action["task_id"] == 0

    def discrete() -> bool:
        seen: list[Any] = []

        def reward(_kind: Any, action: Any, _seen: Any) -> Any:
            seen.append(action)
            return np.float32(0)

        env = DiscreteActionWrapper(random_environment(reward_fn=reward), 3)
        env.reset()
        env.step(np.int64(5))
        return env.action_spec().maximum == 8 and seen[0].tolist() == [0, 1]

    def batch_of_one() -> bool:
        env = BatchedTensorWrapper(random_environment())
        return env.batched and env.is_tensor_based and tuple(env.reset().observation.shape) == (1, 2, 3)

    return {
        "MultitaskWrapper takes task_id and action": multitask,
        "DiscreteActionWrapper counts its choices, the first action's the slowest": discrete,
        "BatchedTensorWrapper makes a batch of one": batch_of_one,
    }


def batches_behave() -> dict[str, Callable[[], Any]]:
    options: Any = {"num_parallel_environments": 2, "seed": 1}

    def created(**more: Any) -> bool:
        with create_environment("CartPole-v1", **options, **more) as env:
            step = env.step(env.action_spec().zeros([2]))
            return env.batch_size == 2 and tuple(step.observation.shape) == (2, 4) and step.env_id.tolist() == [0, 1]

    def curriculum() -> bool:
        def any_name(_name: str, env_id: int | None = None) -> Any:
            return load("CartPole-v1", env_id)

        with create_environment(["one", "other"], any_name, **options, batched_wrappers=(CurriculumWrapper,)) as env:
            step = env.step(env.reset().prev_action)
            info = step.env_info["curriculum_task_prob"]
            return set(info) == {"one", "other"} and env.action_spec() == BoundedTensorSpec((), "int64", 0, 1)

    def for_evaluation() -> bool:
        limited = partial(load, max_episode_steps=3)
        options: Any = {"num_parallel_environments": 1, "nonparallel": True, "eval_env_load_fn": limited}
        env: Any = create_environment(**options, for_evaluation=True)
        with env:
            return env.duration == 3

    def crash_ends_all() -> bool:
        from pluriverse.adapters.alf.parallel_environment import ParallelAlfEnvironment
        from support.alf_envs import RAISE, Counting

        with ParallelAlfEnvironment([partial(Counting, breaks=True)] * 2) as env:
            env.reset()
            return raises(Exception, env.step, np.array([RAISE, 0]))

    return {
        "create_environment() makes a batch of tensors of processes": created,
        "create_environment(batch_size_per_env=2) has both in one process": partial(created, batch_size_per_env=2),
        "create_environment(flatten=False) gives the same": partial(created, flatten=False),
        "create_environment(for_evaluation=True) calls eval_env_load_fn": for_evaluation,
        "several names make tasks, which CurriculumWrapper chooses": curriculum,
        "a broken environment ends the whole batch": crash_ends_all,
        "steps come from processes through shared memory": lambda: False,
        "start_method chooses how processes begin": lambda: False,
        "a process takes anything with an action_spec()": lambda: False,
    }


def nests_behave() -> dict[str, Callable[[], Any]]:
    pair = TimeStep(reward=1, discount=2)
    shallow, deep = [[None], None], [[1], [2, 3]]
    return {
        "dicts' leaves come in the order of their sorted keys": lambda: nest.flatten({"b": 1, "a": [2]}) == [2, 1],
        "a named tuple's leaves come in the order of its fields' names": lambda: nest.flatten(pair) == [2, 1],
        "py_flatten() keeps the order of a dict's keys if told to": lambda: (
            nest.py_flatten({"b": 1, "a": [2]}, True) == [1, 2]
        ),
        "None is a leaf, and () has none": lambda: nest.flatten([None, ()]) == [None],
        "map_structure() raises RuntimeError for other structures": lambda: raises(
            RuntimeError, nest.map_structure, max, [1], [[1]]
        ),
        "py_map_structure() raises AssertionError for them": lambda: raises(
            AssertionError, nest.py_map_structure, max, [1], [[1]]
        ),
        "a list isn't a tuple": lambda: raises(RuntimeError, nest.assert_same_structure, [1], (1,)),
        "map_structure_up_to() stops at the shallow nest's leaves": lambda: (
            nest.map_structure_up_to(shallow, double, deep) == [[2], [2, 3, 2, 3]]
        ),
        "prune_nest_like() keeps what the other has": lambda: (
            nest.prune_nest_like({"a": 1, "b": 2}, {"b": 0}) == {"b": 2}
        ),
        "get_field() raises LookupError where there is none": lambda: raises(
            LookupError, nest.get_field, {"a": 1}, "a.b"
        ),
        "transform_nest() changes one part": lambda: (
            nest.transform_nest({"a": (1, 2)}, "a.1", lambda part: -part) == {"a": (1, -2)}
        ),
        "transpose() turns a nest inside out": lambda: nest.transpose([(0, 1), (2, 3)]) == ([0, 2], [1, 3]),
        "find_field() finds all parts of a name": lambda: nest.find_field({"a": 1, "b": [{"a": 2}]}, "a") == [1, 2],
    }


def specs_behave() -> dict[str, Callable[[], Any]]:
    def alfs_numbers() -> bool:
        drawn = BoundedTensorSpec((3,), "int64", 0, 9).numpy_sample(rng=np.random.RandomState(1))
        return drawn.tolist() == np.random.RandomState(1).randint(0, 10, 3).tolist()

    def torch_seed() -> bool:
        if importlib.util.find_spec("torch") is None:
            return False
        torch = importlib.import_module("torch")
        samples: list[Any] = []
        for _ in range(2):
            torch.manual_seed(0)
            samples.append(ROW.sample().tolist())
        return samples[0] == samples[1]

    return {
        "bounds are inclusive": lambda: BoundedTensorSpec((9,), "int32", 3, 3).sample().tolist() == [3] * 9,
        "a minimum above the maximum is an AssertionError": lambda: raises(
            AssertionError, BoundedTensorSpec, (2,), "float32", 2, 1
        ),
        "bounds that don't fit the shape are a ValueError": lambda: raises(
            ValueError, BoundedTensorSpec, (2,), "float32", [0, 0, 0], 1
        ),
        "a spec with bounds equals none without": lambda: TensorSpec((2,)) != ROW,
        "numpy_sample() takes a RandomState": lambda: ROW.contains(ROW.numpy_sample(rng=np.random.RandomState(0))),
        "numpy_sample() gives ALF's very numbers of a RandomState": alfs_numbers,
        "sample() follows torch.manual_seed": torch_seed,
        "rand() is 0 to 1": lambda: 0 <= TensorSpec((99,)).rand().min() <= TensorSpec((99,)).rand().max() < 1,
    }
