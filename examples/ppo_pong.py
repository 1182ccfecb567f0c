"""PPO learns Pong from its pixels, in one file as CleanRL's are, and says how well after how many frames and minutes.

pip install "pluriverse[gymnasium]" torch; python examples/ppo_pong.py --curve curve.json --save mine.pt
python examples/ppo_pong.py --load mine.pt --play 20        # greedily; with --clock realtime at 60 fps
python examples/ppo_pong.py --load mine.pt --delay 3 --steps 400000 --save late.pt

pluriverse eval plays the file that $PPO_PONG names, or else ppo_pong.pt:
pluriverse eval examples/pong.toml --agent examples/ppo_pong.py:Learnt --modes paused,live,live+100

--remotes plays others than those of this machine. In lockstep the games wait while PPO learns; in real time they go on.
A return is from -21 to 21, a step is four frames.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import deque
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from pluriverse.adapters.gymnasium import PluriverseVectorEnv
from pluriverse.adapters.pictures import PictureOptions
from torch import nn

# Without sticky actions, with which it learns far later. No-ops before the first decision make episodes differ instead.
PONG: Final = "gym-core.PongNoFrameskip-v3"
# Of Pong's six actions three are the others with a button that does nothing: stay, up, down.
MOVES: Final = np.array([0, 2, 3])
FRAME_SKIP, STACK, NOOPS = 4, 4, 7
# The field without the score, as small as the ball can still be seen in the mean of the pixels.
CROP, SIZE = (0, 34, 160, 160), (42, 42)
# The field's grey is 0 to the network, and ball and paddles are about 1: of 0.34 and 0.6 it learns far later.
GROUND, CONTRAST = 87, 64

ROLLOUT, EPOCHS, MINIBATCH, LEARNING_RATE = 128, 4, 256, 5e-4
GAMMA, LAMBDA, CLIP, ENTROPY = 0.99, 0.95, 0.1, 0.01
torch.set_num_threads(1)  # two wait for each other longer than they compute, where games need the processors, too


class Agent(nn.Module):
    """Says of stacks of pictures, uint8 (n, 42, 42, STACK), the moves' logits and how much will be earned."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(_layer(nn.Conv2d(STACK, 16, 6, stride=3)), nn.ReLU()),
            *(_layer(nn.Conv2d(16, 32, 3, stride=2)), nn.ReLU(), nn.Flatten()),
            *(_layer(nn.Linear(32 * 6 * 6, 96)), nn.ReLU()),
        )
        # Colours last, as pictures are stacked: on a processor that takes three quarters of the time.
        self.body.to(memory_format=torch.channels_last)
        self.actor = _layer(nn.Linear(96, len(MOVES)), 0.01)
        self.critic = _layer(nn.Linear(96, 1), 1.0)

    def forward(self, stacks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (n, 3) and values (n,)."""
        features = self.body((stacks.permute(0, 3, 1, 2).float() - GROUND) / CONTRAST)
        return self.actor(features), self.critic(features)[:, 0]


def _layer(layer: Any, gain: float = 2**0.5) -> Any:
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Learnt:
    """What was learnt, as a policy for ``pluriverse eval``."""

    pictures = PictureOptions(crop=CROP, size=SIZE, grey=True)
    stack = STACK
    frame_skip = FRAME_SKIP

    def __init__(self) -> None:
        self._agent = Agent()
        self._agent.load_state_dict(torch.load(os.environ.get("PPO_PONG", "ppo_pong.pt"), weights_only=True))
        self._noops = 0

    @torch.inference_mode()
    def predict(self, observation: Any) -> int:
        """Return the likeliest action of a stack of pictures, uint8 (42, 42, 4), after an episode's no-ops."""
        begins = not observation[..., :-1].any()
        self._noops = np.random.randint(NOOPS + 1) if begins else self._noops - 1
        return int(MOVES[0 if self._noops > 0 else self._agent(torch.from_numpy(observation[None]))[0].argmax()])


class Games:
    """Many games at once. Where the agent is ``due`` it sees its stack of ``stacks`` and decides.

    With a delay, drawn for each episode, the last move goes on for so many steps first, as in ``pluriverse eval``.
    """

    def __init__(self, n: int, clock: str, remotes: str | None, delay: int, seed: int) -> None:
        """Start or find the remotes, and begin an episode in each game."""
        how: dict[str, Any] = {"clock": clock, "frame_skip": FRAME_SKIP, "crop": CROP, "size": SIZE, "grey": True}
        how |= {"remotes": remotes or ("local:1" if clock == "lockstep" else f"local:{n}"), "measured": False}
        self.vector = PluriverseVectorEnv(PONG, num_envs=n, autoreset_mode="SameStep", **how)
        self.stacks = np.zeros((n, *SIZE, STACK), np.uint8)
        self.due = np.ones(n, np.bool_)
        self.episodes: list[tuple[int, float]] = []
        self._returns = np.zeros(n)
        self._chance = np.random.default_rng(seed)
        self._most = delay
        self._delays, self._waits, self._decided, self._held = np.zeros((4, n), np.int64)
        self._begin(self.due)
        self._look(self.vector.reset(seed=seed)[0])

    def step(self, moves: Any) -> tuple[Any, Any]:
        """Take the decisions of those that are due, and play a step; return what all earned and where they ended."""
        self._decided = np.where(self.due, moves, self._decided)
        self._waits = np.where(self.due, self._delays, self._waits - 1)
        self.due = self._waits == 0
        self._held = np.where(self.due, self._decided, self._held)
        pictures, rewards, terminated, truncated, _ = self.vector.step(MOVES[self._held])
        ended = terminated | truncated
        self._returns += rewards
        self.episodes += [(int(game), float(self._returns[game])) for game in np.flatnonzero(ended)]
        self._begin(ended)
        self._look(pictures)
        return rewards, ended

    def _begin(self, where: Any) -> None:
        self._returns[where] = self._held[where] = self._decided[where] = self.stacks[where] = 0
        self._waits[where] = self._chance.integers(0, NOOPS + 1, int(where.sum()))
        self.due = np.where(where, self._waits == 0, self.due)
        self._delays[where] = self._chance.integers(0, self._most + 1, int(where.sum()))

    def _look(self, pictures: Any) -> None:
        pictures = pictures.reshape(-1, *SIZE, 1)
        self.stacks[self.due] = np.concatenate([self.stacks[self.due][..., 1:], pictures[self.due]], axis=-1)


def learn(agent: Agent, games: Games, steps: int, curve: list[dict[str, float | None]]) -> None:
    """Learn; add to the curve the mean return of the last hundred episodes."""
    n, began, last = len(games.due), time.monotonic(), deque[float](maxlen=100)
    optimizer = torch.optim.Adam(agent.parameters(), LEARNING_RATE, eps=1e-5)
    stacks = np.zeros((ROLLOUT, n, *SIZE, STACK), np.uint8)
    due, ended = np.zeros((2, ROLLOUT, n), np.bool_)
    moves = np.zeros((ROLLOUT, n), np.int64)
    logs, values, rewards, advantages = np.zeros((4, ROLLOUT, n), np.float32)
    updates = max(1, steps // (ROLLOUT * n))
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - update / updates)
        for step in range(ROLLOUT):
            stacks[step], due[step] = games.stacks, games.due
            moves[step], logs[step], values[step] = _decide(agent, stacks[step])
            rewards[step], ended[step] = games.step(moves[step])
        # Pong serves anew after each point: what comes then is no move's before.
        _estimate(advantages, due, rewards, ended | (rewards != 0), values, _decide(agent, games.stacks)[2])
        rows = np.flatnonzero(due)
        data = [torch.from_numpy(each.reshape(-1, *each.shape[2:])[rows]) for each in (stacks, moves, logs, advantages)]
        _improve(agent, optimizer, *data, torch.from_numpy((advantages + values).reshape(-1)[rows]))
        last.extend(earned for _, earned in games.episodes)
        games.episodes.clear()
        played, minutes = (update + 1) * ROLLOUT * n, (time.monotonic() - began) / 60
        mean = float(np.mean(last)) if last else None
        curve.append({"minutes": round(minutes, 2), "frames": played * FRAME_SKIP, "mean_return": mean})
        print(f"{minutes:6.2f} min  {played:8} steps, {played / (60 * minutes):.0f}/s  mean return {mean}", flush=True)


@torch.inference_mode()
def _decide(agent: Agent, stacks: Any) -> tuple[Any, Any, Any]:
    """Draw moves; return them, the logarithms of their probabilities, and values."""
    logits, values = agent(torch.from_numpy(stacks))
    logs = logits.log_softmax(-1)
    moves = logs.exp().multinomial(1)
    return moves[:, 0].numpy(), logs.gather(1, moves)[:, 0].numpy(), values.numpy()


def _estimate(advantages: Any, due: Any, rewards: Any, ends: Any, values: Any, follows: Any) -> None:
    """Generalised advantages of decisions, each of which earns what comes until the next."""
    earned = advantage = np.zeros_like(follows)
    for step in reversed(range(ROLLOUT)):
        goes_on = ~ends[step]
        earned, follows, advantage = rewards[step] + earned * goes_on, follows * goes_on, advantage * goes_on
        advantages[step] = earned + GAMMA * follows - values[step] + GAMMA * LAMBDA * advantage
        advantage = np.where(due[step], advantages[step], advantage)
        follows, earned = np.where(due[step], values[step], follows), np.where(due[step], 0, earned)


def _improve(agent: Agent, optimizer: Any, stacks: Any, moves: Any, before: Any, advantages: Any, returns: Any) -> None:
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(moves)).split(MINIBATCH):
            logits, values = agent(stacks[rows])
            logs = logits.log_softmax(-1)
            ratio = (logs.gather(1, moves[rows, None])[:, 0] - before[rows]).exp()
            advantage = advantages[rows]
            advantage = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
            gained = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
            entropy = -(logs.exp() * logs).sum(-1).mean()
            loss = (values - returns[rows]).square().mean() / 4 - gained - ENTROPY * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


@torch.inference_mode()
def play(agent: Agent, games: Games) -> list[float]:
    """Return what the likeliest moves earn in the first episode of each game."""
    firsts: dict[int, float] = {}
    while len(firsts) < len(games.due):
        games.step(agent(torch.from_numpy(games.stacks))[0].argmax(-1).numpy())
        firsts = dict(reversed(games.episodes))
    return list(firsts.values())


def main() -> None:
    """Learn or play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clock", choices=("lockstep", "realtime"), default="lockstep", help="default: lockstep")
    parser.add_argument("--remotes", help="default: local:1, and in real time one a game")
    parser.add_argument("--envs", type=int, default=16, help="how many games at once; default: 16")
    parser.add_argument("--steps", type=int, default=1_000_000, help="how many at most, of all games together")
    parser.add_argument("--delay", type=int, default=0, help="the most steps by which decisions are late; default: 0")
    parser.add_argument("--play", type=int, default=0, help="play so many episodes instead of learning")
    parser.add_argument("--load", type=Path, help="what was saved, to begin with")
    parser.add_argument("--save", type=Path, help="a file for what was learnt")
    parser.add_argument("--curve", type=Path, help="a file for the curve, as JSON")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    agent = Agent()
    if given.load is not None:
        agent.load_state_dict(torch.load(given.load, weights_only=True))
    games = Games(given.play or given.envs, given.clock, given.remotes, given.delay, given.seed)
    curve: list[dict[str, float | None]] = []
    try:
        if given.play:
            returns = play(agent, games)
            print(f"mean return {np.mean(returns):.2f} of {len(returns)}, from {min(returns):g} to {max(returns):g}")
        else:
            learn(agent, games, given.steps, curve)
    finally:
        games.vector.close()
        # Also of a run that is ended, or whose remotes broke.
        if given.save is not None:
            torch.save({name: weight.half() for name, weight in agent.state_dict().items()}, given.save)
        if given.curve is not None:
            run = {"what": "ppo_pong", "seed": given.seed, "delay": given.delay, "points": curve[::-10][::-1]}
            given.curve.write_text(json.dumps(run) + "\n")


if __name__ == "__main__":
    main()
