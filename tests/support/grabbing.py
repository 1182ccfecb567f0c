"""A game that grabs the pointer, by SDL 2 or 1.2: shows how far it was turned, and which buttons are held."""

import numpy as np
from numpy.typing import NDArray

GRABBING = """
import ctypes, sys, time

name = sys.argv[1]
sdl = ctypes.CDLL(name)
sdl.SDL_Init(0x220)
if name == "libSDL2-2.0.so.0":
    Rectangle, number = ctypes.c_int * 4, ctypes.c_void_p
    sdl.SDL_CreateWindow.restype = sdl.SDL_GetWindowSurface.restype = ctypes.c_void_p
    window = ctypes.c_void_p(sdl.SDL_CreateWindow(b"", 0, 0, 320, 200, 4))
    screen = ctypes.c_void_p(sdl.SDL_GetWindowSurface(window))
    show = lambda: sdl.SDL_UpdateWindowSurface(window)
    sdl.SDL_SetRelativeMouseMode(1)
else:
    Rectangle = ctypes.c_int16 * 4
    sdl.SDL_SetVideoMode.restype = ctypes.c_void_p
    screen = ctypes.c_void_p(sdl.SDL_SetVideoMode(320, 200, 0, 0))
    show = lambda: sdl.SDL_UpdateRect(screen, 0, 0, 0, 0)
    sdl.SDL_ShowCursor(0)
    sdl.SDL_WM_GrabInput(1)


def fill(x, y, width, height, colour):
    sdl.SDL_FillRect(screen, ctypes.byref(Rectangle(x, y, width, height)), ctypes.c_uint32(colour))


sdl.SDL_JoystickOpen.restype = ctypes.c_void_p
pad = ctypes.c_void_p(sdl.SDL_JoystickOpen(0))
turned, by = [0, 0], [ctypes.c_int(), ctypes.c_int()]
while True:
    sdl.SDL_PumpEvents()
    buttons = sdl.SDL_GetRelativeMouseState(*map(ctypes.byref, by)) & 0x1FF
    buttons |= (sdl.SDL_JoystickGetButton(pad, 0) & 1) << 9
    turned = [before + now.value for before, now in zip(turned, by)]
    for row, value in enumerate((*turned, buttons)):
        for bit in range(16):
            fill(20 * bit, 60 + 20 * row, 20, 20, 0xFFFFFF * (value >> bit & 1))
    fill(0, 0, 20, 20, 0x00FF00)
    show()
    time.sleep(0.01)
"""


def shown(picture: NDArray[np.uint8]) -> tuple[int, int, int]:
    """How far the game has been turned to the right and down, and the buttons that are held."""
    bits = picture[70:120:20, 10:320:20].max(axis=2) > 127
    x, y, buttons = np.packbits(bits, axis=1, bitorder="little").view(np.int16)[:, 0].tolist()
    return x, y, buttons
