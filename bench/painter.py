"""The program that latency is measured with: repaints a square at once when a key goes down, or draws at 60 fps.

``python bench/painter.py keys`` turns the square white and black in turn. ``python bench/painter.py frames`` draws
pictures of an Atari game's size and number of colours, each different from the last. ``screens`` draws noise all over
the screen, as fast as it goes, from one press of a key to the next.
"""

from __future__ import annotations

import select
import sys
import time
from typing import Final

import numpy as np
from pluriverse_server.kit import Keyboard, Pacer, Window

WIDTH: Final = 1024
HEIGHT: Final = 768
SQUARE: Final = 64
PICTURE: Final = (160, 210)
COLOURS: Final = 8
PICTURES: Final = 8
FPS: Final = 60.0


def repaint_at_keys(window: Window) -> None:
    """White and black in turn, for ever."""
    square = window.image(0, 0, SQUARE, SQUARE)
    pixels = np.frombuffer(square.memory, np.uint8)
    keyboard = Keyboard(window)
    window.put(square)
    window.sync()
    print("ready", flush=True)
    while True:
        if not keyboard.waiting:
            select.select([keyboard], [], [])
        for edge in keyboard.events():
            if edge.down:
                pixels[:] = ~pixels
                window.put(square)


def draw_frames(window: Window) -> None:
    """Sixty pictures a second, for ever: blocks of a few colours that all change."""
    width, height = PICTURE
    random = np.random.default_rng(1)
    palette = random.integers(0, 256, (COLOURS, 4), np.uint8)
    blocks = random.integers(0, COLOURS, (PICTURES, height // 10, width // 10))
    pictures = palette[np.repeat(np.repeat(blocks, 10, axis=1), 10, axis=2)]
    region = window.image(0, 0, width, height)
    pixels = np.frombuffer(region.memory, np.uint8).reshape(height, width, 4)
    pacer = Pacer(FPS, time.monotonic())
    window.sync()
    print("ready", flush=True)
    while True:
        time.sleep(max(0.0, pacer.next_due - time.monotonic()))
        if pacer.take(time.monotonic()):
            pixels[:] = pictures[pacer.frames % PICTURES]
            window.put(region)


def draw_screens(window: Window) -> None:
    """Noise all over, while wanted."""
    random = np.random.default_rng(1)
    screens = random.integers(0, 256, (2, HEIGHT, WIDTH, 4), np.uint8)
    whole = window.image(0, 0, WIDTH, HEIGHT)
    pixels = np.frombuffer(whole.memory, np.uint8).reshape(HEIGHT, WIDTH, 4)
    keyboard = Keyboard(window)
    window.put(whole)
    window.sync()
    print("ready", flush=True)
    draws, drawn = False, 0
    while True:
        if not keyboard.waiting and not draws:
            select.select([keyboard], [], [])
        draws ^= sum(edge.down for edge in keyboard.events()) % 2 == 1
        if draws:
            drawn += 1
            pixels[:] = screens[drawn % len(screens)]
            window.put(whole)
            window.sync()


MODES: Final = {"keys": repaint_at_keys, "frames": draw_frames, "screens": draw_screens}

if __name__ == "__main__":
    with Window(WIDTH, HEIGHT, title="bench") as window_of_all:
        MODES[sys.argv[1]](window_of_all)
