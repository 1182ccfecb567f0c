"""The cross-entropy method learns a game of Debian's that says nothing: its score is read from its screen.

pip install "pluriverse[gymnasium]"
python examples/moon_buggy.py --curve curve.json --save mine.npy
python examples/moon_buggy.py --load examples/moon_buggy.npy --play 20                    # beside as many at random
python examples/moon_buggy.py --load examples/moon_buggy.npy --play 8 --clock realtime    # live

moon-buggy drives over the moon in a terminal, and has to jump over craters. The agent sees how bright each character of
a row is: the ground, which has gaps. It jumps where a weighted sum of them is positive. In lockstep the game is played
many times faster than live, as fast as the machine can.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from pluriverse.adapters.gymnasium import PluriverseVectorEnv

GAME: Final = "desktop.MoonBuggy-v0"
FRAME_SKIP: Final = 4
# A minute, so that good drivers take no longer.
MAX_STEPS: Final = 900
# The ground, of which each character is a pixel.
CROP: Final = (0, 504, 792, 24)
SIZE: Final = (1, 66)
# The best of the last weights that were tried, about which the next are drawn, and how far from them at least.
RECENT: Final = 40
BEST: Final = 8
NOISE: Final = 0.1

Weights = Any


class Search:
    """The cross-entropy method without generations: each episode's weights are drawn about the best of the last."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        self._recent = deque[tuple[float, Weights]](maxlen=RECENT)

    def draw(self) -> Weights:
        """Return weights to try."""
        noise = self._chance.standard_normal(SIZE[1] + 1)
        if len(self._recent) < RECENT:
            return noise
        best = self._best()
        return best.mean(0) + (best.std(0) + NOISE) * noise

    def take(self, weights: Weights, earned: float) -> None:
        """Note what weights have earned."""
        self._recent.append((earned, weights))

    @property
    def mean(self) -> Weights:
        """About what the next are drawn."""
        return self._best().mean(0)

    def _best(self) -> Weights:
        return np.array([weights for _, weights in sorted(self._recent, key=lambda each: each[0])[-BEST:]])


def play(
    vector: PluriverseVectorEnv, draw: Callable[[], Weights | None], episodes: int, seed: int
) -> Iterator[tuple[Weights | None, float]]:
    """Play so many episodes, as many in each game, with weights that are drawn; yield these and what they earn.

    Where no weights are drawn, jump at random.
    """
    games = vector.num_envs
    chance = np.random.default_rng(seed)
    left, returns = np.full(games, -(-episodes // games)), np.zeros(games)
    weights = [draw() for _ in range(games)]
    rows, _ = vector.reset(seed=seed)
    while left.any():
        jumps = chance.integers(0, 2, games)
        for game, each in enumerate(weights):
            if each is not None:
                jumps[game] = each[0] + each[1:] @ (rows[game].reshape(-1) / 255) > 0
        rows, rewards, terminated, truncated, _ = vector.step(jumps)
        returns += rewards
        for game in np.flatnonzero(terminated | truncated):
            if left[game]:
                left[game] -= 1
                yield weights[game], float(returns[game])
            weights[game], returns[game] = draw(), 0


def learn(vector: PluriverseVectorEnv, search: Search, episodes: int, seed: int, curve: list[Any]) -> None:
    """Search for weights that earn much; add to the curve."""
    last = deque[float](maxlen=RECENT)
    began = time.monotonic()
    for count, (weights, earned) in enumerate(play(vector, search.draw, episodes, seed), 1):
        search.take(weights, earned)
        last.append(earned)
        if count % 10 == 0 or count == episodes:
            minutes = (time.monotonic() - began) / 60
            curve.append({"minutes": round(minutes, 2), "episodes": count, "mean_return": sum(last) / len(last)})
            print(f"{minutes:6.2f} min {count:5} episodes  mean of the last {len(last)}: {sum(last) / len(last):.1f}")


def compare(vector: PluriverseVectorEnv, weights: Weights, episodes: int, seed: int) -> None:
    """Say what weights earn, and what chance does."""
    means, errors = [], []
    for name, each in (("learnt", weights), ("at random", None)):
        earned = np.array([returned for _, returned in play(vector, lambda each=each: each, episodes, seed)])
        means.append(earned.mean())
        errors.append(earned.std(ddof=1) / len(earned) ** 0.5)
        print(f"{name}: {means[-1]:.1f} in the mean of {len(earned)} episodes, standard error {errors[-1]:.1f}")
    print(f"the difference is {(means[0] - means[1]) / np.hypot(*errors):.1f} standard errors")


def main() -> None:
    """Learn or play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clock", choices=("lockstep", "realtime"), default="lockstep", help="default: lockstep")
    parser.add_argument("--remotes", help="default: local:N, of as many as --envs says")
    parser.add_argument("--envs", type=int, default=4, help="how many games at once; default: 4")
    parser.add_argument("--episodes", type=int, default=400, help="how many to learn from; default: 400")
    parser.add_argument("--play", type=int, default=0, help="play so many episodes instead of learning")
    parser.add_argument("--load", type=Path, help="what was saved, to be played")
    parser.add_argument("--save", type=Path, help="a file for what was learnt, *.npy")
    parser.add_argument("--curve", type=Path, help="a file for the curve, as JSON")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    given = parser.parse_args()
    vector = PluriverseVectorEnv(
        GAME,
        num_envs=given.envs,
        remotes=given.remotes or f"local:{given.envs}",
        autoreset_mode="SameStep",
        clock=given.clock,
        frame_skip=FRAME_SKIP,
        max_episode_steps=MAX_STEPS,
        crop=CROP,
        size=SIZE,
        grey=True,
        measured=False,
    )
    search, curve = Search(given.seed), list[Any]()
    try:
        if given.play:
            compare(vector, np.load(given.load), given.play, given.seed)
        else:
            learn(vector, search, given.episodes, given.seed, curve)
    finally:
        vector.close()
        # Also of a run that is ended, or whose remotes broke.
        if given.save is not None and curve:
            np.save(given.save, search.mean.astype(np.float32))
        if given.curve is not None:
            document = {"what": "moon_buggy", "seed": given.seed, "points": curve}
            given.curve.write_text(json.dumps(document) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
