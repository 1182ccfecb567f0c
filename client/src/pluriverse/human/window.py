"""The window that a person plays in: the picture, as large as the window has room, and text below it."""

from __future__ import annotations

import os
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.rfb.geometry import Box

from pluriverse.errors import ConfigurationError

from .held import HumanInput
from .keys import keysym_of

# It greets on standard output, and opens a window a second time to draw on it by OpenGL.
os.environ.update(PYGAME_HIDE_SUPPORT_PROMPT="1", SDL_FRAMEBUFFER_ACCELERATION="0")
try:
    import pygame

    from .pads import Gamepads
except ImportError as error:
    raise ConfigurationError("playing needs pygame; pip install 'pluriverse[play]'") from error

# A picture is enlarged by whole numbers at first, up to about this width and height.
LARGE: Final = (960, 720)

# Of text, below the picture: so many lines, so high.
LINES: Final = 2
FONT: Final = 20
LIGHT, DARK = (0xDD, 0xDD, 0xDD), (0x22, 0x22, 0x22)

# Where SDL finds no desktop it draws for nobody.
NOBODY: Final = ("dummy", "offscreen")

# RFB's bits of pygame's buttons; 4 and 5 are the wheel, which says more by events of its own.
_BUTTONS: Final = {1: 1, 2: 2, 3: 4, 6: 128, 7: 256}
_WHEEL_UP, _WHEEL_DOWN, _WHEEL_LEFT, _WHEEL_RIGHT = 8, 16, 32, 64


class PlayWindow:
    """Shows the part ``box`` of screens: x, y, width and height, in pixels; hears what ``spaces`` have a use for."""

    def __init__(self, title: str, box: Box, spaces: Spaces) -> None:
        try:
            pygame.display.init()
        except pygame.error as error:
            raise ConfigurationError(f"no window can be opened: {error}") from error
        if pygame.display.get_driver() in NOBODY:
            raise ConfigurationError("no window can be opened: there is no desktop")
        pygame.font.init()
        self.is_open: bool = True
        """Whether the person hasn't closed it."""
        self.hands: HumanInput = HumanInput(box, relative=spaces.relative)
        """What is done in it, while it has the focus."""
        self._box = box
        self._relative = spaces.relative
        self._buttons = {pressed: bit for pressed, bit in _BUTTONS.items() if bit < 256 or spaces.buttons > 8}
        self._pads = Gamepads(spaces.pads)
        self._font = pygame.font.Font(None, FONT)
        zoom = max(1, min(LARGE[0] // box[2], LARGE[1] // box[3]))
        pygame.display.set_caption(title)
        # Follows the size of the window.
        self._screen = pygame.display.set_mode((box[2] * zoom, box[3] * zoom + self._text_height), pygame.RESIZABLE)
        self._picture = pygame.Surface(box[2:])
        self._text = ""

    def look(self) -> bool:
        """Take in what was done since the last look; return whether the window has the focus."""
        for event in pygame.event.get():
            self._take(event)
        plays = pygame.key.get_focused()
        self.hands.hold_pads(self._pads.held() if plays else {})
        return plays

    def show(self, picture: NDArray[np.uint8]) -> None:
        """Show a screen's part: uint8 (height, width, 3) RGB."""
        x, y, width, height = self._box
        part = np.ascontiguousarray(picture[y : y + height, x : x + width])
        self._picture = pygame.image.frombuffer(part.tobytes(), (width, height), "RGB").convert()
        self._draw()

    def say(self, text: str) -> None:
        """Show this text below the picture."""
        takes = self._relative and not pygame.mouse.get_relative_mode()
        self._text = text + takes * " | click to use the mouse, Escape leaves it"
        self._draw()

    def close(self) -> None:
        pygame.quit()

    @property
    def place(self) -> pygame.Rect:
        """Where the picture is."""
        width, height = self._screen.get_size()
        return self._picture.get_rect().fit(pygame.Rect(0, 0, width, max(1, height - self._text_height)))

    @property
    def _text_height(self) -> int:
        return LINES * self._font.get_linesize()

    def _draw(self) -> None:
        screen, place = self._screen, self.place
        screen.fill(DARK)
        screen.blit(pygame.transform.scale(self._picture, place.size), place)
        text = self._font.render(self._text, True, LIGHT, DARK, screen.get_width())
        screen.blit(text, (0, screen.get_height() - self._text_height))
        pygame.display.flip()

    def _take(self, event: pygame.Event) -> None:
        hands = self.hands
        match event.type:
            case pygame.QUIT:
                self.is_open = False
            case pygame.JOYDEVICEADDED | pygame.JOYDEVICEREMOVED:
                self._pads.find()
            case pygame.WINDOWFOCUSLOST:
                hands.let_go()
                pygame.mouse.set_relative_mode(False)
            case pygame.KEYDOWN:
                self._press(event)
            case pygame.KEYUP:
                hands.release(event.scancode)
            case _ if pygame.key.get_focused():
                self._point(event)
            case _:
                pass

    def _press(self, event: pygame.Event) -> None:
        if event.key == pygame.K_ESCAPE:
            pygame.mouse.set_relative_mode(False)
        name = pygame.key.name(event.key, use_compat=False)
        shift, alt, num_lock = (
            bool(event.mod & each) for each in (pygame.KMOD_SHIFT, pygame.KMOD_RALT, pygame.KMOD_NUM)
        )
        keysym = keysym_of(name, event.unicode, shift=shift, num_lock=num_lock)
        if keysym is None:
            return
        # Where Right Alt makes other characters it is no Alt.
        if alt and not shift and keysym != keysym_of(name, "", num_lock=num_lock):
            self.hands.release(pygame.KSCAN_RALT)
        self.hands.press(event.scancode, keysym)

    def _point(self, event: pygame.Event) -> None:
        if self._relative and not pygame.mouse.get_relative_mode() and event.type != pygame.MOUSEBUTTONUP:
            # A click that takes the mouse is no other.
            pygame.mouse.set_relative_mode(event.type == pygame.MOUSEBUTTONDOWN)
            return
        match event.type:
            case pygame.MOUSEMOTION:
                self.hands.mouse(*(event.rel if self._relative else self._pixel(event.pos)))
            case pygame.MOUSEBUTTONDOWN | pygame.MOUSEBUTTONUP if event.button in self._buttons:
                self._click(event, self._buttons[event.button], event.type == pygame.MOUSEBUTTONDOWN)
            case pygame.MOUSEWHEEL:
                up = _WHEEL_UP if event.y > 0 else _WHEEL_DOWN
                across = _WHEEL_RIGHT if event.x > 0 else _WHEEL_LEFT
                for bit in (*abs(event.y) * [up], *abs(event.x) * [across]):
                    for down in (True, False):
                        self._click(event, bit, down)
            case _:
                pass

    def _click(self, event: pygame.Event, bit: int, down: bool) -> None:
        self.hands.mouse(*((0, 0) if self._relative else self._pixel(event.pos)), bit, down=down)

    def _pixel(self, at: tuple[int, int]) -> tuple[int, int]:
        """Return the pixel of the screen at a pixel of the window; it may lie outside of the part."""
        (left, top, width, height), place = self._box, self.place
        return (
            left + (at[0] - place.x) * width // max(1, place.width),
            top + (at[1] - place.y) * height // max(1, place.height),
        )
