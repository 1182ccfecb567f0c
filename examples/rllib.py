"""RLlib's PPO balances a pole, with two runners that have a remote each.

pip install "pluriverse[gymnasium]" "ray[rllib]" torch
python examples/rllib.py                                            # starts two remotes on this machine
python examples/rllib.py vnc://one:5900+15900 vnc://two:5900+15900  # or plays these

The environment waits for its agent, so that learning takes from it no more than its steps.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
import ray
from gymnasium.wrappers import FilterObservation, FlattenObservation
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.env.env_context import EnvContext
from ray.tune.registry import register_env

ITERATIONS = 3
remotes = sys.argv[1:] or ["local:1", "local:1"]


def make(context: EnvContext) -> gymnasium.Env[Any, Any]:
    """Return the environment of a runner: the state of the pole, without its picture."""
    # Runners count from 1; a remote has one agent.
    remote = remotes[context.worker_index - 1]
    env = gymnasium.make(
        "pluriverse:pluriverse/gym-core.CartPoleLowD-v0", remotes=remote, clock="lockstep", size=(1, 1)
    )
    return FlattenObservation(FilterObservation(env, ["observation"]))


register_env("pole", make)
config = (
    PPOConfig()
    .environment("pole")
    # What comes later than that RLlib throws away.
    .env_runners(num_env_runners=len(remotes), sample_timeout_s=600)
    .training(train_batch_size_per_learner=500, minibatch_size=100, num_epochs=10, lr=0.001)
)
# One processor for each runner and one for the learner, whatever there are.
ray.init(num_cpus=len(remotes) + 1, include_dashboard=False)
algorithm = config.build_algo()
try:
    for iteration in range(ITERATIONS):
        runners = algorithm.train()["env_runners"]
        steps, mean = runners["num_env_steps_sampled"], runners["episode_return_mean"]
        print(f"iteration {iteration + 1}: {steps:.0f} steps, mean return {mean:.1f}")
finally:
    algorithm.stop()
