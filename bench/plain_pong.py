"""Pong as one would show it without us: Gymnasium, a pygame window, ``Clock.tick(60)``.

It paints the same metadata block in the same place as gym-core does, so that both are read in the same way.
"""

from __future__ import annotations

import os
import time
from typing import Any, Final, cast

os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
os.environ["SDL_AUDIODRIVER"] = "dummy"
# SDL would draw each frame through OpenGL, in software: eight times the work. Who measures finds that, so we do too.
os.environ["SDL_FRAMEBUFFER_ACCELERATION"] = "0"

import ale_py
import gymnasium
import numpy as np
import pygame
from pluriverse_protocol import metadata

SIZE: Final = (1024, 768)
BLOCK: Final = (960, 16)
FPS: Final = 60

# ale-py's full set of actions: nothing, right (up) and left (down).
ACTIONS: Final = {pygame.K_UP: 2, pygame.K_DOWN: 3}


def main() -> None:
    """Play until killed; says so once the first frame is drawn."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    gymnasium.register_envs(ale_py)
    env: Any = gymnasium.make("ALE/Pong-v5", frameskip=4, repeat_action_probability=0.0)
    pygame.display.init()
    screen = pygame.display.set_mode(SIZE, pygame.NOFRAME)
    pygame.mouse.set_visible(False)
    pygame.display.flip()
    clock = pygame.time.Clock()
    picture, _ = env.reset(seed=1)
    said = False
    while True:
        pygame.event.pump()
        pressed = pygame.key.get_pressed()
        action = next((action for key, action in ACTIONS.items() if pressed[key]), 0)
        picture, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            picture, _ = env.reset()
        show(screen, cast("np.ndarray[Any, Any]", picture))
        if not said:
            print("drawn", flush=True)
            said = True
        clock.tick(FPS)


def show(screen: pygame.Surface, picture: np.ndarray[Any, Any]) -> None:
    """Draw the picture at the top-left corner, and the clock in its block."""
    game = pygame.surfarray.make_surface(picture.swapaxes(0, 1))
    rows = metadata.encode(metadata.Metadata(clock=int(time.time() * 1000), probe=0))
    block = pygame.image.frombuffer(b"".join(rows), (metadata.WIDTH, metadata.HEIGHT), "RGB")
    pygame.display.update([screen.blit(game, (0, 0)), screen.blit(block, BLOCK)])


if __name__ == "__main__":
    main()
