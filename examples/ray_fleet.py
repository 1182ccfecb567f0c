"""RLlib's PPO balances poles on the machines of a Ray cluster: two runners, and each plays several remotes at once.

pip install "pluriverse[gymnasium,ray]" "ray[rllib]" torch
RAY_ADDRESS=head:6379 python examples/ray_fleet.py   # without the variable: a cluster of this machine alone
python examples/ray_fleet.py "ray:4?how=docker"      # or however each runner's remotes are to be started

Ray places runners and remotes where there is room, and brings back what dies.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import ray
from gymnasium.vector import VectorEnv
from gymnasium.wrappers.vector import FilterObservation, FlattenObservation
from pluriverse.adapters.gymnasium import PluriverseVectorEnv
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.env.env_context import EnvContext
from ray.tune.registry import register_env

ITERATIONS = 3
RUNNERS = 2
REMOTES = sys.argv[1] if len(sys.argv) > 1 else "ray:4"
EACH = int(REMOTES.partition("?")[0].removeprefix("ray:"))


def make(context: EnvContext) -> VectorEnv[Any, Any, Any]:
    """Return the environments of a runner: the states of poles, without their pictures."""
    env = PluriverseVectorEnv(
        "gym-core.CartPoleLowD-v0", num_envs=context["num_envs"], remotes=REMOTES, clock="lockstep", size=(1, 1)
    )
    return FlattenObservation(FilterObservation(env, ["observation"]))


register_env("poles", make)
config = (
    PPOConfig()
    .environment("poles")
    .env_runners(
        num_env_runners=RUNNERS,
        num_envs_per_env_runner=EACH,
        gym_env_vectorize_mode="vector_entry_point",
        # What comes later than that RLlib throws away.
        sample_timeout_s=600,
    )
    .training(train_batch_size_per_learner=1000, minibatch_size=100, num_epochs=10, lr=0.001)
)
if "RAY_ADDRESS" in os.environ:
    ray.init()
else:
    # One processor for each runner and one for the learner, whatever there are; a remote reserves a quarter.
    ray.init(num_cpus=RUNNERS + 1 + RUNNERS * EACH // 4 + 1, include_dashboard=False)
algorithm = config.build_algo()
try:
    for iteration in range(ITERATIONS):
        runners = algorithm.train()["env_runners"]
        steps, mean = runners["num_env_steps_sampled"], runners["episode_return_mean"]
        print(f"iteration {iteration + 1}: {steps:.0f} steps, mean return {mean:.1f}")
finally:
    algorithm.stop()
