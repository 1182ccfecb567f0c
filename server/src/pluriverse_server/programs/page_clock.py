"""The agent's clock of a page: moves its time by frames, and sees each once it is on the screen."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

import psutil
from pluriverse_protocol.events import KeyEvent, PointerEvent

from pluriverse_server.display.client_thread import ClientThread, open_in_thread
from pluriverse_server.display.injector import Injector
from pluriverse_server.lockstep.clock import ASKED_VARIABLE
from pluriverse_server.sources.page.clock import FPS
from pluriverse_server.sources.page.page import Page
from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen.grab import Grabber
from pluriverse_server.x11.connection import DisplayLost

from .stillness import Stillness, descendants, process_tree

# Frames are painted as soon as they are there; what scrolls smoothly does so in real time. So do movements within the
# browser's own bars, which nobody sees: each page that is loaded would take 200 ms longer.
FLAGS: Final = (
    "--disable-frame-rate-limit",
    "--disable-gpu-vsync",
    "--disable-smooth-scrolling",
    "--disable-partial-raster",
    "--animation-duration-scale=0",
)

# Animated pictures go by real time, but for their first frame.
PREFERENCES: Final = {"settings": {"a11y": {"animation_policy": "none"}}}

# The module whose process decides which keys reach the browser.
OVERLAY: Final = "pluriverse_server.overlay"

# How long a page may draw, in seconds of real time, before its step ends regardless. Such a step is late.
LATE_S: Final = 2.0

# How long a page may compute before it hangs, or be on its way.
STEP_TIMEOUT_S: Final = 10.0

# How long to leave a CPU to a page that is at work, and how many turns of the event loop a request for a file takes to
# be noticed.
PAUSE_S: Final = 0.0002
TURNS: Final = 4


# How long menus of the browser's own are left to be painted: they are windows with a clock of their own.
MENU_S: Final = 0.05

# What rounding adds to a number of frames.
TOLERANCE: Final = 1e-6


# x, y, width and height.
Box = tuple[int, int, int, int]


class Stuck(Exception):
    """The page lets no time pass: it is on its way for too long."""


class Display:
    """The screen of a page: takes input, gives pixels. Blocking, for one thread at a time."""

    def __init__(self, display: str, xauthority: Path, width: int, height: int) -> None:
        """Connect; raise DisplayLost if there is no X server at ``display``, or ScreenLost."""
        self._injector = Injector(display, xauthority)
        try:
            self._grabber = Grabber(display, [(0, 0, width, height)], xauthority=xauthority)
        except BaseException:
            self._injector.close()
            raise
        self.server_pid = self._grabber.server_pid

    def apply(self, events: Sequence[KeyEvent | PointerEvent]) -> None:
        """Inject the events in order; see ``Injector.apply``."""
        self._injector.apply(events)

    def separate_clicks(self) -> None:
        """See ``Injector.separate_clicks``."""
        self._injector.separate_clicks()

    def begin(self, x: int, y: int) -> None:
        """Release every key and button, and move the pointer to ``x``, ``y``.

        From now on keys that are held don't repeat: they would by real time.
        """
        self._injector.repeat_keys(on=False)
        self._injector.release_all()
        self._injector.apply([PointerEvent(x, y, 0)])

    def grab(self, box: Box) -> Pixels:
        """Return the pixels within a box on the screen; see ``Grabber.grab_within``."""
        return self._grabber.grab_within(box)

    def abort(self) -> None:
        """Cut the connections."""
        self._injector.abort()
        self._grabber.abort()

    def close(self) -> None:
        """Release everything and hang up. May be called again, and when the X server is gone."""
        with contextlib.suppress(DisplayLost):
            self._injector.repeat_keys(on=True)
        self._injector.close()
        self._grabber.close()


class PageClock:
    """One page's clock. ``frames`` have passed in this episode.

    ``late``: the last ``apply`` or ``advance`` has ended before its picture was complete.
    """

    def __init__(
        self, page: Page, display: ClientThread[Display], size: tuple[int, int], browser: int, loads: Callable[[], bool]
    ) -> None:
        self.late = False
        self.frames = 0
        self._page = page
        self._display = display
        self._size = size
        self._browser = browser
        self._loads = loads
        self._fps = float(FPS)
        # How many frames of the page's own have passed; one of the agent's may take several.
        self._turned = 0
        self._buttons = 0
        self._menu = self._menu_open = False
        self._overlay: list[int] = []
        self._stillness = Stillness(())
        self._pixels: Pixels | None = None
        self._box: Box = (0, 0, 0, 0)  # of these pixels

    @classmethod
    async def open(
        cls,
        page: Page,
        environment: Mapping[str, str],
        size: tuple[int, int],
        browser: int,
        loads: Callable[[], bool],
    ) -> Self:
        """Take the clock of ``page``, which has one, on a screen of ``size`` pixels that ``environment`` names.

        ``browser`` is the browser's process id; ``loads`` says whether the page is being sent files.

        Raises:
            DisplayLost: there is no such screen.
        """
        name, xauthority = environment["DISPLAY"], Path(environment["XAUTHORITY"])
        display = await open_in_thread("page clock", lambda: Display(name, xauthority, *size), name)
        return cls(page, display, size, browser, loads)

    async def begin(self, fps: float) -> None:
        """Begin an episode whose frames are 1/``fps`` seconds long: nothing is held, the pointer in the last corner.

        The page that is there has this input with its next frame.

        Raises:
            DisplayLost: the screen is gone.
        """
        self._fps, self.frames, self._turned, self._buttons = fps, 0, 0, 0
        server = self._display.client.server_pid
        if not (self._overlay and all(map(psutil.pid_exists, self._overlay))):
            self._overlay = descendants(OVERLAY)
        self._stillness.watch([*process_tree(self._browser), *self._overlay, *([server] if server else [])])
        x, y = (side - 1 for side in self._size)
        await self._display.run(functools.partial(Display.begin, x=x, y=y))
        await self._settle()

    async def start(self, ready: Callable[[], bool]) -> None:
        """Let the page begin, and no more time pass than it needs until ``ready``. Frames are counted from then.

        Raises:
            DevToolsError: the page hangs, or is gone.
            Stuck: it is still being loaded.
        """
        if not ready():
            # A document that is on its way begins once it is there.
            await self._show()
            await self._page.check(STEP_TIMEOUT_S)
            while not ready():
                await self.advance(1, ready)
        # What animation frames draw is there with the first.
        await self.advance(1)
        await self._show()
        self.frames = self._turned = 0

    async def close(self) -> None:
        """Let go of the screen, and of all that is held down. May be called repeatedly."""
        self._stillness.close()
        await self._display.close()

    async def apply(self, events: Sequence[KeyEvent | PointerEvent]) -> None:
        """Let the page have input, and do what it does at once.

        Raises:
            DevToolsError: the page hangs, or is gone.
            DisplayLost: the screen is.
        """
        self.late = False
        if self._presses(events):
            # Real time is nothing here: clicks are double where they come at once.
            await self._display.run(Display.separate_clicks)
        # Movements that the page doesn't see one by one may be taken together.
        for _, group in itertools.groupby(enumerate(events), _group):
            some = [event for _, event in group]
            await self._display.run(functools.partial(Display.apply, events=some))
            in_time = [await self._settle(), await self._show()]
            self.late |= not all(in_time)

    async def advance(self, frames: int, over: Callable[[], bool] = lambda: False) -> int:
        """Let up to so many frames pass, until ``over``; the page says what is new in each. Returns how many.

        Raises:
            DevToolsError: the page hangs, or is gone.
            Stuck: it is still being loaded.
        """
        self.late = False
        began, left = self.frames, self._turns(frames)
        deadline = time.monotonic() + STEP_TIMEOUT_S
        while left > 0 and not over():
            passed, busy, menu = await self._page.advance(left, STEP_TIMEOUT_S)
            left -= passed
            self._turned += passed
            self._note_menu(open_now=menu)
            if busy or self._menu:
                self.late |= not await self._settle()
                await self._page.check(STEP_TIMEOUT_S)
            if not passed and time.monotonic() > deadline:
                raise Stuck(f"the page was not loaded within {STEP_TIMEOUT_S:g} s")
        self.frames = math.ceil(self._turned * self._fps / FPS - TOLERANCE)
        return self.frames - began

    async def asked(self) -> Counter[str]:
        """Return how often the page has asked for the time and for random numbers so far, if that is to be told."""
        return Counter(await self._page.asked(STEP_TIMEOUT_S) if os.environ.get(ASKED_VARIABLE) else {})

    def forget(self) -> None:
        """Look at the screen anew for the next ``pixels``."""
        self._pixels = None

    async def pixels(self, box: Box | None = None) -> Pixels:
        """Return what is on the screen, or within ``box`` on it: BGRX, shape (height, width, 4).

        Raises:
            DisplayLost: the screen is gone.
        """
        box = box or (0, 0, *self._size)
        if self._pixels is None or self._box != box:
            self._pixels, self._box = await self._display.run(functools.partial(Display.grab, box=box)), box
        return self._pixels

    def _presses(self, events: Sequence[KeyEvent | PointerEvent]) -> bool:
        """Return whether a button goes down."""
        masks = [event.buttonmask for event in events if isinstance(event, PointerEvent)]
        before = [self._buttons, *masks]
        self._buttons = before[-1]
        return any(now & ~then for then, now in itertools.pairwise(before))

    def _note_menu(self, *, open_now: bool) -> None:
        # One that has just closed leaves something to paint.
        self._menu = open_now or self._menu_open
        self._menu_open = open_now

    def _turns(self, frames: int) -> int:
        """Return how many frames of the page's own pass until so many more of the agent's have."""
        return round((self.frames + frames) * FPS / self._fps) - self._turned

    async def _show(self) -> bool:
        """Return once the page has dealt with its input and is on the screen; whether that was in time."""
        self._note_menu(open_now=await self._page.paint(STEP_TIMEOUT_S))
        return await self._settle()

    async def _settle(self) -> bool:
        """Return once nothing of the browser and the screen is at work; whether that was in time."""
        if self._menu:
            await asyncio.sleep(MENU_S)
        self.forget()
        deadline = time.monotonic() + LATE_S
        while True:
            before = self._stillness.look()
            for _ in range(TURNS):
                await asyncio.sleep(0)
            if before is not None and not self._loads() and self._stillness.stood(before):
                return True
            if time.monotonic() > deadline:
                return False
            # Shorter than the event loop's timers can be.
            time.sleep(PAUSE_S)  # noqa: ASYNC251


def _group(numbered: tuple[int, KeyEvent | PointerEvent]) -> int:
    """Return what keys in a row have in common, and each movement has alone."""
    index, event = numbered
    return index if isinstance(event, PointerEvent) else -1
