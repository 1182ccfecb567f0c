"""EnvPool's interface over remotes: ``import pluriverse.adapters.envpool as envpool`` in place of ``import envpool``.

    env = envpool.make_gymnasium("Pong-v5", num_envs=4, batch_size=2, remotes="local:4")
    env.async_reset()
    while True:
        observations, rewards, terminated, truncated, info = env.recv()
        env.send(policy(observations), info["env_id"])

It behaves as EnvPool, except that time goes on between two calls. It adds ``info["pluriverse"]``, and has no
``info["ram"]``, which no screen shows.
"""

from __future__ import annotations

from pluriverse.errors import needed

with needed("EnvPool's interface", extra="envpool"):
    from .registration import list_all_envs, make, make_dm, make_gym, make_gymnasium, make_spec

__all__ = ["list_all_envs", "make", "make_dm", "make_gym", "make_gymnasium", "make_spec"]
