"""One page in a browser context of its own: opened on the screen, guarded, watched, and closed without a trace."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pluriverse_server.manifest.page import Permission
from pluriverse_server.process import StartError

from .devtools import Listener, Parameters
from .guard import Guard
from .watcher import Watcher
from .windows import Windows

log = logging.getLogger(__name__)

# A page that throws at each frame shouldn't fill the disk with its complaints.
MAX_LOGGED_COMPLAINTS: Final = 50
MAX_LOGGED_CHARS: Final = 500

# The page only takes note of what is begun; one that takes this long over it hangs.
BEGIN_TIMEOUT_S: Final = 2.0

# Windows of a browser lose a row and a column of pixels where they would end with the screen.
_OVERLAP: Final = 1

# Frames of the page come later, when there may be something to remember.
FORGET: Final = "if (window === window.top) try { sessionStorage.clear(); } catch {}"


class PageError(Exception):
    """The page could not be shown; the message is the browser's."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What all pages of a runtime have in common. Sizes are the screen's, in pixels."""

    width: int
    height: int
    origins: frozenset[str]
    allow: frozenset[Permission]
    watcher: Watcher
    script: str | None
    zoom: int = 1


class Page:
    """A page. ``address`` is where it was sent, ``strayed`` whether it has gone elsewhere since by itself."""

    def __init__(self, windows: Windows, outline: Outline, context_id: str, target_id: str, session_id: str) -> None:
        devtools = windows.devtools
        self.target_id = target_id
        self.address: str | None = None
        self.strayed = False
        self.guard = Guard(devtools, session_id, outline.origins, outline.allow)
        self._windows = windows
        self._devtools = devtools
        self._outline = outline
        self._context_id = context_id
        self._session_id = session_id
        self._script_id: str | None = None
        self._navigations = 0
        self._complaints = 0

    @classmethod
    async def open(cls, windows: Windows, outline: Outline, on_said: Callable[[str], None]) -> Page:
        """Show an empty page on the whole screen, in a new browser context. ``on_said`` gets what its watcher says.

        Raises:
            DevToolsError: the browser doesn't.
        """
        devtools = windows.devtools
        context = await devtools.call("Target.createBrowserContext", {"disposeOnDetach": True})
        context_id = context["browserContextId"]
        windows.expect(context_id)
        try:
            target = await devtools.call(
                "Target.createTarget",
                {
                    "url": "about:blank",
                    "browserContextId": context_id,
                    "newWindow": True,
                    "windowState": "fullscreen",
                    "left": 0,
                    "top": 0,
                    "width": outline.width + _OVERLAP,
                    "height": outline.height + _OVERLAP,
                },
            )
            target_id = target["targetId"]
            attached = await devtools.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})
            page = cls(windows, outline, context_id, target_id, attached["sessionId"])
            await page._prepare(on_said)
        except BaseException:
            windows.dispose(context_id)
            raise
        return page

    def close(self) -> None:
        """Away with it and all that it stored, whether it answers or not."""
        self._devtools.forget(self._session_id)
        self._windows.dispose(self._context_id)

    async def navigate(self, address: str, episode: Mapping[str, Any]) -> None:
        """Go to ``address``, where ``episode`` begins once the document is there.

        Raises:
            DevToolsError: the browser doesn't.
            PageError: there is nothing at that address.
        """
        if self.address is not None:
            await self._evaluate(self._outline.watcher.leave, BEGIN_TIMEOUT_S)
            await self._go("about:blank")
            await self._sweep()
        await self._watch_from_the_start(episode)
        self.address = address
        self.strayed = False
        # What a tab remembers of an origin can only be swept from within.
        forget = await self._call("Page.addScriptToEvaluateOnNewDocument", {"source": FORGET})
        try:
            await self._go(address)
        finally:
            await self._call("Page.removeScriptToEvaluateOnNewDocument", forget)

    async def begin(self, episode: Mapping[str, Any]) -> None:
        """Begin an episode in the page as it is, with nothing stored.

        Raises:
            DevToolsError: the browser doesn't.
        """
        await self._sweep()
        for origin in self._outline.origins:
            session_storage = {"securityOrigin": origin, "storageKey": f"{origin}/", "isLocalStorage": False}
            await self._call("DOMStorage.clear", {"storageId": session_storage})
        await self._watch_from_the_start(episode)
        await self._evaluate(self._outline.watcher.begin(episode), BEGIN_TIMEOUT_S)

    async def check(self, timeout_s: float) -> None:
        """Return once the page answers.

        Raises:
            DevToolsError: it didn't in time, or is gone.
        """
        await self._evaluate(self._outline.watcher.check, timeout_s)

    async def require_javascript(self) -> None:
        """Make sure that the manifest's expressions can be compiled.

        Raises:
            DevToolsError: the browser doesn't answer.
            StartError: one is no JavaScript; names its key.
        """
        for key, function in self._outline.watcher.functions.items():
            script = {"expression": function, "sourceURL": key, "persistScript": False}
            if details := (await self._call("Runtime.compileScript", script)).get("exceptionDetails"):
                raise StartError(f"{key} is no JavaScript expression: {_description(details)}")

    # ── how it is set up ────────────────────────────────────────────────────────────────────────────────────────────

    async def _prepare(self, on_said: Callable[[str], None]) -> None:
        outline = self._outline
        binding = outline.watcher.binding

        def called(call: Parameters) -> None:
            if call["name"] == binding:
                on_said(call["payload"])

        listeners: dict[str, Listener] = {
            "Runtime.bindingCalled": called,
            "Runtime.exceptionThrown": self._threw,
            "Runtime.consoleAPICalled": self._complained,
            "Page.frameNavigated": self._navigated,
        }
        self._devtools.listen(self._session_id, listeners)
        for domain in ("Page", "Runtime", "DOMStorage"):
            await self._call(f"{domain}.enable")
        await self._call("Runtime.addBinding", {"name": binding})
        await self.guard.start(self.target_id)
        # Whatever size its window has come to, the page has the screen's, to the pixel, from its first document on.
        width, height = outline.width // outline.zoom, outline.height // outline.zoom
        size = {"width": width, "height": height, "deviceScaleFactor": outline.zoom, "mobile": False}
        await self._call("Emulation.setDeviceMetricsOverride", size)
        context = {"browserContextId": self._context_id}
        downloads = {"behavior": "default" if "downloads" in outline.allow else "deny"}
        await self._devtools.call("Browser.setDownloadBehavior", {**downloads, **context})
        # None is granted, which denies all without asking.
        await self._devtools.call("Browser.grantPermissions", {"permissions": [], **context})

    async def _sweep(self) -> None:
        """Take away what pages of the runtime's origins have stored for all tabs: cookies, storage, caches, workers."""
        await self._call("Network.clearBrowserCookies")
        for origin in self._outline.origins:
            await self._call("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})

    async def _watch_from_the_start(self, episode: Mapping[str, Any]) -> None:
        """Tell each document from now on of ``episode``, before its own scripts run."""
        if self._script_id is not None:
            await self._call("Page.removeScriptToEvaluateOnNewDocument", {"identifier": self._script_id})
        source = self._outline.watcher.script(episode)
        if self._outline.script is not None:
            source += "\n" + self._outline.script
        added = await self._call("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        self._script_id = added["identifier"]

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

    # ── what is heard of it ─────────────────────────────────────────────────────────────────────────────────────────

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
