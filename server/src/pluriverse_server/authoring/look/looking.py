"""Answers what the page asks on which a program is looked at that nothing is known of yet."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.console.serve import stopped_by_signals
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.manifest.draft import DRAFT_VARIABLE
from pluriverse_server.manifest.runtime import ManifestError
from pluriverse_server.manifest.sources import MAX_SOURCES
from pluriverse_server.process import endpoint, raise_descriptor_limit
from pluriverse_server.programs.scraped import PRINTED_VARIABLE
from pluriverse_server.settings import Settings
from pluriverse_server.sources.program.patterns import number_or_text

from .found import Found
from .live import LiveSources, sources_of
from .looked_at import LookedAt
from .notebook import Notebook
from .page_values import values_at, values_in_page, where_seen
from .pictures import Pictures
from .presses import Presses
from .proposals import template_png
from .running import RunningRemote
from .search import Search
from .server import Question, serving
from .widgets import also_called, list_widgets, names_on, sources_of_widgets

STOPPED: Final = "Ctrl-C ends it; what was chosen is written already."


class Looking:
    """A look at the runtime in ``notebook``: what its page may ask."""

    def __init__(self, notebook: Notebook, settings: Settings) -> None:
        self.remote: Final = RunningRemote(settings, self._let_go)
        self._notebook = notebook
        self._settings = settings
        self._live = LiveSources(notebook.folder)
        self._pictures = Pictures(notebook.folder, self.remote.grab)
        self._search: Search | None = None
        self._presses: Presses | None = None

    def _let_go(self) -> None:
        self._end_presses()
        self._live.close()

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
        password = quote(self._settings.password or "", safe="")
        notebook = self._notebook
        known: dict[str, Any] = {
            "file": str(notebook.file),
            "viewer": f"http://{rewarder}/viewer/?embed=1&readings=1&control=1&password={password}",
            "problem": self.remote.problem,
            "remote": self.remote.status(),
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
            read = self._live.read(game, self.remote.grab(), program)
        except AuthoringError:
            read = {}
        about = None
        if program is not None:
            about = {"pid": program.pid, "home": str(program.home), "bus": program.bus}
        return sources_of(game, read), self._live.printed(program), about

    async def frame(self) -> tuple[int, bytes]:
        """Take a picture of the screen."""
        return await self._pictures.take()

    async def _read(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        pixels, region = self._pictures.part(asked["frame"], asked["region"])
        if (page := self.remote.page) is not None:
            # No source reads a page: what is there of its tree can be chosen.
            there = [_choice(one) for one in await values_at(page, region)]
            return {"proposals": there, "missing": [] if there else ["No text of the page's tree is there."]}
        found, missing = await self._pictures.propose(pixels, region)
        proposals = [
            {"how": it.how, "value": it.value, "sure": it.sure, "table": dict(it.table), "cut": it.cut} for it in found
        ]
        return {"proposals": proposals, "missing": missing}

    async def _choose(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        name, table = str(asked["name"]), dict(asked["table"])
        picture = None
        if asked.get("cut"):
            picture = template_png(self._pictures.part(asked["frame"], asked["cut"])[0])
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
        self.remote.restart()
        return {}

    async def _reset(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self.remote.reset(self._notebook.env_id)
        return {}

    # ── values anywhere ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _find(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        seen = number_or_text(str(asked["value"]))
        if isinstance(seen, bool) or seen is None or seen == "":
            raise AuthoringError("say what it is now: a number, or a text as it stands there")
        program = await asyncio.to_thread(LookedAt.find)
        page = self.remote.page
        if program is None and page is None:
            raise AuthoringError("nothing runs at the moment")
        if self._search is None or not self._search.suits(program):
            self._search = Search(program)
        search = self._search
        of_page = (await values_in_page(page))[1] if page is not None else []

        def narrow() -> tuple[list[Found], int]:
            return search.narrow(seen, self._live.printed(program), of_page)

        found, places = await asyncio.to_thread(narrow)
        return {"values": search.values, "found": [_choice(one) for one in found], "places": places}

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

    async def _page_tree(self, _: Mapping[str, Any]) -> dict[str, Any]:
        page = self.remote.page
        if page is None:
            raise AuthoringError("no page is shown at the moment")
        return {"found": [_choice(one) for one in (await values_in_page(page))[1]]}

    async def _page_expression(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        expression, use = str(asked["expression"]), asked["use"]
        if use == "reward":
            self._notebook.add_page_reward(expression, f"It was {asked.get('value')!r} when it was chosen.")
        elif use in ("done", "ready"):
            self._notebook.set_keys("page", {use: where_seen(expression)})
        elif use == "text":
            self._notebook.set_keys("page", {use: expression})
        else:
            raise AuthoringError("expected a use: reward, done, ready or text")
        return {}

    # ── steps of the reset ───────────────────────────────────────────────────────────────────────────────────────────

    async def _record(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Begin to record what is pressed; or end it, and return it as steps."""
        if asked["on"]:
            screen = self.remote.screen_environment
            await asyncio.to_thread(self._end_presses)
            self._presses = await asyncio.to_thread(Presses, screen, self._values)
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
    async with stopped_by_signals(looking.remote.stop), contextlib.AsyncExitStack() as until:
        try:
            address = await until.enter_async_context(serving(looking, port))
        except OSError as error:
            raise AuthoringError(f"the page can't be served: {error.strerror or error}") from error
        await looking.remote.run(lambda: say(f"{notebook.file}\n  look      {address}\n{STOPPED}"))
