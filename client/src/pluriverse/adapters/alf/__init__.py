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

from .alf_environment import AlfEnvironment as AlfEnvironment
from .alf_gym_wrapper import AlfGymWrapper as AlfGymWrapper
from .alf_gym_wrapper import tensor_spec_from_gym_space as tensor_spec_from_gym_space
from .alf_wrappers import AlfEnvironmentBaseWrapper as AlfEnvironmentBaseWrapper
from .alf_wrappers import ContinuousActionClip as ContinuousActionClip
from .alf_wrappers import FrameStack as FrameStack
from .alf_wrappers import NonEpisodicAgent as NonEpisodicAgent
from .alf_wrappers import NormalizedActionWrapper as NormalizedActionWrapper
from .alf_wrappers import RewardClipping as RewardClipping
from .alf_wrappers import TensorWrapper as TensorWrapper
from .alf_wrappers import TimeLimit as TimeLimit
from .data_structures import StepType as StepType
from .data_structures import TimeStep as TimeStep
from .data_structures import restart as restart
from .data_structures import termination as termination
from .data_structures import time_step_spec as time_step_spec
from .data_structures import transition as transition
from .data_structures import truncation as truncation
from .parallel_environment import ParallelAlfEnvironment as ParallelAlfEnvironment
from .process_environment import ProcessEnvironment as ProcessEnvironment
from .process_environment import WorkerFailed as WorkerFailed
from .tensor_specs import BoundedTensorSpec as BoundedTensorSpec
from .tensor_specs import TensorSpec as TensorSpec
from .thread_environment import ThreadEnvironment as ThreadEnvironment
from .utils import create_environment as create_environment

if TYPE_CHECKING:
    from .suite_pluriverse import PluriverseAlfEnvironment as PluriverseAlfEnvironment
    from .suite_pluriverse import load as load


def __getattr__(name: str) -> Any:
    # Processes with an environment each have nothing to do with remotes, and needn't load all that plays those.
    if name in ("PluriverseAlfEnvironment", "load"):
        return getattr(importlib.import_module(".suite_pluriverse", __name__), name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
