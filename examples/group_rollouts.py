"""Learn what to do from one moment of a game on, as GRPO does: rollouts from it are judged by their group.

pip install "pluriverse[gymnasium]"
python examples/group_rollouts.py                        # Kobo Deluxe, 16 worlds of one moment, in minutes
python examples/group_rollouts.py --env desktop.ChromiumBsu-v0 --steps 100

The policy is one layer: the shades of a small picture, and what it was before, weigh each action.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv

Floats = NDArray[np.float64]

SIZE = (15, 20)
# How long an action lasts.
FRAMES = 16
# How many random steps lead to the moment.
BEFORE = 20


class Policy:
    """Chooses an action for each world, by what it sees."""

    def __init__(self, actions: int) -> None:
        self.weights: Floats = np.zeros((2 * SIZE[0] * SIZE[1] + 1, actions))

    def chances(self, seen: Floats) -> Floats:
        """Return how likely each action is: (worlds, actions)."""
        logits = seen @ self.weights
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)


def features(pictures: Any, before: Any) -> Floats:
    """Return what a policy sees of pictures, and of those one step before."""
    now, change = (each.reshape(len(pictures), -1) / 255.0 for each in (pictures, pictures.astype(float) - before))
    return np.concatenate([now - 0.5, change, np.ones((len(pictures), 1))], axis=1)


def rollouts(
    worlds: PluriverseVectorEnv, moment: Any, policy: Policy, steps: int, chance: np.random.Generator
) -> tuple[Floats, Floats]:
    """Play from the moment in all worlds; return what each earned, and the gradient of what each did."""
    pictures, _ = worlds.restore([moment] * worlds.num_envs)
    before, earned = pictures, np.zeros(worlds.num_envs)
    gradients = np.zeros((worlds.num_envs, *policy.weights.shape))
    playing = np.ones(worlds.num_envs, bool)
    for _ in range(steps):
        seen = features(pictures, before)
        chances = policy.chances(seen)
        actions = (chances.cumsum(axis=1) > chance.random((worlds.num_envs, 1))).argmax(axis=1)
        surprise = np.eye(chances.shape[1])[actions] - chances
        gradients += playing[:, None, None] * seen[:, :, None] * surprise[:, None, :]
        before = pictures
        pictures, rewards, terminated, truncated, _ = worlds.step(actions)
        earned += playing * rewards
        playing &= ~(np.asarray(terminated) | np.asarray(truncated))
        if not playing.any():
            break
    return earned, gradients / steps


def main() -> None:
    """Learn, and say what the group earns on average."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default="desktop.KoboDeluxe-v0", help="the environment's id")
    parser.add_argument("--remotes", default="local:1", help="local:1, docker:1, or vnc://…")
    parser.add_argument("--worlds", type=int, default=16, help="how many rollouts a group has")
    parser.add_argument("--steps", type=int, default=60, help="how long each is, at most")
    parser.add_argument("--updates", type=int, default=12, help="how often to learn from a group")
    parser.add_argument("--rate", type=float, default=0.3, help="how much to learn at a time")
    parser.add_argument("--seed", type=int, default=1, help="of the game and of the policy's chance")
    parser.add_argument("--curve", type=Path, help="a file for what the groups earned, in JSON")
    given = parser.parse_args()
    chance = np.random.default_rng(given.seed)
    points: list[dict[str, float]] = []
    env = PluriverseEnv(given.env, remotes=given.remotes, clock="lockstep", frame_skip=FRAMES, size=SIZE, grey=True)
    try:
        env.reset(seed=given.seed)
        actions = env.core.actions.n
        for _ in range(BEFORE):
            env.step(int(chance.integers(actions)))
        moment, worlds, policy = env.snapshot(), env.fork(given.worlds), Policy(actions)
        for update in range(given.updates):
            earned, gradients = rollouts(worlds, moment, policy, given.steps, chance)
            advantages = (earned - earned.mean()) / (earned.std() + 1e-6)
            policy.weights += given.rate * np.tensordot(advantages, gradients, axes=1) / given.worlds
            points.append({"groups": update + 1, "mean_return": float(earned.mean())})
            print(f"group {update + 1}: {earned.mean():.1f} on average, {earned.max():g} at best", flush=True)
    finally:
        env.close()
    if given.curve:
        given.curve.write_text(json.dumps({"what": "group_rollouts", "seed": given.seed, "points": points}))


if __name__ == "__main__":
    main()
