"""Runs a remote of a program that nothing is known of yet, with the page beside it on which it is looked at."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import numpy as np
from PIL import Image
from pluriverse_protocol import messages

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.console.serve import stopped_by_signals
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.draft import DRAFT_VARIABLE
from pluriverse_server.manifest.runtime import ManifestError
from pluriverse_server.manifest.sources import MAX_SOURCES
from pluriverse_server.process import StartError, endpoint, raise_descriptor_limit
from pluriverse_server.programs.page import PageProgram
from pluriverse_server.programs.scraped import PRINTED_VARIABLE
from pluriverse_server.remote.remote import GaveUp, Remote
from pluriverse_server.settings import Settings
from pluriverse_server.sources.page.page import Page
from pluriverse_server.sources.program.patterns import number_or_text
from pluriverse_server.sources.reading import Pixels, SourceError
from pluriverse_server.sources.screen.grab import Grabber, ScreenLost, require_on_screen

from .found import Found
from .live import LiveSources, sources_of
from .looked_at import LookedAt
from .notebook import Notebook
from .page_values import values_at, values_in_page
from .presses import Presses
from .proposals import Proposal, Proposer, template_png
from .search import Search
from .server import Question, serving
from .widgets import also_called, list_widgets, names_on, sources_of_widgets

log = logging.getLogger(__name__)

# Of so many pictures regions may still be read: those of a person who goes back and forth.
FRAMES_KEPT: Final = 8

# Pictures are looked at once; speed matters more than size.
PNG_LEVEL: Final = 1

STOPPED: Final = "Ctrl-C ends it; what was chosen is written already."


class Looking:
    """A look at the runtime in ``notebook``; ``run`` until ``stop``."""

    def __init__(self, notebook: Notebook, settings: Settings) -> None:
        self._notebook = notebook
        self._settings = settings
        self._live = LiveSources(notebook.folder)
        self._remote: Remote | None = None
        self._up = False
        self._problem: str | None = None
        self._stopped = False
        self._again = asyncio.Event()
        self._search: Search | None = None
        self._presses: Presses | None = None
        self._frames: dict[int, Pixels] = {}
        self._frame_number = 0
        self._proposer = Proposer(notebook.folder)
        self._proposing = threading.Lock()
        self._grabbing = threading.Lock()
        self._grabber: Grabber | None = None

    # ── the remote ───────────────────────────────────────────────────────────────────────────────────────────────────

    def stop(self) -> None:
        """Make ``run`` return; may be called from a signal handler."""
        self._stopped = True
        self._again.set()
        if self._remote is not None:
            self._remote.stop()

    async def run(self, on_start: Callable[[], None]) -> None:
        """Run the remote, again each time that runtime.toml was changed and that is asked for; until ``stop``.

        Raises:
            ManifestError, StartError, GaveUp, TaskFailed: the remote didn't even start once; see ``Remote.run``.
        """
        started = False
        while not self._stopped:
            self._again.clear()
            self._problem = None
            self._remote = remote = Remote(self._settings)

            def on_remote(_: object) -> None:
                nonlocal started
                self._up = True
                if not started:
                    started = True
                    on_start()

            try:
                await remote.run(on_remote)
            except (ManifestError, StartError, GaveUp) as error:
                if not started:
                    raise
                # The page is still there: what is wrong in runtime.toml is mended on it.
                self._problem = str(error)
                log.warning("%s", error)
            finally:
                self._remote, self._up = None, False
                await asyncio.to_thread(self._let_go)
            if self._problem is not None:
                await self._again.wait()

    def _let_go(self) -> None:
        self._end_presses()
        self._live.close()
        with self._grabbing:
            if self._grabber is not None:
                self._grabber.close()
                self._grabber = None

    def _grab(self) -> Pixels:
        """Return all of the screen. Blocking; raise AuthoringError if there is none."""
        remote = self._remote
        if remote is None or not self._up:
            raise AuthoringError(self._problem or "there is no screen yet")
        with self._grabbing:
            try:
                if self._grabber is None:
                    screen = remote.screen.environment
                    options = remote.screen.options
                    everything = (0, 0, options.width, options.height)
                    self._grabber = Grabber(screen["DISPLAY"], [everything], xauthority=Path(screen["XAUTHORITY"]))
                return self._grabber.grab()[0]
            except (ScreenLost, RuntimeError) as error:
                if self._grabber is not None:
                    self._grabber.close()
                    self._grabber = None
                raise AuthoringError(f"there is no screen at the moment: {error}") from error

    # ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def questions(self) -> Mapping[str, Question]:
        """What the page may ask."""
        return {
            "read": self._read,
            "choose": self._choose,
            "remove": self._remove,
            "episode": self._episode,
            "restart": self._restart,
            "reset": self._reset,
            "find": self._find,
            "forget": self._forget,
            "widgets": self._widgets,
            "page": self._page_tree,
            "page-expression": self._page_expression,
            "record": self._record,
            "steps": self._steps,
        }

    async def state(self) -> dict[str, Any]:
        """Return what is known at the moment."""
        rewarder = endpoint(self._settings.reachable_host, self._settings.rewarder_port)
        password = quote(self._settings.password, safe="")
        remote, notebook = self._remote, self._notebook
        known: dict[str, Any] = {
            "file": str(notebook.file),
            "viewer": f"http://{rewarder}/viewer/?embed=1&readings=1&control=1&password={password}",
            "problem": self._problem,
            "remote": dict(remote.status()) if remote is not None else {},
            "sources": [],
            "printed": "",
        }
        try:
            known["text"] = notebook.text
            known["sources"], known["printed"], known["program"] = await asyncio.to_thread(self._now)
            game = notebook.tables
            known["episode"] = {"ready": game.episode.ready, "done": dict(game.episode.done)}
        except ManifestError as error:
            known["problem"] = str(error)
        return known

    def _now(self) -> tuple[list[dict[str, Any]], str, dict[str, Any] | None]:
        program = LookedAt.find()
        game = self._notebook.tables
        try:
            read = self._live.read(game, self._grab(), program)
        except AuthoringError:
            read = {}
        about = None
        if program is not None:
            about = {"pid": program.pid, "home": str(program.home), "bus": program.bus}
        return sources_of(game, read), self._live.printed(program), about

    async def frame(self) -> tuple[int, bytes]:
        """Take a picture of the screen."""
        pixels = await asyncio.to_thread(self._grab)
        self._frame_number += 1
        self._frames[self._frame_number] = pixels
        for number in list(self._frames)[:-FRAMES_KEPT]:
            del self._frames[number]
        return self._frame_number, await asyncio.to_thread(_png, pixels)

    async def _read(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        pixels, region = self._part(asked)
        if (page := self._page()) is not None:
            # No source reads a page: what is there of its tree can be chosen.
            there = [_choice(one) for one in await values_at(page, region)]
            return {"proposals": there, "missing": [] if there else ["No text of the page's tree is there."]}

        def propose() -> tuple[list[Proposal], list[str]]:
            with self._proposing:
                return self._proposer.propose(pixels, region)

        found, missing = await asyncio.to_thread(propose)
        proposals = [
            {"how": it.how, "value": it.value, "sure": it.sure, "table": dict(it.table), "cut": it.cut} for it in found
        ]
        return {"proposals": proposals, "missing": missing}

    def _part(self, asked: Mapping[str, Any]) -> tuple[Pixels, tuple[int, int, int, int]]:
        frame = self._frames.get(asked["frame"])
        if frame is None:
            raise AuthoringError("that picture is too old; take a new one and drag the region again")
        x, y, width, height = (int(number) for number in asked["region"])
        try:
            require_on_screen("the region", (x, y, width, height), frame.shape[1], frame.shape[0])
        except SourceError as error:
            raise AuthoringError(str(error)) from error
        return frame[y : y + height, x : x + width], (x, y, width, height)

    async def _choose(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        name, table = str(asked["name"]), dict(asked["table"])
        picture = None
        if asked.get("cut"):
            picture = template_png(self._part({"frame": asked["frame"], "region": asked["cut"]})[0])
        sure = round(100 * float(asked.get("sure", 1)))
        comment = f"Chosen as {asked.get('how', 'written by hand')}: it was {asked.get('value')!r} then, {sure} % sure."
        notebook = self._notebook
        if len(notebook.tables.sources) >= MAX_SOURCES:
            raise AuthoringError(f"there are {MAX_SOURCES} sources already; remove one")
        notebook.add_source(name, table, comment, reward=bool(asked.get("reward")), picture=picture)
        return {}

    async def _remove(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self._notebook.remove_source(str(asked["name"]))
        return {}

    async def _episode(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        done = {str(reason): str(text) for reason, text in dict(asked.get("done") or {}).items()}
        self._notebook.set_keys("episode", {"ready": asked.get("ready") or None, "done": done or None})
        return {}

    async def _restart(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._again.set()
        if self._remote is not None:
            self._remote.stop()
        return {}

    async def _reset(self, _: Mapping[str, Any]) -> dict[str, Any]:
        remote = self._remote
        described = remote.service.description() if remote is not None and self._up else None
        if remote is None or described is None:
            raise AuthoringError("nothing runs at the moment")
        remote.service.reset(messages.Reset(self._notebook.env_id), leaving=described[1])
        return {}

    # ── values anywhere ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _find(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        told = number_or_text(str(asked["value"]))
        if isinstance(told, bool) or told is None or told == "":
            raise AuthoringError("say what it is now: a number, or a text as it stands there")
        program = await asyncio.to_thread(LookedAt.find)
        page = self._page()
        if program is None and page is None:
            raise AuthoringError("nothing runs at the moment")
        if self._search is None or not self._search.suits(program):
            self._search = Search(program)
        search = self._search
        of_page = (await values_in_page(page))[1] if page is not None else []

        def tell() -> tuple[list[Found], int]:
            return search.tell(told, self._live.printed(program), of_page)

        found, places = await asyncio.to_thread(tell)
        return {"told": search.told, "found": [_choice(one) for one in found], "places": places}

    async def _forget(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._search = None
        return {}

    async def _widgets(self, _: Mapping[str, Any]) -> dict[str, Any]:
        program = await asyncio.to_thread(LookedAt.find)
        if program is None:
            raise AuthoringError("no program runs at the moment")
        widgets = await asyncio.to_thread(list_widgets, program.environment)
        names = await asyncio.to_thread(names_on, program.environment)
        listed = [_choice(one) for one in sources_of_widgets(widgets)]
        others = {widget.role: other for widget in widgets if (other := also_called(widget.role)) is not None}
        return {"found": listed, "also_called": others, "names": names, "bus": program.bus}

    def _page(self) -> Page | None:
        program = self._remote.service.program if self._remote is not None and self._up else None
        return program.page if isinstance(program, PageProgram) else None

    async def _page_tree(self, _: Mapping[str, Any]) -> dict[str, Any]:
        page = self._page()
        if page is None:
            raise AuthoringError("no page is shown at the moment")
        return {"found": [_choice(one) for one in (await values_in_page(page))[1]]}

    async def _page_expression(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        expression, use = str(asked["expression"]), asked["use"]
        if use == "reward":
            self._notebook.add_page_reward(expression, f"It was {asked.get('value')!r} when it was chosen.")
        elif use in ("done", "ready", "text"):
            self._notebook.set_keys("page", {use: expression})
        else:
            raise AuthoringError("expected a use: reward, done, ready or text")
        return {}

    # ── steps of the reset ───────────────────────────────────────────────────────────────────────────────────────────

    async def _record(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Begin to record what is pressed; or end it, and return it as steps."""
        if asked["on"]:
            if self._remote is None or not self._up:
                raise AuthoringError("nothing runs at the moment")
            await asyncio.to_thread(self._end_presses)
            self._presses = await asyncio.to_thread(Presses, self._remote.screen.environment, self._values)
            return {"steps": []}
        steps = await asyncio.to_thread(self._presses.steps) if self._presses is not None else []
        await asyncio.to_thread(self._end_presses)
        return {"steps": steps}

    def _end_presses(self) -> None:
        if self._presses is not None:
            self._presses.close()
            self._presses = None

    def _values(self) -> dict[str, Value]:
        try:
            return {source["name"]: source.get("value") for source in self._now()[0]}
        except ManifestError:
            return {}

    async def _steps(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        steps = [dict(step) for step in asked["steps"]]
        self._notebook.set_steps(steps, by=str(asked["by"]), comment="The steps as they were done.")
        return {}


def _choice(found: Found) -> dict[str, Any]:
    return {"how": found.how, "value": found.value, "sure": 1.0, "table": dict(found.table)}


def _png(pixels: Pixels) -> bytes:
    png = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels[..., 2::-1])).save(png, "png", compress_level=PNG_LEVEL)
    return png.getvalue()


async def look(notebook: Notebook, settings: Settings, port: int, say: Callable[[str], None]) -> None:
    """Look at a runtime until a signal; ``say`` prints the page's address once the program runs.

    Raises:
        AuthoringError: the port is taken.
        ManifestError, StartError, GaveUp, TaskFailed: as ``Remote.run``.
    """
    raise_descriptor_limit()
    # For the scraper, which is another process: pictures may still be missing, and what is printed is shown.
    os.environ[DRAFT_VARIABLE] = os.environ[PRINTED_VARIABLE] = "1"
    looking = Looking(notebook, settings)
    async with stopped_by_signals(looking.stop):
        try:
            async with serving(looking, port) as address:
                await looking.run(lambda: say(f"{notebook.file}\n  look      {address}\n{STOPPED}"))
        except OSError as error:
            raise AuthoringError(f"the page can't be served: {error.strerror or error}") from error
