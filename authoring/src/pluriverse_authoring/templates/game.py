"""Catch what falls: Left and Right move the basket, Space begins, Escape ends.

It knows nothing of pluriverse but the window that it draws in: put any program that has one in its place.
"""

from __future__ import annotations

import argparse
import select
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pluriverse_server.kit import Keyboard, Pacer, Window

WIDTH, HEIGHT, FPS = 320, 240, 60
LEFT, RIGHT, SPACE, ESCAPE = 0xFF51, 0xFF53, 0x20, 0xFF1B

# Blue, green, red.
SKY, INK, GREEN, BASKET, FRUIT = (48, 32, 24), (255, 255, 255), (87, 139, 46), (80, 180, 255), (80, 80, 235)

# Three by five dots a digit, row by row; each dot is DOT x DOT pixels.
FONT = ("75557", "26227", "71747", "71717", "55711", "74717", "74757", "71111", "75757", "75717")
DOT = 4
ADVANCE = 4 * DOT

BASKET_WIDTH, BASKET_SPEED = 56, 5
FRUIT_SIZE, FRUIT_SPEED = 12, 3
LIVES = 3
# So many frames the end is to be seen before Escape leaves it, as in most games.
END_FRAMES = 30

Picture = NDArray[np.uint8]


class Game:
    """The state of the game, and its rules from frame to frame."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.playing = False
        self.score, self.lives = 0, LIVES
        self.frames_since_end = 0
        self.basket = WIDTH // 2
        self.x, self.y = 0, 0

    def begin(self) -> None:
        self.playing = True
        self.score, self.lives = 0, LIVES
        self.frames_since_end = 0
        self.basket = WIDTH // 2
        self.drop()

    def leave(self) -> None:
        if self.lives > 0 or self.frames_since_end >= END_FRAMES:
            self.playing = False

    def drop(self) -> None:
        self.x, self.y = int(self.random.integers(WIDTH - FRUIT_SIZE)), 40

    def step(self, held: set[int]) -> None:
        if self.lives == 0:
            self.frames_since_end += 1
        if not self.playing or self.lives == 0:
            return
        self.basket += BASKET_SPEED * ((RIGHT in held) - (LEFT in held))
        self.basket = max(BASKET_WIDTH // 2, min(WIDTH - BASKET_WIDTH // 2, self.basket))
        self.y += FRUIT_SPEED
        if self.y < HEIGHT - 24:
            return
        if abs(self.x + FRUIT_SIZE // 2 - self.basket) <= BASKET_WIDTH // 2:
            self.score += 1
        else:
            self.lives -= 1
        self.drop()

    def draw(self, picture: Picture) -> None:
        """Paint all of it; ``picture`` is (HEIGHT, WIDTH, 4), blue, green, red and a byte that means nothing."""
        picture[:, :, :3] = SKY
        if not self.playing:
            picture[100:140, 100:220, :3] = GREEN
            return
        number(picture, str(self.score), 8, 8)
        number(picture, str(self.lives), WIDTH - 24, 8)
        if self.lives > 0:
            picture[self.y : self.y + FRUIT_SIZE, self.x : self.x + FRUIT_SIZE, :3] = FRUIT
        left = self.basket - BASKET_WIDTH // 2
        picture[HEIGHT - 16 : HEIGHT - 6, left : left + BASKET_WIDTH, :3] = BASKET


def number(picture: Picture, digits: str, x: int, y: int) -> None:
    """Paint digits with their top left at (x, y)."""
    for place, digit in enumerate(digits):
        for column, row in dots(int(digit)):
            left, top = x + place * ADVANCE + column * DOT, y + row * DOT
            picture[top : top + DOT, left : left + DOT, :3] = INK


def dots(digit: int) -> Iterator[tuple[int, int]]:
    for row, bits in enumerate(FONT[digit]):
        for column in range(3):
            if int(bits) >> (2 - column) & 1:
                yield column, row


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    game = Game(parser.parse_args().seed)
    held: set[int] = set()
    with Window(WIDTH, HEIGHT, title="Catch") as window:
        keyboard = Keyboard(window)
        region = window.image(0, 0, WIDTH, HEIGHT)
        picture = np.frombuffer(region.memory, np.uint8).reshape(HEIGHT, WIDTH, 4)
        pacer = Pacer(FPS, time.monotonic())
        while True:
            if not keyboard.waiting:
                select.select([keyboard], [], [], max(0.0, pacer.next_due - time.monotonic()))
            for edge in keyboard.events():
                (held.add if edge.down else held.discard)(edge.keysym)
                if edge.down and edge.keysym == SPACE and not game.playing:
                    game.begin()
                elif edge.down and edge.keysym == ESCAPE:
                    game.leave()
            if pacer.take(time.monotonic()):
                game.step(held)
                game.draw(picture)
                window.put(region)


if __name__ == "__main__":
    main()
