"""ALF's interface: environments that give the eight-field ``TimeStep``, and batches of them that give tensors.

env = pluriverse.adapters.alf.load("gym-core.PongDeterministic-v3", remotes="local:2")
time_step = env.reset()
for _ in range(100):
    time_step = env.step(env.action_spec().sample(outer_dims=[env.batch_size]))
env.close()

The modules are called as in ALF, so that an agent changes its imports: ``alf.environments.alf_gym_wrapper`` is
``pluriverse.adapters.alf.alf_gym_wrapper``. Nothing here needs ALF itself.
"""

from __future__ import annotations

from .alf_environment import AlfEnvironment as AlfEnvironment
from .alf_wrappers import AlfEnvironmentBaseWrapper as AlfEnvironmentBaseWrapper
from .alf_wrappers import TimeLimit as TimeLimit
from .data_structures import StepType as StepType
from .data_structures import TimeStep as TimeStep
from .data_structures import restart as restart
from .data_structures import termination as termination
from .data_structures import time_step_spec as time_step_spec
from .data_structures import transition as transition
from .data_structures import truncation as truncation
from .parallel_environment import ParallelAlfEnvironment as ParallelAlfEnvironment
from .suite_pluriverse import PluriverseAlfEnvironment as PluriverseAlfEnvironment
from .suite_pluriverse import load as load
from .tensor_specs import BoundedTensorSpec as BoundedTensorSpec
from .tensor_specs import TensorSpec as TensorSpec
from .thread_environment import ThreadEnvironment as ThreadEnvironment
from .utils import create_environment as create_environment
