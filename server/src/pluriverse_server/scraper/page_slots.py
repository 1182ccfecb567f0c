"""Pages beside a remote's own: contexts of one more browser, each in its part of a screen that nobody sees.

They go on one at a time. A screen has one pointer and one keyboard, so input comes by DevTools; but menus of the
browser's own are windows, which only the screen's pointer reaches.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import math
import os
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from pluriverse_protocol.errors import MessageId
from pluriverse_protocol.events import PointerEvent, ScreenEvent
from pluriverse_protocol.limits import DRAWN_SEED_BITS, MAX_PAGE_SLOTS
from pluriverse_protocol.messages import AgentBegin, ErrorReply, Headers
from pluriverse_protocol.reports import Frame, Lost, Report, Reset, SlotFrames
from Xlib import X, Xatom
from Xlib.error import XError

from pluriverse_server.display import DisplayLost
from pluriverse_server.display.client_thread import ClientThread, open_in_thread
from pluriverse_server.display.xserver import XServer
from pluriverse_server.kit.lockstep import Keeping, StepServer, Waited
from pluriverse_server.kit.slots import NO_EPISODE
from pluriverse_server.kit.step_channel import Asked, StepChannel
from pluriverse_server.manifest.key_combinations import parse_combination
from pluriverse_server.manifest.runtime import NO_OPTIONS, EnvTable, Manifest, ManifestError
from pluriverse_server.process import StartError, executable, share
from pluriverse_server.programs.catalogue import refusal
from pluriverse_server.programs.pages import page_files
from pluriverse_server.sources.page.files import Files
from pluriverse_server.sources.page.hands import INPUT_S, Hands
from pluriverse_server.sources.page.page import Page
from pluriverse_server.sources.reading import Pixels
from pluriverse_server.sources.trees import Box
from pluriverse_server.tasks import start_task
from pluriverse_server.x11.connection import write_cookie

from .browser import private_bytes
from .page_browser import PageBrowser
from .page_clock import Display, Place
from .page_session import Channel, PageSession
from .page_steps import PageSteps
from .stillness import process_tree

log = logging.getLogger(__name__)

# The folder of what slots keep, and that of their browser, whose socket has room for no longer name.
FOLDER: Final = "s"
BROWSER_FOLDER: Final = "c"

# As many parts of the screen are side by side as above each other.
COLUMNS: Final = math.ceil(math.sqrt(MAX_PAGE_SLOTS - 1))

# Each page loads everything from an address of its own, so that its files are told from those of others.
_ADDRESS: Final = "127.0.0.{}"

_RENDERER: Final = b"--type=renderer"


class PageSlots:
    """A ``SlotsBeside``. It plays on the event loop, and has readers of its own there."""

    waits_on: Sequence[Waited] = ()

    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        catalogue: Mapping[str, EnvTable],
        files: Files,
        folder: Path,
        report: Callable[[SlotFrames], None],
    ) -> None:
        """``files`` are those of the remote's own page, with whose port these have theirs."""
        self.keeping = Keeping()
        self.turn = asyncio.Lock()
        self.request: Reset | None = None
        self.directory = directory
        self.manifest = manifest
        self.catalogue = catalogue
        self.files = files
        self.folder = folder
        self._report = report
        self._slots: dict[int, _Slot] = {}
        self._hall: asyncio.Task[_Hall] | None = None
        self._ending: asyncio.Task[None] | None = None

    def attend(self, readable: Sequence[object]) -> None:
        """Nothing is waited for."""

    def play(self, request: Reset) -> None:
        self.request = request if request.clock == "lockstep" else None
        if self.request is None:
            self.hang_up()

    def open(self, slot: int, step_channel: StepChannel) -> None:
        before = self._slots.get(slot)
        if before is not None:
            before.close()
        self._slots[slot] = _Slot(self, slot, step_channel, before)

    def hang_up(self) -> None:
        for slot in self._slots.values():
            slot.close()
        self._ending = start_task(self._end(self._ending), "slots' end")

    async def close(self) -> None:
        self.hang_up()
        if self._ending is not None:
            await asyncio.shield(self._ending)

    async def hall(self) -> _Hall:
        """Return the screen and the browser, which are started when they are first needed."""
        if self._hall is None or (self._hall.done() and self._hall.exception() is not None):
            self._hall = asyncio.create_task(_Hall.open(self), name="slots' screen")
        return await asyncio.shield(self._hall)

    def played(self, frames: int) -> None:
        if self.request is not None:
            self._report(SlotFrames(self.request.episode, frames))

    async def _end(self, before: asyncio.Task[None] | None) -> None:
        slots, self._slots = self._slots, {}
        hall, self._hall = self._hall, None
        if before is not None:
            await before
        for slot in slots.values():
            await slot.worker
        if hall is not None:
            with contextlib.suppress(StartError, DisplayLost, OSError):
                await (await hall).close()


class _Wall(Display):
    """The screen that slots share, whose pointer rests in its last corner."""

    def __init__(self, display: str, xauthority: Path, part: tuple[int, int], corner: tuple[int, int]) -> None:
        super().__init__(display, xauthority, *part)
        self._connection = self._injector.connection
        self._root = self._connection.screen().root
        # A window that becomes active takes that from another, whose menu closes. Where a window manager is to be asked
        # for it none does, and pages don't know.
        manager, supported, activation = map(
            self._connection.intern_atom, ("_NET_SUPPORTING_WM_CHECK", "_NET_SUPPORTED", "_NET_ACTIVE_WINDOW")
        )
        window = self._root.create_window(-1, -1, 1, 1, 0, 0)
        for each in (self._root, window):
            each.change_property(manager, Xatom.WINDOW, 32, [window.id])
        self._root.change_property(supported, Xatom.ATOM, 32, [activation])
        for _ in self.release():
            pass
        self.point([PointerEvent(*corner, 0)])

    def has_menu_at(self, x: int, y: int) -> bool:
        """Return whether a menu is at a point: a window of those that no window manager would move."""
        for window in self._root.query_tree().children:
            with contextlib.suppress(XError):
                attributes, place = window.get_attributes(), window.get_geometry()
                inside = place.x <= x < place.x + place.width and place.y <= y < place.y + place.height
                if inside and attributes.override_redirect and attributes.map_state == X.IsViewable:
                    return True
        return False

    def point(self, events: Sequence[PointerEvent]) -> None:
        self._injector.apply(events)


class _Hall:
    """The screen that slots share, and its browser."""

    def __init__(
        self,
        slots: PageSlots,
        server: XServer,
        display: ClientThread[_Wall],
        corner: tuple[int, int],
        xauthority: Path,
    ) -> None:
        self.display = display
        self.corner = corner
        self._server = server
        environment = {"DISPLAY": server.display, "XAUTHORITY": str(xauthority)}
        hosts = [f"EXCLUDE {_ADDRESS.format(number + 1)}" for number in range(1, MAX_PAGE_SLOTS)]
        folder = slots.folder / BROWSER_FOLDER
        self.browser = PageBrowser(slots.manifest, slots.files, environment, folder, rules=hosts)
        # Where the pointer goes in menus.
        self.in_menu: _Part | None = None
        # Whose the browser's processes are that show pages.
        self._owners: dict[int, _Slot | None] = {}

    @classmethod
    async def open(cls, slots: PageSlots) -> _Hall:
        size = slots.manifest.runtime.screen
        # What a window ends with is lost where the screen ends, too; and beside them all the pointer rests.
        width, height = COLUMNS * (size.width + 1) + 1, math.ceil(MAX_PAGE_SLOTS / COLUMNS) * (size.height + 1) + 1
        corner = width - 1, height - 1
        folder = slots.folder / FOLDER
        share(folder)
        xauthority = folder / "Xauthority"
        write_cookie(xauthority)
        command = [executable("Xvfb", package="xvfb"), "-screen", "0", f"{width}x{height}x24"]
        server = await XServer.start(command, xauthority=xauthority)
        try:
            part = size.width, size.height
            display = await open_in_thread(
                "slots", lambda: _Wall(server.display, xauthority, part, corner), server.display
            )
        except BaseException:
            await server.stop()
            raise
        return cls(slots, server, display, corner, xauthority)

    def processes(self, slot: _Slot) -> list[int]:
        """Return all processes but those that show the pages of other slots."""
        browser = self.browser.current
        tree = process_tree(browser.process.pid) if browser is not None else []
        # It is this one's turn.
        self._owners = {pid: self._owners.get(pid) or (slot if _is_renderer(pid) else None) for pid in tree}
        return [pid for pid, owner in self._owners.items() if owner in (None, slot)] + [self._server.child.pid]

    def renderers(self, slot: _Slot) -> list[int]:
        return [pid for pid, owner in self._owners.items() if owner is slot]

    async def close(self) -> None:
        await self.browser.stop()
        await self.display.close()
        await self._server.stop()


class _Slot:
    """A session's ``Stage``, the ``Channel`` on which it is stepped, and the ``Daemon`` that hears of its episodes."""

    browser: PageBrowser
    files: Files | None
    at: tuple[int, int] | None
    proxy: str | None

    def __init__(self, slots: PageSlots, number: int, step_channel: StepChannel, before: _Slot | None) -> None:
        """``before`` is who had this part until now."""
        self.turn = slots.turn
        self._slots = slots
        self._number = number
        self._step_channel = step_channel
        self._server = StepServer(step_channel, slots.keeping, NO_EPISODE)
        self._before = before
        self._seeds = random.Random()  # noqa: S311 - they are drawn as a seed has it
        self._hall: _Hall
        # Never the same twice, so that a step that comes late is no other episode's.
        self._episodes = 0
        self._frames = 0
        # Who has asked for the episode that begins; and why the one that had begun is lost.
        self._parent: MessageId | None = None
        self._lost: str | None = None
        # What it plays, if that isn't what the remote plays.
        self._wanted: Reset | None = None
        self._readable = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        # The channel closes its own descriptor by itself, and another's then has that number.
        self._watched: int | None = os.dup(step_channel.fileno())
        self._loop.add_reader(self._watched, self._readable.set)
        self.worker = start_task(self._play(), f"slot {number}")

    # ── the channel ─────────────────────────────────────────────────────────────────────────────────────────────────

    def asked(self, reset: Reset) -> None:
        """It has asked itself."""

    async def begin(self, episode: PageSteps | None) -> None:
        parent, self._parent = self._parent, None
        await self._server.begin(episode, parent)

    def close(self) -> None:
        watched, self._watched = self._watched, None
        if watched is not None:
            self._loop.remove_reader(watched)
            os.close(watched)
            self._server.close()
        self._readable.set()

    async def _play(self) -> None:
        if self._before is not None:
            await self._before.worker
            self._before = None
        session: PageSession | None = None
        try:
            session = await self._open()
            while not self._step_channel.closed:
                await self._readable.wait()
                self._readable.clear()
                for asked, headers in [] if self._step_channel.closed else self._step_channel.receive():
                    await self._do(session, asked, headers)
        except (StartError, DisplayLost, ManifestError, OSError) as error:
            log.warning("slot %d: %s", self._number, error)
        except Exception:
            # One environment's failure does not affect the others.
            log.exception("slot %d has failed", self._number)
        finally:
            self.close()
            if session is not None:
                await session.close()

    async def _open(self) -> PageSession:
        slots, size = self._slots, self._slots.manifest.runtime.screen
        row, column = divmod(self._number - 1, COLUMNS)
        self.at = column * (size.width + 1), row * (size.height + 1)
        table, address, port = slots.manifest.page, _ADDRESS.format(self._number + 1), slots.files.port
        assert table is not None
        assert table.files is not None
        self.proxy = f"http://{address}:{port}"
        self.files = page_files(slots.directory, table, table.files, address, port)
        self._hall = await slots.hall()
        self.browser = self._hall.browser
        folder = slots.folder / FOLDER / str(self._number)
        folder.mkdir(exist_ok=True)
        session = PageSession(slots.directory, slots.manifest, slots.catalogue, self, folder, self)
        await session.start()
        return session

    async def _do(self, session: PageSession, asked: Asked, headers: Headers) -> None:
        if isinstance(asked, AgentBegin):
            if (request := self._slots.request) is None:
                return
            try:
                wanted = self._next(request, asked)
            except ValueError as error:
                self._step_channel.send(ErrorReply(str(error)), 0, headers.message_id)
                return
            self._frames, self._parent, self._lost = 0, headers.message_id, None
            await session.episode(wanted)
        elif self._lost is not None:
            self._step_channel.send(ErrorReply(self._lost), self._episodes, headers.message_id)
        else:
            async with self.turn:
                await self._server.do(asked, headers)

    def _next(self, request: Reset, asked: AgentBegin) -> Reset:
        """Return the next episode; raise ValueError if there is none such."""
        manifest, before = self._slots.manifest, self._wanted or request
        env_id, options = asked.env_id or before.env, asked.options
        if (entry := self._slots.catalogue.get(env_id)) is None:
            raise ValueError(refusal(manifest, self._slots.catalogue, env_id))
        if options is None:
            options = before.options if env_id == before.env else NO_OPTIONS
        environment = manifest.environment(entry, options)
        if asked.env_id is not None or asked.options is not None:
            limit, spaces = manifest.time_limit_of(entry), manifest.spaces_of(entry)
            request = replace(
                request, env=env_id, options=environment.options, fps=environment.fps, time_limit_s=limit, spaces=spaces
            )
            self._wanted = request
        if asked.seed is not None:
            self._seeds.seed(asked.seed)
        self._episodes += 1
        seed = self._seeds.getrandbits(DRAWN_SEED_BITS) if asked.seed is None else asked.seed
        return replace(self._wanted or request, episode=self._episodes, seed=seed)

    # ── the daemon ──────────────────────────────────────────────────────────────────────────────────────────────────

    def send(self, *reports: Report) -> None:
        for report in reports:
            if isinstance(report, Frame):
                self._slots.played(report.frames - self._frames)
                self._frames = report.frames
            elif isinstance(report, Lost):
                self._lost = report.reason
                if self._parent is not None:
                    # Its agent asks again.
                    log.warning("slot %d: no episode began: %s", self._number, report.reason)
                    self.close()

    # ── the stage ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def place(self) -> Place:
        assert self.at is not None
        return _Part(self, self._hall, self.at)

    def picture(self) -> NDArray[np.uint8]:
        size = self._slots.manifest.runtime.screen
        assert self.at is not None
        part = _Part(self, self._hall, self.at).grab((0, 0, size.width, size.height))
        return np.ascontiguousarray(asyncio.run_coroutine_threadsafe(part, self._loop).result()[..., 2::-1])

    async def page_bytes(self) -> int:
        return max(map(private_bytes, self._hall.renderers(self)), default=0)

    @property
    def channel(self) -> Channel:
        return self

    async def end(self) -> None:
        """Others go on with the browser."""

    async def leave(self) -> None:
        """Others go on with the screen."""

    @property
    def hands(self) -> Hands:
        table = self._slots.manifest.page
        assert table is not None
        return Hands(frozenset(map(parse_combination, table.keys)), middle="menus" in table.allow)


class _Part:
    """A ``Place``: a part of the screen that slots share."""

    def __init__(self, slot: _Slot, hall: _Hall, at: tuple[int, int]) -> None:
        self._slot = slot
        self._hall = hall
        self._at = at
        self._hands = slot.hands

    def release(self, page: Page) -> AsyncIterator[None]:
        return self._hands.release(page)

    async def apply(self, page: Page, events: Sequence[ScreenEvent], menu: Callable[[], bool]) -> AsyncIterator[None]:
        hands = self._hands
        open_before = menu()
        for event in events:
            before = menu()
            open_before |= before
            if not isinstance(event, PointerEvent) or not before:
                async for _ in hands.apply(page, [event]):
                    yield
                if menu() and not before:
                    self._hall.in_menu = self
                continue
            if self._hall.in_menu is not self:
                # The menu that was opened last has the pointer, and a click in one closes the others.
                self._hall.in_menu = self
                await page.reopen(INPUT_S)
                yield
            if (inputs := await self._into_menu(event)) is None:
                async for _ in hands.apply(page, [event]):
                    yield
                continue
            for each in inputs:
                await self._hall.display.run(functools.partial(_Wall.point, events=each))
                yield
        if open_before and not menu():
            # The page hears where the pointer is.
            hands.at = None
            async for _ in hands.apply(page, [PointerEvent(hands.x, hands.y, hands.buttons)]):
                yield

    async def _into_menu(self, event: PointerEvent) -> Sequence[Sequence[PointerEvent]] | None:
        """Return what the screen's pointer does in the menu that is open, one after the other; None: the page hears.

        It doesn't stay there.
        """
        hands, (left, top) = self._hands, self._at
        x, y, before = left + event.x, top + event.y, hands.buttons
        there = await self._hall.display.run(lambda display: display.has_menu_at(x, y))
        if not there and event.buttonmask & ~before:
            return None
        hands.x, hands.y, hands.buttons = event.x, event.y, event.buttonmask
        inside, away = PointerEvent(x, y, event.buttonmask), PointerEvent(*self._hall.corner, 0)
        if not there or event.buttonmask:
            return [[inside]] if there else []
        # A menu that closes shows the pointer what is below it.
        return [[inside, away]] if before else [[inside], [away]]

    async def separate_clicks(self) -> None:
        self._hands.separate_clicks()

    async def grab(self, box: Box) -> Pixels:
        x, y, width, height = box
        left, top = self._at
        part = (left + x, top + y, width, height)
        return await self._hall.display.run(functools.partial(Display.grab, box=part))

    def processes(self) -> list[int]:
        return self._hall.processes(self._slot)

    async def close(self) -> None:
        """The screen is the others' as well."""


def _is_renderer(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return _RENDERER in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False
