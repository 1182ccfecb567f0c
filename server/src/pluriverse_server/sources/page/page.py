"""A page in a browser context of its own: opened on the whole screen, guarded, watched, and closed without traces."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pluriverse_server.manifest.page import Permission
from pluriverse_server.manifest.runtime import ManifestError
from pluriverse_server.sources.trees import TREE_S, Box, NoTree, Tree, trim

from .clock import ClockScript
from .devtools import CallFailed, DevToolsError, EventHandler, Parameters
from .guard import Guard, Windows
from .tree import ASK, installer, read
from .watcher import Watcher

log = logging.getLogger(__name__)

# A page that throws at each frame must not fill the disk with log lines.
MAX_LOGGED_COMPLAINTS: Final = 50
MAX_LOGGED_CHARS: Final = 500

# The page only stores the episode; one that takes this long hangs.
BEGIN_TIMEOUT_S: Final = 2.0

# A browser window that ends where the screen does loses a row and a column of pixels.
_OVERLAP: Final = 1

# Scripts that look at the page without being seen by it. One that took longer would make the page hang.
_BESIDE: Final = "pluriverse"
_BESIDE_MS: Final = 2000

# Only the page itself: its frames are loaded later, and may have stored something by then.
FORGET: Final = "if (window === window.top) try { sessionStorage.clear(); } catch {}"


class PageError(Exception):
    """The page can't be shown; the message is the browser's."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What pages have in common, and in ``at`` where on a screen that they share with others; None: it is theirs.

    ``proxy`` is the address of the server that they load everything from.
    """

    width: int
    height: int
    origins: frozenset[str]
    allow: frozenset[Permission]
    watcher: Watcher
    script: str | None
    zoom: int = 1
    language: str = "en-US"
    tz: str = "UTC"
    at: tuple[int, int] | None = None
    proxy: str | None = None


class Passed(NamedTuple):
    """How many frames have passed, whether the last was painted, and whether a menu is open."""

    frames: int
    busy: bool
    menu: bool


class Page:
    """A page. ``address`` is where it was sent; ``strayed``: it has gone elsewhere since by itself.

    ``is_new``: its episode is the first in its document.
    """

    def __init__(
        self,
        windows: Windows,
        outline: Outline,
        context_id: str,
        target_id: str,
        session_id: str,
        clock: ClockScript | None,
    ) -> None:
        devtools = windows.devtools
        self.target_id = target_id
        self.address: str | None = None
        self.strayed = False
        self.is_new = True
        self.guard = Guard(devtools, target_id, session_id, outline.origins, outline.allow)
        self._windows = windows
        self._devtools = devtools
        self._outline = outline
        self._clock = clock
        self._context_id = context_id
        self._session_id = session_id
        self._script_id: str | None = None
        self._navigations = 0
        self._complaints = 0

    @classmethod
    async def open(
        cls, windows: Windows, outline: Outline, on_said: Callable[[str], None], clock: ClockScript | None = None
    ) -> Page:
        """Show an empty page in a new context; ``on_said`` gets its watcher's messages. Raises DevToolsError.

        With a ``clock`` its time passes by ``advance`` alone.
        """
        devtools = windows.devtools
        # Else it would go past the proxy, to this machine.
        proxy = {} if outline.proxy is None else {"proxyServer": outline.proxy, "proxyBypassList": "<-loopback>"}
        context = await devtools.call("Target.createBrowserContext", {"disposeOnDetach": True, **proxy})
        context_id = context["browserContextId"]
        windows.expect(context_id)
        left, top = outline.at or (0, 0)
        try:
            target = await devtools.call(
                "Target.createTarget",
                {
                    "url": "about:blank",
                    "browserContextId": context_id,
                    "newWindow": True,
                    "windowState": "fullscreen",
                    "left": left,
                    "top": top,
                    "width": outline.width + _OVERLAP,
                    "height": outline.height + _OVERLAP,
                },
            )
            target_id = target["targetId"]
            attached = await devtools.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})
            page = cls(windows, outline, context_id, target_id, attached["sessionId"], clock)
            await page._prepare(on_said)
        except BaseException:
            windows.dispose(context_id)
            raise
        return page

    def close(self) -> None:
        """Close the page and remove all that it stored, even if it doesn't answer."""
        self._devtools.forget(self._session_id)
        self._windows.dispose(self._context_id)

    async def show(self) -> None:
        """Put it above all others, and give it the keyboard."""
        await self._devtools.call("Target.activateTarget", {"targetId": self.target_id})

    async def navigate(self, address: str, episode: Mapping[str, Any]) -> None:
        if self.address is not None:
            await self._evaluate(self._outline.watcher.leave, BEGIN_TIMEOUT_S)
            await self._go("about:blank")
            await self._sweep()
        await self._watch_from_the_start(episode)
        self.address = address
        self.strayed = False
        self.is_new = True
        # A tab's session storage can only be cleared from within.
        forget = await self._call("Page.addScriptToEvaluateOnNewDocument", {"source": FORGET})
        try:
            await self._go(address)
        finally:
            await self._call("Page.removeScriptToEvaluateOnNewDocument", forget)

    async def begin(self, episode: Mapping[str, Any]) -> None:
        """Clear what the current page has stored, and begin an episode in it. Raises DevToolsError."""
        self.is_new = False
        if self._clock is not None:
            # What it still does about its input it may store.
            await self.ask(self._clock.begin(episode["seed"]), BEGIN_TIMEOUT_S)
        storages = (
            {"storageId": {"securityOrigin": origin, "storageKey": f"{origin}/", "isLocalStorage": False}}
            for origin in self._outline.origins
        )
        # All at once, and answered together.
        await asyncio.gather(
            self._sweep(),
            *(self._call("DOMStorage.clear", storage) for storage in storages),
            self._watch_from_the_start(episode),
        )
        await self._evaluate(self._outline.watcher.begin(episode), BEGIN_TIMEOUT_S)

    async def check(self, timeout_s: float) -> None:
        """Return once the page answers; raise DevToolsError if it doesn't within ``timeout_s`` or is gone."""
        await self._evaluate(self._outline.watcher.check, timeout_s)

    @property
    def stepped(self) -> bool:
        return self._clock is not None

    async def advance(self, frames: int, due: int, timeout_s: float) -> Passed:
        """Let up to so many frames pass, until one in which the page did something, and paint it.

        If it did nothing until the last, paint that as often as is ``due``, or ``check`` it. None pass while a document
        is on its way.
        """
        assert self._clock is not None
        passed = await self.ask(self._clock.advance(frames, due, self._outline.watcher.check), timeout_s)
        return Passed(0, busy=True, menu=False) if passed is None else Passed(*passed)

    @property
    def zoom(self) -> int:
        return self._outline.zoom

    async def input(self, method: str, parameters: Mapping[str, Any], timeout_s: float) -> None:
        """Have the page hear of a key or the pointer, as of those of a screen."""
        await self._devtools.call(method, parameters, self._session_id, timeout_s)

    async def reopen(self, timeout_s: float) -> None:
        """Open the menu of the browser's that was open last, again if it still is, so that it has the pointer."""
        assert self._clock is not None
        if await self.ask(self._clock.menu, timeout_s):
            escape = {"type": "rawKeyDown", "key": "Escape", "code": "Escape", "windowsVirtualKeyCode": 27}
            await self.input("Input.dispatchKeyEvent", escape, timeout_s)
        script = {"expression": self._clock.reopen, "userGesture": True, "silent": True}
        await self.input("Runtime.evaluate", script, timeout_s)

    async def paint(self, frames: int, timeout_s: float) -> bool:
        """Paint it so many times; return whether a menu of the browser's is open."""
        assert self._clock is not None
        return bool(await self.ask(self._clock.paint(frames), timeout_s))

    async def asked(self, timeout_s: float) -> Mapping[str, int]:
        """Return how often the document has asked for the time and for random numbers, by what it asked."""
        assert self._clock is not None
        return await self.ask(self._clock.asked, timeout_s) or {}

    async def ask(self, expression: str, timeout_s: float) -> Any:
        """Return the value of an expression in the page, awaited if it is a promise; None if the document was left."""
        script = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        try:
            answer = await self._devtools.call("Runtime.evaluate", script, self._session_id, timeout_s)
        except CallFailed as error:
            # The document was left meanwhile.
            log.debug("%s", error)
            return None
        return answer["result"].get("value")

    async def tree(self, picture: Box) -> Tree:
        if self.guard.dialog_open:
            raise NoTree("a browser dialog waits for an answer, and is not part of the page")
        try:
            said = await self._ask_beside(ASK) or await self._ask_beside(installer())
        except DevToolsError as error:
            raise NoTree(f"the page's tree could not be read within {_BESIDE_MS / 1000:g} s: {error}") from error
        except FileNotFoundError as error:
            raise NoTree(f"trees of pages need {error.filename}; fetch it with: make assets") from error
        return await asyncio.to_thread(lambda: trim(read(said), picture))

    async def _ask_beside(self, expression: str) -> Any:
        """Return the value of an expression in a world of its own, which shares the page's document alone."""
        beside = {"frameId": self.target_id, "worldName": _BESIDE, "grantUniveralAccess": True}
        world = await self._devtools.call("Page.createIsolatedWorld", beside, self._session_id, TREE_S)
        script = {
            "expression": expression,
            "contextId": world["executionContextId"],
            "returnByValue": True,
            "timeout": _BESIDE_MS,
        }
        answer = await self._devtools.call("Runtime.evaluate", script, self._session_id, TREE_S)
        if details := answer.get("exceptionDetails"):
            raise CallFailed(_description(details))
        return answer["result"].get("value")

    async def require_javascript(self) -> None:
        for key, function in self._outline.watcher.functions.items():
            script = {"expression": function, "sourceURL": key, "persistScript": False}
            if details := (await self._call("Runtime.compileScript", script)).get("exceptionDetails"):
                raise ManifestError(f"{key} isn't a JavaScript expression: {_description(details)}")

    async def _prepare(self, on_said: Callable[[str], None]) -> None:
        outline = self._outline
        binding = outline.watcher.binding

        def called(call: Parameters) -> None:
            if call["name"] == binding:
                on_said(call["payload"])

        handlers: dict[str, EventHandler] = {
            "Runtime.bindingCalled": called,
            "Runtime.exceptionThrown": self._threw,
            "Runtime.consoleAPICalled": self._complained,
            "Page.frameNavigated": self._navigated,
        }
        self._devtools.listen(self._session_id, handlers)
        for domain in ("Page", "Runtime", "DOMStorage"):
            await self._call(f"{domain}.enable")
        await self._call("Runtime.addBinding", {"name": binding})
        await self.guard.start()
        # Exactly the screen's size, whatever the window's is, from the first document on.
        width, height = outline.width // outline.zoom, outline.height // outline.zoom
        size = {"width": width, "height": height, "deviceScaleFactor": outline.zoom, "mobile": False}
        if outline.at is not None:
            # As if it were alone.
            size |= {"screenWidth": width, "screenHeight": height, "positionX": 0, "positionY": 0}
            await self._call("Emulation.setFocusEmulationEnabled", {"enabled": True})
        await self._call("Emulation.setDeviceMetricsOverride", size)
        await self._call("Emulation.setTimezoneOverride", {"timezoneId": outline.tz})
        await self._call("Emulation.setLocaleOverride", {"locale": outline.language})
        light = {"name": "prefers-color-scheme", "value": "light"}
        await self._call("Emulation.setEmulatedMedia", {"features": [light]})
        context = {"browserContextId": self._context_id}
        downloads = {"behavior": "default" if "downloads" in outline.allow else "deny"}
        await self._devtools.call("Browser.setDownloadBehavior", {**downloads, **context})
        # Granting none denies all without asking.
        await self._devtools.call("Browser.grantPermissions", {"permissions": [], **context})

    async def _sweep(self) -> None:
        """Remove what the runtime's origins have stored for all tabs: cookies, storage, caches, workers."""
        origins = ({"origin": origin, "storageTypes": "all"} for origin in self._outline.origins)
        await asyncio.gather(
            self._call("Network.clearBrowserCookies"),
            *(self._call("Storage.clearDataForOrigin", origin) for origin in origins),
        )

    async def _watch_from_the_start(self, episode: Mapping[str, Any]) -> None:
        """Run the watcher with ``episode`` in each new document before its own scripts."""
        before, self._script_id = self._script_id, None
        source = self._outline.watcher.script(episode, lockstep=self._clock is not None)
        if self._clock is not None:
            source = self._clock.script(episode["seed"]) + "\n" + source
        if self._outline.script is not None:
            source += "\n" + self._outline.script
        added = self._call("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        if before is not None:
            gone = self._call("Page.removeScriptToEvaluateOnNewDocument", {"identifier": before})
            self._script_id = (await asyncio.gather(added, gone))[0]["identifier"]
        else:
            self._script_id = (await added)["identifier"]

    async def _go(self, address: str) -> None:
        self._navigations += 1
        done = await self._call("Page.navigate", {"url": address})
        if done.get("errorText"):
            raise PageError(f"{address} can't be shown: {done['errorText']}")

    async def _call(self, method: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return await self._devtools.call(method, parameters, self._session_id)

    async def _evaluate(self, expression: str, timeout_s: float) -> None:
        parameters = {"expression": expression, "silent": True}
        await self._devtools.call("Runtime.evaluate", parameters, self._session_id, timeout_s)

    def _navigated(self, event: Parameters) -> None:
        frame = event["frame"]
        if "parentId" in frame:
            return
        if self._navigations:
            self._navigations -= 1
        elif frame["url"] != self.address:
            self.strayed = True

    def _threw(self, event: Parameters) -> None:
        self._complain("threw", _description(event["exceptionDetails"]))

    def _complained(self, event: Parameters) -> None:
        if event["type"] in ("error", "assert"):
            said = (argument.get("description") or argument.get("value") for argument in event["args"])
            self._complain("says", " ".join(map(str, said)))

    def _complain(self, how: str, what: object) -> None:
        self._complaints += 1
        if self._complaints <= MAX_LOGGED_COMPLAINTS:
            log.info("the page %s: %s", how, str(what)[:MAX_LOGGED_CHARS])


def _description(details: Mapping[str, Any]) -> str:
    thrown = details.get("exception", {})
    return str(thrown.get("description") or thrown.get("value") or details["text"])
