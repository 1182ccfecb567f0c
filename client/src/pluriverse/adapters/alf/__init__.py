"""ALF's interface: all remotes as one batch, which takes and returns tensors, with the eight-field ``TimeStep``.

env = pluriverse.adapters.alf.load("gym-core.PongDeterministic-v3", remotes="local:2")
time_step = env.reset()
for _ in range(100):
    time_step = env.step(env.action_spec().sample(outer_dims=[env.batch_size]))
env.close()

Nothing here needs ALF itself.
"""

from __future__ import annotations

from .data_structures import StepType as StepType
from .data_structures import TimeStep as TimeStep
from .suite_pluriverse import PluriverseAlfEnvironment as PluriverseAlfEnvironment
from .suite_pluriverse import load as load
from .tensor_specs import BoundedTensorSpec as BoundedTensorSpec
from .tensor_specs import TensorSpec as TensorSpec
