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
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, Self

import numpy as np
import psutil
from pluriverse_protocol.events import KeyEvent, PointerEvent, ScreenEvent

from pluriverse_server.display.client_thread import ClientThread, open_in_thread
from pluriverse_server.display.injector import Injector
from pluriverse_server.lockstep import to_rgb
from pluriverse_server.lockstep.clock import ASKED_VARIABLE
from pluriverse_server.programs.cpu_wait import Patience
from pluriverse_server.sources.page.clock import FPS
from pluriverse_server.sources.page.files import Files
from pluriverse_server.sources.page.page import Page
from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.screen.grab import Grabber
from pluriverse_server.sources.trees import Box, Tree
from pluriverse_server.x11.connection import DisplayLost

from .stillness import Stillness, descendants, process_tree

# Frames are painted as soon as they are there; what scrolls smoothly does so in real time. So do movements within the
# browser's own, invisible bars: each page that is loaded would take 200 ms longer. Input to a document or menu
# that isn't painted yet is dropped, if it isn't allowed. What a thread of its own has drawn of an animation stays on
# the screen though the page has halted it.
FLAGS: Final = (
    "--disable-frame-rate-limit",
    "--disable-gpu-vsync",
    "--disable-threaded-animation",
    "--disable-smooth-scrolling",
    "--disable-partial-raster",
    "--animation-duration-scale=0",
    "--allow-pre-commit-input",
)

# Animated pictures go by real time, but for their first frame.
PREFERENCES: Final = {"settings": {"a11y": {"animation_policy": "none"}}}

# The module whose process decides which keys reach the browser.
OVERLAY: Final = "pluriverse_server.overlay"

# How long a page may compute or draw before it hangs, or be on its way, in seconds in which neither it nor this server
# waits for a CPU.
STEP_TIMEOUT_S: Final = 10.0

# How long to leave a CPU to a page that is at work, and how many turns of the event loop a request for a file takes to
# be noticed.
PAUSE_S: Final = 0.0002
TURNS: Final = 4

# For how long nothing must run once menus of the browser's own are painted: they are windows with a clock of their own.
MENU_S: Final = 0.05

# How many frames of the browser's own it takes until what is there is on the screen, for certain: the second begins
# when the first was drawn.
DRAWN: Final = 2

# What is returned after the last input.
ALL_DONE: Final = object()

# What rounding adds to a number of frames.
TOLERANCE: Final = 1e-6


class Stuck(Exception):
    """The page lets no time pass: it is on its way, or at work, for too long."""


class Display:
    """The screen of a page: takes input, gives pixels. Blocking, for one thread at a time."""

    def __init__(self, display: str, xauthority: Path, width: int, height: int) -> None:
        self._injector = Injector(display, xauthority)
        try:
            self._grabber = Grabber(display, [(0, 0, width, height)], xauthority=xauthority)
        except BaseException:
            self._injector.close()
            raise
        self.server_pid = self._grabber.server_pid

    def apply(self, events: Sequence[ScreenEvent]) -> Iterator[None]:
        return self._injector.apply_one_by_one(events)

    def separate_clicks(self) -> None:
        self._injector.separate_clicks()

    def release(self) -> Iterator[None]:
        """Release every key and button, and yield after each. From now on none repeats: it would by real time."""
        self._injector.repeat_keys(on=False)
        yield from self._injector.release_one_by_one()

    def grab(self, box: Box) -> Pixels:
        """Return the pixels within a part of it: RGB."""
        pixels = np.empty((box[3], box[2], 3), np.uint8)
        to_rgb(self._grabber.grab_within(box), pixels)
        return pixels

    def abort(self) -> None:
        self._injector.abort()
        self._grabber.abort()

    def close(self) -> None:
        with contextlib.suppress(DisplayLost):
            self._injector.repeat_keys(on=True)
        self._injector.close()
        self._grabber.close()


class Place(Protocol):
    """Where a page is shown and acted in. What takes inputs yields after each that is on its way."""

    def release(self, page: Page) -> AsyncIterator[None]:
        """Release every key and button."""
        ...

    def apply(self, page: Page, events: Sequence[ScreenEvent], menu: Callable[[], bool]) -> AsyncIterator[None]:
        """``menu``: whether a menu of the browser's own is open by now."""
        ...

    async def separate_clicks(self) -> None:
        """Let no click that follows be one with a click before."""
        ...

    async def grab(self, box: Box) -> Pixels:
        """Return the pixels of a part of it: RGB."""
        ...

    def processes(self) -> list[int]:
        """Return those that show the page, of which a new document may have added one."""
        ...

    async def close(self) -> None:
        """Let go of it."""
        ...


class WholeScreen:
    """A ``Place``: all of a screen, with its keyboard and pointer."""

    def __init__(self, display: ClientThread[Display], browser: int, server: int) -> None:
        self._display = display
        self._browser = browser
        self._server = server
        self._overlay: list[int] = []

    @classmethod
    async def open(cls, environment: Mapping[str, str], size: tuple[int, int], browser: int, server: int) -> Self:
        """Take the screen of ``size`` pixels that ``environment`` names.

        ``browser`` is the browser's process id, ``server`` that of the daemon, which has started all that the screen
        and this process need.
        """
        name, xauthority = environment["DISPLAY"], Path(environment["XAUTHORITY"])
        display = await open_in_thread("page clock", lambda: Display(name, xauthority, *size), name)
        return cls(display, browser, server)

    def release(self, page: Page) -> AsyncIterator[None]:
        return _one_by_one(self._display, self._display.client.release())

    def apply(self, page: Page, events: Sequence[ScreenEvent], menu: Callable[[], bool]) -> AsyncIterator[None]:
        return _one_by_one(self._display, self._display.client.apply(events))

    async def separate_clicks(self) -> None:
        await self._display.run(Display.separate_clicks)

    async def grab(self, box: Box) -> Pixels:
        return await self._display.run(functools.partial(Display.grab, box=box))

    def processes(self) -> list[int]:
        server = self._display.client.server_pid
        if not (self._overlay and all(map(psutil.pid_exists, self._overlay))):
            self._overlay = descendants(self._server, OVERLAY)
        return [*process_tree(self._browser), *self._overlay, *([server] if server else [])]

    async def close(self) -> None:
        await self._display.close()


async def _one_by_one(display: ClientThread[Display], inputs: Iterator[None]) -> AsyncIterator[None]:
    while await display.run(lambda _: next(inputs, ALL_DONE)) is not ALL_DONE:
        yield


class PageClock:
    """One page's clock. ``frames`` have passed in this episode.

    What lets the page go on raises Stuck where it doesn't come to rest.
    """

    def __init__(self, page: Page, place: Place, size: tuple[int, int], files: Files, server: int) -> None:
        """Take the clock of ``page``, which has one, in a place of ``size`` pixels; nothing of it has to be awaited.

        ``files`` are those that the page loads, ``server`` is the process id of the daemon.
        """
        self.frames = 0
        self.page = page
        self._place = place
        self._size = size
        self._files = files
        self._server = server
        # Of what the page has loaded, that which it has painted; and how many frames of the browser's own are due to
        # show what was done.
        self._painted = self._due = 0
        self._fps = float(FPS)
        # How many frames of the page's own have passed; one of the agent's may take several.
        self._turned = 0
        self._buttons = 0
        self._menu = self._menu_open = False
        self._stillness = Stillness(())
        self._pixels: Pixels | None = None
        self._box: Box = (0, 0, 0, 0)  # of these pixels

    async def begin(self, fps: float) -> None:
        """Begin an episode whose frames are 1/``fps`` seconds long: nothing is held, the pointer in the last corner.

        What the page that is there does about it is over then.
        """
        self._fps, self.frames, self._turned, self._buttons = fps, 0, 0, 0
        self._watch()
        await self._deal_with(self._place.release(self.page))
        await self._apply([PointerEvent(*self._corner, 0)])
        await self._show()

    async def start(self, ready: Callable[[], bool]) -> None:
        """Let the page begin, and no more time pass than it needs until ``ready``. Frames are counted from then."""
        if not ready():
            if self.page.is_new:
                self._watch()
                # A document that is on its way begins once it is there, and knows by then where the pointer is, whether
                # or not the browser has reported it.
                x, y = self._corner
                await self._apply([PointerEvent(x - 1, y, 0), PointerEvent(x, y, 0)])
            else:
                await self._rest()
            await self.page.check(STEP_TIMEOUT_S)
            while not ready():
                await self.advance(1, ready)
        # What animation frames draw is there with the first.
        self._due = DRAWN
        await self.advance(1)
        self.frames = self._turned = 0

    async def close(self) -> None:
        self._stillness.close()
        await self._place.close()

    async def apply(self, events: Sequence[ScreenEvent]) -> None:
        if self._presses(events):
            # Real time is nothing here: clicks are double where they come at once.
            await self._place.separate_clicks()
        await self._apply(events)

    async def advance(self, frames: int, over: Callable[[], bool] = lambda: False) -> int:
        """Let up to so many frames pass, until ``over``; the page reports changes in each. Returns how many."""
        began, left = self.frames, self._turns(frames)
        patience = Patience(self._server, STEP_TIMEOUT_S, time.monotonic())
        while left > 0 and not over():
            self._painted = self._files.answered if self._due else self._painted
            passed, busy, menu = await self.page.advance(left, self._due, STEP_TIMEOUT_S)
            left -= passed
            self._turned += passed
            self._note_menu(open_now=menu)
            if busy:
                self._due = DRAWN if left else 0
            if busy or self._menu:
                await self._settle()
                await self.page.check(STEP_TIMEOUT_S)
            if not passed and patience.is_over(time.monotonic()):
                raise Stuck(f"the page was not loaded within {STEP_TIMEOUT_S:g} s")
        self.frames = math.ceil(self._turned * self._fps / FPS - TOLERANCE)
        return self.frames - began

    async def asked(self) -> Counter[str]:
        """Return how often the page has asked for the time and for random numbers so far, if enabled."""
        return Counter(await self.page.asked(STEP_TIMEOUT_S) if os.environ.get(ASKED_VARIABLE) else {})

    def forget(self) -> None:
        self._pixels = None

    async def pixels(self, box: Box | None = None) -> Pixels:
        """Return what is on the screen, or within ``box`` on it: RGB, shape (height, width, 3)."""
        box = box or (0, 0, *self._size)
        if self._due:
            await self._show()
        if self._pixels is None or self._box != box:
            self._pixels, self._box = await self._place.grab(box), box
        return self._pixels

    async def tree(self, box: Box | None) -> Tree:
        """Return what is to be seen of the page on the screen, or within ``box`` on it."""
        return await self.page.tree(box or (0, 0, *self._size))

    def _watch(self) -> None:
        self._stillness.watch(self._place.processes())

    @property
    def _corner(self) -> tuple[int, int]:
        width, height = self._size
        return width - 1, height - 1

    def _presses(self, events: Sequence[ScreenEvent]) -> bool:
        masks = [event.buttonmask for event in events if not isinstance(event, KeyEvent)]
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

    async def _apply(self, events: Sequence[ScreenEvent]) -> None:
        for event in events:
            inputs = self._place.apply(self.page, [event], lambda: self._menu_open)
            # Movements wait for a frame, and two that waited would be one.
            await self._deal_with(inputs, frames=0 if isinstance(event, KeyEvent) else 1)

    async def _deal_with(self, inputs: AsyncIterator[None], frames: int = 0) -> None:
        """Let the page deal with each input before the next is injected, and let so many frames come between.

        Else they come between two of them by chance, and so what comes with frames: scrolling, focus, selections, and
        what has moved below the pointer. Keys that the key filter was to look at would be overtaken by others.
        """
        async for _ in inputs:
            await self._rest()
            self._note_menu(open_now=await self.page.paint(frames, STEP_TIMEOUT_S))
            self._due = DRAWN - frames
            if self._menu:
                await self._show()

    async def _show(self) -> None:
        """Return once the page has dealt with its input and is on the screen, with what it has loaded."""
        self._painted = -1
        while self._painted != self._files.answered:
            self._painted, self._due = self._files.answered, 0
            self._note_menu(open_now=await self.page.paint(DRAWN, STEP_TIMEOUT_S))
            await self._rest()

    async def _settle(self) -> None:
        """Return once nothing is at work, and what was loaded meanwhile is on the screen, where it were by chance."""
        await self._rest()
        if self._painted != self._files.answered:
            await self._show()

    async def _rest(self) -> None:
        """Return once nothing of the browser and the screen is at work."""
        self.forget()
        patience = Patience(self._server, STEP_TIMEOUT_S, time.monotonic())
        while True:
            before = self._stillness.look()
            for _ in range(TURNS if before is not None else 1):
                await asyncio.sleep(0)
            if before is not None and self._menu:
                await asyncio.sleep(MENU_S)
            if before is not None and not self._files.busy and self._stillness.stood(before):
                return
            if patience.is_over(time.monotonic()):
                raise Stuck(f"the page was at work for {STEP_TIMEOUT_S:g} s without a pause")
            # Shorter than the event loop's timers can be.
            time.sleep(PAUSE_S)  # noqa: ASYNC251
