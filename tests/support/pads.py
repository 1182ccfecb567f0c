"""A program that uses gamepads by a library: prints what all pads are like each time that it changes."""

import ctypes
import fcntl
import json
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

LIBRARIES = ("libSDL-1.2.so.0", "libSDL2-2.0.so.0", "pygame", "js")

# JSIOCGAXES and JSIOCGBUTTONS of <linux/joystick.h>
ASKS = (0x80016A11, 0x80016A12)

# Brings what is known of pads up to date; and what is known of each.
Pads = tuple[Callable[[], object], list[Callable[[], Iterator[float]]]]


def by_sdl(name: str) -> Pads:
    sdl = ctypes.CDLL(name)
    sdl.SDL_Init(0x200)
    sdl.SDL_JoystickOpen.restype = ctypes.c_void_p
    sdl.SDL_JoystickGetAxis.restype = ctypes.c_int16

    def state(pad: ctypes.c_void_p) -> Iterator[float]:
        yield from (sdl.SDL_JoystickGetAxis(pad, axis) / 0x7FFF for axis in range(sdl.SDL_JoystickNumAxes(pad)))
        yield from (sdl.SDL_JoystickGetButton(pad, each) & 1 for each in range(sdl.SDL_JoystickNumButtons(pad)))

    pads = [ctypes.c_void_p(sdl.SDL_JoystickOpen(number)) for number in range(sdl.SDL_NumJoysticks())]
    return sdl.SDL_JoystickUpdate, [lambda pad=pad: state(pad) for pad in pads]


def by_pygame() -> Pads:
    os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
    import pygame

    pygame.display.init()
    pygame.joystick.init()

    def state(pad: pygame.joystick.JoystickType) -> Iterator[float]:
        yield from map(pad.get_axis, range(pad.get_numaxes()))
        yield from map(pad.get_button, range(pad.get_numbuttons()))

    pads = [pygame.joystick.Joystick(number) for number in range(pygame.joystick.get_count())]
    return pygame.event.pump, [lambda pad=pad: state(pad) for pad in pads]


def by_js() -> Pads:
    """As programs do that know no library: by the kernel's first interface."""
    pads = [os.open(path, os.O_NONBLOCK) for path in sorted(Path("/dev/input").glob("js*"))]
    known = [[[0.0] * fcntl.ioctl(pad, ask, b"0")[0] for ask in ASKS] for pad in pads]

    def update() -> None:
        for pad, (axes, buttons) in zip(pads, known, strict=True):
            try:
                while event := os.read(pad, 8):
                    _, value, kind, number = struct.unpack("IhBB", event)
                    (axes if kind & 2 else buttons)[number] = value / 0x7FFF if kind & 2 else value
            except BlockingIOError:
                pass

    return update, [lambda each=each: iter(each[0] + each[1]) for each in known]


if __name__ == "__main__":
    library = sys.argv[1]
    look, states = by_pygame() if library == "pygame" else by_js() if library == "js" else by_sdl(library)
    before = None
    while True:
        look()
        seen = [[round(value, 2) for value in state()] for state in states]
        if seen != before:
            print(json.dumps(seen), flush=True)
        before = seen
        time.sleep(0.002)
