"""Look ahead in GNOME 2048: worlds forked of the game try what may follow on each move, and the best one is made.

pip install "pluriverse[gymnasium]"
python examples/search_2048.py                  # three games each by chance, by greed and by search, of 100 moves
python examples/search_2048.py --worlds 32 --depth 8 --seeds 1
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import Core
from pluriverse.adapters.gymnasium import PluriverseEnv

GAME = "desktop.Gnome2048-v0"
# A move and its animation, in frames.
FRAMES = 20
MOVES = 4


def look_ahead(env: PluriverseEnv, worlds: Core, depth: int, chance: np.random.Generator) -> int:
    """Return the move after which the worlds earn most on average: it first, then ``depth - 1`` random ones."""
    worlds.restore_all([env.snapshot()] * worlds.n)
    first = np.arange(worlds.n) % MOVES
    moves, earned = first, np.zeros(worlds.n)
    for _ in range(depth):
        playing = [index for index in range(worlds.n) if worlds.phase(index) is not Phase.ENDED]
        worlds.send({index: int(moves[index]) for index in playing})
        worlds.receive_all()
        for index in playing:
            earned[index] += worlds.result(index).reward
        moves = chance.integers(MOVES, size=worlds.n)
    means = np.array([earned[first == move].mean() for move in range(MOVES)])
    return int(chance.choice(np.flatnonzero(means == means.max())))


def play(env: PluriverseEnv, seed: int, moves: int, worlds: Core | None, depth: int) -> float:
    """Return the score of a game after so many moves, or at its end; without worlds moves are random."""
    chance = np.random.default_rng(seed)
    env.reset(seed=seed)
    score = 0.0
    for _ in range(moves):
        move = int(chance.integers(MOVES)) if worlds is None else look_ahead(env, worlds, depth, chance)
        _, reward, terminated, truncated, _ = env.step(move)
        score += reward
        if terminated or truncated:
            break
    return score


def main() -> None:
    """Play by chance, by greed and by search, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--remotes", default="local:1", help="local:1, docker:1, or vnc://…")
    parser.add_argument("--worlds", type=int, default=16, help="how many try what follows; a multiple of 4")
    parser.add_argument("--depth", type=int, default=6, help="how many moves ahead")
    parser.add_argument("--moves", type=int, default=100, help="how many moves a game has at most")
    parser.add_argument("--seeds", type=int, default=3, help="how many games each way of playing plays")
    given = parser.parse_args()
    scores: dict[str, list[float]] = {}
    env = PluriverseEnv(GAME, remotes=given.remotes, clock="lockstep", frame_skip=FRAMES, size=(60, 80))
    try:
        env.reset(seed=1)
        ways: dict[str, tuple[Any, int]] = {
            "chance": (None, 0),
            "greed": (env.fork(MOVES).core, 1),
            "search": (env.fork(given.worlds).core, given.depth),
        }
        for way, (worlds, depth) in ways.items():
            scores[way] = [play(env, seed, given.moves, worlds, depth) for seed in range(1, given.seeds + 1)]
            print(f"{way}: {np.mean(scores[way]):.0f} on average of {scores[way]}", flush=True)
    finally:
        env.close()


if __name__ == "__main__":
    main()
