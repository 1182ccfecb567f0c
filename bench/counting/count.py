"""Counts up at random moments in the digits of the game that init writes; says when each number was on the screen."""

from __future__ import annotations

import random
import runpy
import sys
import time
from pathlib import Path
from typing import Final

import numpy as np
from pluriverse_server.kit import Window

GAME: Final = Path(__file__).parents[2] / "authoring/src/pluriverse_authoring/templates/game.py"
WIDTH, HEIGHT = 320, 240

# Longer than a reward takes, so that each is known by the number before it; and out of step with any frame rate.
SHORTEST_S, LONGEST_S = 0.12, 0.24


def main() -> None:
    """Count until killed."""
    number = runpy.run_path(str(GAME))["number"]
    with Window(WIDTH, HEIGHT, title="Counting") as window:
        region = window.image(0, 0, WIDTH, HEIGHT)
        picture = np.frombuffer(region.memory, np.uint8).reshape(HEIGHT, WIDTH, 4)
        for count in range(100_000, 1_000_000):
            picture[:] = 0
            number(picture, str(count), 8, 8)
            window.put(region)
            sys.stdout.write(f"drawn {time.time():.6f}\n")
            sys.stdout.flush()
            time.sleep(random.uniform(SHORTEST_S, LONGEST_S))


if __name__ == "__main__":
    main()
