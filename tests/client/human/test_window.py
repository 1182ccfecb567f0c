import os
import subprocess
from collections.abc import Generator
from typing import Any

import numpy as np
import pygame
import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.human.window import PlayWindow
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import Event, KeyEvent, PointerEvent, RelativePointerEvent
from pluriverse_server.x11.connection import hang_up, open_display
from support.waiting import until
from support.xvfb import Xvfb, xvfb
from Xlib import XK, X
from Xlib.ext import xtest

pytestmark = pytest.mark.display

# A part of 160 by 120 pixels of the screen, which is shown six times as large.
BOX = (10, 20, 160, 120)


class Person:
    """Who sits at a window, whose hands are XTEST's."""

    def __init__(self, screen: Xvfb, spaces: Spaces) -> None:
        self.screen = screen
        self.display: Any = open_display(screen.name)
        # Beside where the window is to be, which else is entered some time.
        self.act(X.MotionNotify, 0, 1023, 0)
        self.window = PlayWindow("a test", BOX, spaces)
        self.shell: Any = self.display.create_resource_object("window", pygame.display.get_wm_info()["window"])

    def look_at(self) -> None:
        self.shell.set_input_focus(X.RevertToNone, X.CurrentTime)
        self.display.sync()
        until(self.window.look)

    def look_away(self) -> None:
        self.display.set_input_focus(X.NONE, X.RevertToNone, X.CurrentTime)
        self.display.sync()
        until(lambda: not self.window.look())

    def act(self, kind: int, detail: int, x: int = 0, y: int = 0) -> None:
        xtest.fake_input(self.display, kind, detail, x=x, y=y)
        self.display.sync()

    def did(self, *expected: Event) -> None:
        """Wait until this has been heard, and nothing else."""
        heard: list[Event] = []

        def hear() -> list[Event]:
            self.window.look()
            heard.extend(self.window.hands.take())
            return heard

        until(hear, lambda heard: len(heard) >= len(expected))
        assert heard == [*expected]

    def key(self, name: str) -> int:
        return self.display.keysym_to_keycode(XK.string_to_keysym(name))


@pytest.fixture
def person(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Generator[Person]:
    with xvfb() as screen:
        monkeypatch.setenv("DISPLAY", screen.name)
        # As it is set where gym-core has been imported.
        monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)
        # Else a click right after a change of the focus is lost.
        monkeypatch.setenv("SDL_MOUSE_FOCUS_CLICKTHROUGH", "1")
        person = Person(screen, getattr(request, "param", Spaces(pointer=True, buttons=9)))
        yield person
        person.window.close()
        hang_up(person.display)


def test_it_keeps_its_size_whatever_it_says_and_fits_the_picture_in_another(person: Person) -> None:
    opened = pygame.display.get_window_size()
    assert opened[0] == 960
    assert person.window.place == (0, 0, 960, 720)
    for text in ("", "short", 40 * "long text "):
        person.window.say(text)
        person.window.look()
        assert pygame.display.get_window_size() == opened
    below = opened[1] - 720
    person.shell.configure(width=400, height=240 + below)
    person.display.sync()
    until(lambda: (person.window.look(), person.window.place)[1], lambda place: [*place] == [40, 0, 320, 240])


def test_it_shows_the_part_and_knows_its_places(person: Person) -> None:
    screen = np.zeros((200, 200, 3), np.uint8)
    screen[20 + 7, 10 + 5] = 1, 2, 3
    person.window.show(screen)
    place = person.shell.translate_coords(person.display.screen().root, 0, 0)
    left, top = -place.x, -place.y

    def lit() -> list[int]:
        where = np.argwhere((person.screen.pixels() == (1, 2, 3)).all(axis=2))
        return [*where.min(axis=0), *where.max(axis=0)] if len(where) else []

    until(lit, lambda seen: seen == [top + 42, left + 30, top + 47, left + 35])
    person.look_at()
    person.act(X.MotionNotify, 0, left + 35, top + 47)
    person.did(PointerEvent(15, 27, 0))


def test_all_nine_buttons_are_heard(person: Person) -> None:
    person.look_at()
    person.act(X.MotionNotify, 0, 300, 300)
    until(lambda: (person.window.look(), person.window.hands.take())[1])
    at = person.window.hands.presses()[0]
    assert isinstance(at, PointerEvent)
    for number in range(1, 10):
        for kind in (X.ButtonPress, X.ButtonRelease):
            person.act(kind, number)
    person.did(*(PointerEvent(at.x, at.y, mask) for number in range(9) for mask in (1 << number, 0)))


def test_keys_are_heard_with_the_focus_alone_and_released_without_it(person: Person) -> None:
    person.look_away()
    person.act(X.KeyPress, person.key("q"))
    person.act(X.KeyRelease, person.key("q"))
    person.look_at()
    for name in ("Shift_L", "1", "Left"):
        person.act(X.KeyPress, person.key(name))
    person.did(KeyEvent(0xFFE1, True), KeyEvent(0x21, True), KeyEvent(0xFF51, True))
    person.look_away()
    released = {event for event in person.window.hands.take() if isinstance(event, KeyEvent)}
    assert released == {KeyEvent(keysym, False) for keysym in (0xFFE1, 0x21, 0xFF51)}
    for name in ("Shift_L", "1", "Left"):
        person.act(X.KeyRelease, person.key(name))


def test_a_character_of_alt_gr_is_typed_without_alt(person: Person) -> None:
    subprocess.run(["setxkbmap", "de"], env={**os.environ, "DISPLAY": person.screen.name}, check=True)
    person.look_at()
    right_alt, q = 108, 24
    for key in (right_alt, q):
        person.act(X.KeyPress, key)
    for key in (q, right_alt):
        person.act(X.KeyRelease, key)
    alt, at = 0xFFEA, ord("@")
    person.did(*(KeyEvent(keysym, down) for keysym in (alt, at) for down in (True, False)))


@pytest.mark.parametrize("person", [Spaces(pointer=True, relative=True)], indirect=True)
def test_a_click_takes_the_mouse_of_games_that_turn_by_it_until_escape(person: Person) -> None:
    person.look_at()
    person.act(X.MotionNotify, 0, 300, 300)
    for kind in (X.ButtonPress, X.ButtonRelease):
        person.act(kind, 1)
    until(lambda: (person.window.look(), pygame.mouse.get_relative_mode())[1])
    assert person.window.hands.take() == []
    # It turns on where the desktop ends.
    for _ in range(4):
        person.act(X.MotionNotify, 1, 700, -3)
    person.act(X.ButtonPress, 3)
    person.did(RelativePointerEvent(2800, -12, 0), RelativePointerEvent(0, 0, 4))
    for kind in (X.KeyPress, X.KeyRelease):
        person.act(kind, person.key("Escape"))
    person.did(KeyEvent(0xFF1B, True), KeyEvent(0xFF1B, False))
    person.act(X.MotionNotify, 1, 5, 5)
    person.act(X.ButtonRelease, 3)
    person.did(RelativePointerEvent(0, 0, 0))


def test_without_a_display_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":nowhere")
    with pytest.raises(ConfigurationError, match="no window can be opened"):
        PlayWindow("a test", BOX, Spaces())
