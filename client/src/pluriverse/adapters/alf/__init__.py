"""ALF's interface: environments that give the eight-field ``TimeStep``, and batches of them that give tensors.

env = pluriverse.adapters.alf.load("gym-core.PongDeterministic-v3", remotes="local:2")
time_step = env.reset()
for _ in range(100):
    time_step = env.step(env.action_spec().sample(outer_dims=[env.batch_size]))
env.close()

The modules are called as in ALF, so that an agent changes its imports: ``alf.environments.suite_gym`` is
``pluriverse.adapters.alf.suite_gym``. Nothing here needs ALF itself.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .alf_environment import AlfEnvironment
from .alf_gym_wrapper import AlfGymWrapper, tensor_spec_from_gym_space
from .alf_wrappers import (
    AlfEnvironmentBaseWrapper,
    ContinuousActionClip,
    FrameGrayScale,
    FrameResize,
    FrameSkip,
    FrameStack,
    NonEpisodicAgent,
    NormalizedAction,
    RewardClipping,
    TensorWrapper,
    TimeLimit,
)
from .data_structures import StepType, TimeStep, restart, termination, time_step_spec, transition, truncation
from .parallel_environment import ParallelAlfEnvironment
from .process_environment import ProcessEnvironment, WorkerFailed
from .tensor_specs import BoundedTensorSpec, TensorSpec
from .thread_environment import ThreadEnvironment
from .utils import create_environment

if TYPE_CHECKING:
    from .suite_pluriverse import PluriverseAlfEnvironment, load

__all__ = [
    "AlfEnvironment",
    "AlfEnvironmentBaseWrapper",
    "AlfGymWrapper",
    "BoundedTensorSpec",
    "ContinuousActionClip",
    "FrameGrayScale",
    "FrameResize",
    "FrameSkip",
    "FrameStack",
    "NonEpisodicAgent",
    "NormalizedAction",
    "ParallelAlfEnvironment",
    "PluriverseAlfEnvironment",
    "ProcessEnvironment",
    "RewardClipping",
    "StepType",
    "TensorSpec",
    "TensorWrapper",
    "ThreadEnvironment",
    "TimeLimit",
    "TimeStep",
    "WorkerFailed",
    "create_environment",
    "load",
    "restart",
    "tensor_spec_from_gym_space",
    "termination",
    "time_step_spec",
    "transition",
    "truncation",
]


def __getattr__(name: str) -> Any:
    # Processes with an environment each have nothing to do with remotes, and needn't load all that plays those.
    if name in ("PluriverseAlfEnvironment", "load"):
        return getattr(importlib.import_module(".suite_pluriverse", __name__), name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
