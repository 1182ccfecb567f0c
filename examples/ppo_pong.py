"""PPO learns Pong from its pixels, in lockstep or in real time, and says how well after how many minutes.

pip install "pluriverse[gymnasium]" stable-baselines3
python examples/ppo_pong.py --clock lockstep --minutes 60 --curve lockstep.json
python examples/ppo_pong.py --clock realtime --minutes 60 --curve realtime.json

What was learnt plays the benchmark's Pong:
python examples/ppo_pong.py --minutes 40 --save ppo_pong.zip
pluriverse eval realtime --task pong --agent examples/ppo_pong.py:Learnt

It starts its remotes on this machine; --remotes plays others, as in "vnc://one:5900+15900,two:5900+15900". In real time
the games go on while PPO learns from what it has seen; in lockstep they wait for it. A return is from -21 to 21.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np
import torch
from pluriverse.adapters.gymnasium import PluriverseVectorEnv
from pluriverse.adapters.pictures import PictureOptions
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv, VecFrameStack, VecMonitor
from torch import nn

PONG: Final = "gym-core.PongNoFrameskip-v3"
FRAME_SKIP: Final = 4
FRAMES: Final = 4
# The field without the score, as small as the ball can still be seen.
CROP: Final = (0, 34, 160, 160)
SIZE: Final = (42, 42)
FEATURES: Final = 256


class Remotes(VecEnv):
    """A vector of remotes as Stable-Baselines3 has vectors: all of them step at once, and begin anew by themselves."""

    def __init__(self, vector: PluriverseVectorEnv) -> None:
        self._vector = vector
        self._actions = np.zeros(vector.num_envs, np.int64)
        pictures = gymnasium.spaces.Box(0, 255, (*SIZE, 1), np.uint8)
        super().__init__(vector.num_envs, pictures, vector.single_action_space)

    def reset(self) -> Any:
        """Begin an episode everywhere."""
        return _with_channel(self._vector.reset(seed=self._seeds[0])[0])

    def step_async(self, actions: Any) -> None:
        """Note what each is to do."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Act everywhere; return the frames, rewards, ends and infos."""
        frames, rewards, terminated, truncated, said = self._vector.step(self._actions)
        ended = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in ended]
        for index in np.flatnonzero(ended):
            last = _with_channel(said["final_obs"][index])
            infos[index] = {"terminal_observation": last, "TimeLimit.truncated": bool(truncated[index])}
        return _with_channel(frames), rewards.astype(np.float32), ended, infos

    def close(self) -> None:
        """End the remotes."""
        self._vector.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the vector, for each of them."""
        return [getattr(self._vector, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Do nothing: they are all alike."""

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **options: Any) -> list[Any]:
        """Refuse: they have none of their own."""
        raise NotImplementedError(method_name)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return whether they are wrapped, which none is."""
        return [False] * len(list(self._get_indices(indices)))


class Convolutions(BaseFeaturesExtractor):
    """Three layers of convolutions, a quarter of the usual network's work, as the pictures are a quarter of its."""

    def __init__(self, observation_space: gymnasium.spaces.Box) -> None:
        super().__init__(observation_space, FEATURES)
        self._layers = nn.Sequential(
            nn.Conv2d(FRAMES, 16, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.LazyLinear(FEATURES),
            nn.ReLU(),
        )
        with torch.no_grad():
            self._layers(torch.zeros(1, FRAMES, *SIZE))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the features of stacks of frames."""
        return self._layers(observations)


class Learnt:
    """What ``--save`` has written to ``$PPO_PONG``, or else to ppo_pong.zip, as a policy for ``pluriverse eval``."""

    pictures = PictureOptions(crop=CROP, size=SIZE, grey=True)
    stack = FRAMES
    frame_skip = FRAME_SKIP

    def __init__(self) -> None:
        # Beside others of its kind, each with its game.
        torch.set_num_threads(1)
        self._model = PPO.load(os.environ.get("PPO_PONG", "ppo_pong.zip"), device="cpu")

    def predict(self, observation: Any) -> int:
        """Return the likeliest action of a stack of frames, uint8 (42, 42, 4)."""
        return int(self._model.predict(observation, deterministic=True)[0])


class Curve(BaseCallback):
    """Notes the mean return of the last hundred episodes after each rollout; ends when that or the time is enough."""

    def __init__(self, seconds: float, enough: float) -> None:
        super().__init__()
        self.points: list[dict[str, float | None]] = []
        self._seconds = seconds
        self._enough = enough
        self._began = time.monotonic()

    def _on_step(self) -> bool:
        mean = self.points[-1]["mean_return"] if self.points else None
        return time.monotonic() - self._began < self._seconds and (mean is None or mean < self._enough)

    def _on_rollout_end(self) -> None:
        returns = [episode["r"] for episode in self.model.ep_info_buffer or ()]
        point = {
            "minutes": round((time.monotonic() - self._began) / 60, 3),
            "steps": self.num_timesteps,
            "mean_return": round(float(np.mean(returns)), 3) if returns else None,
        }
        self.points.append(point)
        mean = "no episode yet" if point["mean_return"] is None else f"mean return {point['mean_return']:.1f}"
        print(f"{point['minutes']:6.2f} min  {point['steps']:8} steps  {mean}", flush=True)


def _with_channel(frames: Any) -> Any:
    return frames if frames.shape[-1] == 1 else frames[..., None]


def main() -> None:
    """Learn, and write the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clock", choices=("lockstep", "realtime"), default="lockstep", help="default: lockstep")
    parser.add_argument("--remotes", help="default: as many as --envs need, started on this machine")
    parser.add_argument("--envs", type=int, default=16, help="how many games at once; default: 16")
    parser.add_argument("--minutes", type=float, default=60.0, help="how long to learn at most; default: 60")
    parser.add_argument("--until", type=float, default=21.0, help="the mean return that is enough; default: 21")
    parser.add_argument("--steps", type=int, default=10_000_000, help="how many steps at most, of all games together")
    parser.add_argument("--rollout", type=int, default=128, help="steps of each game between two updates; default: 128")
    parser.add_argument("--curve", type=Path, help="a file for the curve, as JSON")
    parser.add_argument("--save", type=Path, help="a file for what was learnt")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    chosen = parser.parse_args()
    vector = PluriverseVectorEnv(
        PONG,
        num_envs=chosen.envs,
        remotes=chosen.remotes,
        autoreset_mode="SameStep",
        clock=chosen.clock,
        frame_skip=FRAME_SKIP,
        crop=CROP,
        size=SIZE,
        grey=True,
        measured=False,
    )
    games = VecFrameStack(VecMonitor(Remotes(vector)), FRAMES)
    try:
        curve = Curve(60 * chosen.minutes, chosen.until)
        model = PPO(
            "CnnPolicy",
            games,
            n_steps=chosen.rollout,
            batch_size=min(256, chosen.rollout * chosen.envs),
            n_epochs=4,
            learning_rate=5e-4,
            clip_range=0.1,
            ent_coef=0.01,
            policy_kwargs={"features_extractor_class": Convolutions},
            seed=chosen.seed,
            device="cpu",
        )
        try:
            model.learn(chosen.steps, callback=curve)
        finally:
            # Also of a run that is ended, or whose remotes broke.
            if chosen.save is not None:
                model.save(chosen.save)
    finally:
        games.close()
    if chosen.curve is not None:
        document = {"clock": chosen.clock, "envs": chosen.envs, "seed": chosen.seed, "points": curve.points}
        chosen.curve.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
