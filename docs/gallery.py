"""Picture each family of environments, played at random (``make gallery``): writes docs/gallery/FAMILY.webp."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

import gymnasium
import numpy as np
import pluriverse
from PIL import Image
from pluriverse.catalogue import environments
from pluriverse.errors import PluriverseError

FOLDER: Final = Path(__file__).with_name("gallery")
TILE: Final = (160, 120)
COLUMNS: Final = 6
ROWS: Final = 3
QUALITY: Final = 70

# How long each is played, in its own time.
SECONDS: Final = 4.0

gymnasium.register_envs(pluriverse)

# Patterns of their ids; of an environment's variants the plainest is played.
FAMILIES: Final = {
    "gym-core: Atari": r"gym-core\.\w+NoFrameskip-v3$",
    "gym-core: MiniGrid": r"gym-core\.MiniGrid",
    "gym-core: BabyAI": r"gym-core\.BabyAI",
    "gym-core: classic control, Box2D and toy texts": (
        r"gym-core\.(Acrobot|CartPole|MountainCar|Pendulum|LunarLander|Bipedal|CarRacing|FrozenLake|CliffWalking|Taxi)"
        r"(?!.*(LowD|Sync|Slippery|-v0$))"
    ),
    "doom: scenarios": r"doom\.(?!FreePlay)",
    "doom: free play": r"doom\.FreePlay(Map|E\dM)",
    "world-of-bits: MiniWoB": r"wob\.mini\.(?!.*NoDecay)",
    "world-of-bits: flights": r"wob\.flight\.(?!.*NoDecay)",
    "desktop": r"desktop\.",
    "flashgames": r"flashgames\.",
    "internet": r"internet\.",
}


def families() -> dict[str, list[str]]:
    """Return the ids to picture of each family, spread over all that it has."""
    ids = [str(entry["id"]) for entry in environments(None)]
    found: dict[str, list[str]] = {}
    for family, pattern in FAMILIES.items():
        members = [env_id for env_id in ids if re.match(pattern, env_id)]
        wanted = min(len(members), COLUMNS * ROWS)
        found[family] = [members[number * len(members) // wanted] for number in range(wanted)]
    return found


def picture(env_id: str) -> Image.Image:
    """Return what an environment shows after some seconds of random actions."""
    env = gymnasium.make(f"pluriverse/{env_id}", remotes="local:1", disable_env_checker=True)
    try:
        observation, _ = env.reset(seed=1)
        env.action_space.seed(1)
        for _ in range(int(SECONDS * 60)):
            observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                break
        shown = Image.fromarray(np.asarray(observation))
        shown.thumbnail(TILE)
        return shown
    finally:
        env.close()


def main() -> int:
    """Picture all families, or those whose names begin as an argument does."""
    FOLDER.mkdir(exist_ok=True)
    for family, ids in families().items():
        if sys.argv[1:] and not family.startswith(tuple(sys.argv[1:])):
            continue
        columns = min(COLUMNS, len(ids))
        sheet = Image.new("RGB", (columns * TILE[0], -(-len(ids) // columns) * TILE[1]))
        for number, env_id in enumerate(ids):
            print(f"{family}: {env_id}", file=sys.stderr)
            try:
                tile = picture(env_id)
            except PluriverseError as error:
                print(error, file=sys.stderr)
                return 1
            left, top = number % columns * TILE[0], number // columns * TILE[1]
            sheet.paste(tile, (left + (TILE[0] - tile.width) // 2, top + (TILE[1] - tile.height) // 2))
        sheet.save(FOLDER / f"{family.replace(': ', '-').replace(', ', '-').replace(' ', '-')}.webp", quality=QUALITY)
    return 0


if __name__ == "__main__":
    sys.exit(main())
