"""Explore a game from the moments seen so far, as Go-Explore does: return to one, act at random, keep what is new.

pip install "pluriverse[gymnasium]"
python examples/go_explore.py                                                     # Ms. Pac-Man, on this machine
python examples/go_explore.py --env gym-core.MontezumaRevengeDeterministic-v3 --steps 1000000
python examples/go_explore.py --env desktop.Vitetris-v0 --steps 6000 --cells 300                # any program of desktop
python examples/go_explore.py --env desktop.Vitetris-v0 --steps 6000 --cells 300 --replay       # without its snapshots

A cell is what the game looks like in 11 by 8 pixels of 8 shades of grey (Ecoffet et al., 2021). The archive has a
snapshot of the best way into each. The best way of all is then played from the start, and has to earn the same.
"""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pluriverse.adapters.gymnasium import PluriverseEnv
from pluriverse.adapters.snapshots import Snapshot

SHADES = 8
# How long to explore from a cell, and how likely an action is to be repeated meanwhile.
EXPLORE = 100
REPEAT = 0.95


@dataclass
class Cell:
    """The best way into what looks alike."""

    snapshot: Snapshot
    score: float
    actions: list[int]
    visits: int = 0


def looks(picture: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    """Return what is the same of pictures that look alike."""
    return (picture // (256 // SHADES)).tobytes()


def explore(env: PluriverseEnv, given: argparse.Namespace, chance: random.Random) -> Cell:
    """Return the best of all cells that were found within so many steps."""
    steps = given.steps

    def snapshot() -> Snapshot:
        # Without what the remote keeps it is played again.
        return replace(env.snapshot(), kept=None) if given.replay else env.snapshot()

    picture, _ = env.reset(seed=given.seed)
    archive = {looks(picture): Cell(snapshot(), 0.0, [])}
    done, began = 0, time.monotonic()
    said = began
    while done < steps:
        cells = list(archive.values())
        (cell,) = chance.choices(cells, [(each.visits + 1) ** -0.5 for each in cells])
        cell.visits += 1
        env.restore(cell.snapshot)
        score, actions = cell.score, list(cell.actions)
        action = chance.randrange(env.core.actions.n)
        for _ in range(EXPLORE):
            if chance.random() > REPEAT:
                action = chance.randrange(env.core.actions.n)
            picture, reward, terminated, truncated, _ = env.step(action)
            done += 1
            if terminated or truncated:
                break
            score += reward
            actions.append(action)
            key = looks(picture)
            known = archive.get(key)
            if known is None and len(archive) < given.cells:
                archive[key] = Cell(snapshot(), score, list(actions))
            elif known is not None and (score, -len(actions)) > (known.score, -len(known.actions)):
                known.snapshot, known.score, known.actions, known.visits = snapshot(), score, list(actions), 0
        now = time.monotonic()
        if now > said + 5 or done >= steps:
            said = now
            best = max(each.score for each in archive.values())
            speed, found = done / (now - began), 3600 * len(archive) / (now - began)
            print(f"{done} steps, {speed:.0f} a second: {len(archive)} cells, {found:.0f} an hour, best score {best:g}")
    return max(archive.values(), key=lambda each: (each.score, len(each.actions)))


def main() -> None:
    """Explore, and show that the best way is one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default="gym-core.MsPacmanDeterministic-v3", help="the environment's id")
    parser.add_argument("--remotes", default="local:1", help="local:1, docker:1, or vnc://…")
    parser.add_argument("--steps", type=int, default=20_000, help="how many steps to explore for")
    parser.add_argument("--seed", type=int, default=1, help="of the game, and of the exploration")
    parser.add_argument("--cells", type=int, default=4000, help="how many to keep; a remote keeps up to 1 GiB")
    parser.add_argument("--replay", action="store_true", help="go back by playing again, for comparison")
    given = parser.parse_args()
    env = PluriverseEnv(given.env, remotes=given.remotes, clock="lockstep", size=(8, 11), grey=True)
    try:
        best = explore(env, given, random.Random(given.seed))  # noqa: S311
        rewards = [reward for _, reward, *_ in env.replay(best.actions, given.seed)]
        print(f"the best way has {len(best.actions)} steps and scores {best.score:g}; played again {sum(rewards):g}")
        if sum(rewards) != best.score:
            raise SystemExit("it should be the same")
    finally:
        env.close()


if __name__ == "__main__":
    main()
