"""Picture each family of environments, played at random, and how each task begins (``make gallery``): docs/gallery."""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from typing import Final

import gymnasium
import numpy as np
import pluriverse
from PIL import Image
from pluriverse.adapters.computer import Computer
from pluriverse.errors import PluriverseError
from pluriverse.runtimes import listed

FOLDER: Final = Path(__file__).with_name("gallery")
WIDTH: Final = 960
COLUMNS: Final = 3
ROWS: Final = 2
QUALITY: Final = 70

# Of tasks, small enough for two hundred of them.
TASKS: Final = FOLDER / "tasks"
TASK_SIZE: Final = (320, 240)
TASK_QUALITY: Final = 40

# How long each is played, in its own time, and may take to start beside other work.
SECONDS: Final = 4.0
START_S: Final = 300.0

gymnasium.register_envs(pluriverse)

# Their pictures' names, which begin with the runtime's; their titles; and patterns of their ids, of an environment's
# variants the plainest.
FAMILIES: Final = {
    "desktop": ("Free games and forms of Debian", r"desktop\."),
    "doom-free-play": ("Doom: free play", r"doom\.FreePlay(Map|E\dM)"),
    "doom-scenarios": ("Doom: scenarios", r"doom\.(?!FreePlay)"),
    "flashgames": ("Flash games", r"flashgames\."),
    "gym-core-atari": ("Atari", r"gym-core\.\w+NoFrameskip-v3$"),
    "gym-core-babyai": ("BabyAI", r"gym-core\.BabyAI"),
    "gym-core-control": (
        "Gymnasium: classic control, Box2D and toy text",
        r"gym-core\.(Acrobot|CartPole-v1|MountainCar|Pendulum|LunarLander|Bipedal|CarRacing|FrozenLake|CliffWalking-|Taxi)",
    ),
    "gym-core-minigrid": ("MiniGrid", r"gym-core\.MiniGrid"),
    "internet": ("Web pages", r"internet\."),
    "world-of-bits-flights": ("World of Bits: flights", r"wob\.flight\.(?!.*NoDecay)"),
    "world-of-bits-mini": ("World of Bits: MiniWoB", r"wob\.mini\.(?!.*NoDecay)"),
}


def families() -> dict[str, list[str]]:
    """Return the ids to picture of each family, spread over all that it has."""
    ids = listed()
    found: dict[str, list[str]] = {}
    for family, (_, pattern) in FAMILIES.items():
        members = [env_id for env_id in ids if re.match(pattern, env_id)]
        wanted = min(len(members), COLUMNS * ROWS)
        found[family] = [members[number * len(members) // wanted] for number in range(wanted)]
    return found


def picture(env_id: str) -> Image.Image:
    """Return what an environment shows after some seconds of random actions."""
    env = gymnasium.make(
        f"pluriverse/{env_id}",
        remotes="local:1",
        start_timeout_s=START_S,
        render_mode="rgb_array",
        disable_env_checker=True,
    )
    with contextlib.closing(env):
        env.reset(seed=1)
        env.action_space.seed(1)
        for _ in range(int(SECONDS * env.metadata["render_fps"])):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                break
        return Image.fromarray(np.asarray(env.render(), np.uint8))


def picture_tasks(runtime: str) -> None:
    """Picture how each task of a runtime begins, with seed 0."""
    ids = [env_id for env_id in listed() if env_id.startswith(f"{runtime}.")]
    with Computer(ids[0], "local:1", clock="lockstep", start_timeout_s=START_S) as computer:
        for env_id in ids:
            print(env_id, file=sys.stderr)
            computer.begin(0, env=env_id)
            tile = Image.fromarray(computer.pixels())
            tile.thumbnail(TASK_SIZE)
            tile.save(TASKS / f"{env_id}.webp", quality=TASK_QUALITY, method=6)


def main() -> int:
    """Picture all families and tasks, or those whose names begin as an argument does."""
    TASKS.mkdir(parents=True, exist_ok=True)
    wanted = tuple(sys.argv[1:]) or ("",)
    for runtime in ("tasks", "tasks-web"):
        if runtime.startswith(wanted):
            picture_tasks(runtime)
    for family, ids in families().items():
        if not family.startswith(wanted):
            continue
        columns = min(COLUMNS, len(ids))
        width, height = WIDTH // columns, WIDTH // columns * 3 // 4
        sheet = Image.new("RGB", (WIDTH, -(-len(ids) // columns) * height))
        for number, env_id in enumerate(ids):
            print(f"{family}: {env_id}", file=sys.stderr)
            try:
                tile = picture(env_id)
            except PluriverseError as error:
                print(error, file=sys.stderr)
                return 1
            tile.thumbnail((width, height))
            left, top = number % columns * width, number // columns * height
            sheet.paste(tile, (left + (width - tile.width) // 2, top + (height - tile.height) // 2))
        sheet.save(FOLDER / f"{family}.webp", quality=QUALITY, method=6)
    return 0


if __name__ == "__main__":
    sys.exit(main())
