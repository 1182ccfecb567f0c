"""Look ahead in GNOME 2048: of the best ways so far, worlds forked of the game try each move, and the best ones go on.

pip install "pluriverse[gymnasium]"
python examples/search_2048.py                  # five games each by chance, by greed and by search, of 200 moves
python examples/search_2048.py --keep 4 --moves 300 --seeds 1

It is a beam search. What follows on a moment is the same each time, so it knows where the next tile will be, and the
way that it finds earns as much when it is played from the start. To be greedy is to go on with one way only.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import Core
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.adapters.snapshots import Snapshot

GAME = "desktop.Gnome2048-v0"
# A move and its animation, in frames.
FRAMES = 8
MOVES = 4


@dataclass
class Way:
    """Some moves from the start, and where they lead."""

    moves: list[int]
    score: float
    picture: bytes
    snapshot: Snapshot | None


def search(env: PluriverseEnv, worlds: Core, moves: int, chance: np.random.Generator) -> Way:
    """Return the best way of at most so many moves; the worlds are four for each way that goes on."""
    best = Way([], 0.0, env.core.picture(0).tobytes(), env.snapshot())
    ways = [best]
    for _ in range(moves):
        tried = [(way, move) for way in ways for move in range(MOVES)]
        worlds.restore_all([way.snapshot for way, _ in tried if way.snapshot])
        worlds.send({index: move for index, (_, move) in enumerate(tried)})
        worlds.receive_all()
        # A move that changes nothing is none, and of ways to the same tiles the better one goes on.
        found = {way.picture: (-1, way) for way in ways}
        for index in map(int, chance.permutation(len(tried))):
            way, move = tried[index]
            picture, score = worlds.picture(index).tobytes(), way.score + worlds.result(index).reward
            if picture not in found or score > found[picture][1].score:
                found[picture] = index, Way([*way.moves, move], score, picture, None)
        after = sorted((each for each in found.values() if each[0] >= 0), key=lambda each: -each[1].score)
        best = max([best, *(way for _, way in after)], key=lambda way: way.score)
        going = [each for each in after if worlds.phase(each[0]) is not Phase.ENDED][: worlds.n // MOVES]
        for index, way in going:
            way.snapshot = worlds.snapshot(index)
        ways = [way for _, way in going]
        if not ways:
            break
    return best


def play(env: PluriverseEnv, seed: int, moves: int, worlds: Core | None) -> float:
    """Return the score of a game after so many moves, or at its end; without worlds moves are random."""
    chance = np.random.default_rng(seed)
    env.reset(seed=seed)
    way = chance.integers(MOVES, size=moves).tolist() if worlds is None else search(env, worlds, moves, chance).moves
    return sum(reward for _, reward, *_ in env.replay(way, seed))


def main() -> None:
    """Play by chance, by greed and by search, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--remotes", default="local:1", help="local:1, docker:1, or vnc://…")
    parser.add_argument("--keep", type=int, default=2, help="how many ways go on")
    parser.add_argument("--moves", type=int, default=200, help="how many moves a game has at most")
    parser.add_argument("--seeds", type=int, default=5, help="how many games each way of playing plays")
    given = parser.parse_args()
    env = PluriverseEnv(GAME, remotes=given.remotes, clock="lockstep", frame_skip=FRAMES, size=(60, 80))
    try:
        env.reset(seed=1)
        players = {"chance": None, "greed": env.fork(MOVES).core, "search": env.fork(MOVES * given.keep).core}
        scores: dict[str, list[float]] = {player: [] for player in players}
        for seed in range(1, given.seeds + 1):
            for player, worlds in players.items():
                began = time.monotonic()
                scores[player].append(play(env, seed, given.moves, worlds))
                print(f"seed {seed}, {player}: {scores[player][-1]:g}, {time.monotonic() - began:.0f} s", flush=True)
        print(", ".join(f"{player} {np.mean(each):.0f}" for player, each in scores.items()), "on average")
    finally:
        env.close()


if __name__ == "__main__":
    main()
