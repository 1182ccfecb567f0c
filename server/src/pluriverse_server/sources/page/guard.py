"""Keeps pages from leaving their origins, opening windows and dialogs, and choosing files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Any, Final

from pluriverse_server.manifest.page import Permission, origin_of

from .devtools import DevTools, Parameters

log = logging.getLogger(__name__)

# Documents that the page itself makes; they have its origin or none.
_INNER_SCHEMES: Final = ("about", "blob", "data")

# A page that tries to leave at each frame must not fill the disk with log lines.
MAX_LOGGED_COMPLAINTS: Final = 20

# The browser's names for how a renderer ended.
_CRASHES = {"oom": "ran out of memory", "killed": "was killed"}


def may_navigate(url: str, origins: Collection[str], *, top: bool) -> bool:
    """Return whether a document of ``url`` may be shown: in the page itself if ``top``, else in a frame of it."""
    scheme = url.partition(":")[0].lower()
    if scheme == "blob":
        return origin_of(url.partition(":")[2]) in origins
    if scheme in _INNER_SCHEMES:
        return not top or url == "about:blank"
    return origin_of(url) in origins


class Guard:
    def __init__(
        self,
        devtools: DevTools,
        target_id: str,
        session_id: str,
        origins: Collection[str],
        allow: Collection[Permission],
    ) -> None:
        self.dialog_open = False
        self._devtools = devtools
        self._target_id = target_id
        self._session_id = session_id
        self._origins = origins
        self._allow = allow
        self._refused = 0

    async def start(self) -> None:
        self._devtools.listen(
            self._session_id,
            {
                "Fetch.requestPaused": self._document_asked_for,
                "Page.javascriptDialogOpening": self._dialog_opened,
                "Page.javascriptDialogClosed": self._dialog_closed,
            },
        )
        # Only documents: nothing else is slowed down.
        await self._call("Fetch.enable", {"patterns": [{"urlPattern": "*", "resourceType": "Document"}]})
        await self._call("Page.setInterceptFileChooserDialog", {"enabled": True, "cancel": True})

    async def _call(self, method: str, parameters: dict[str, Any]) -> None:
        await self._devtools.call(method, parameters, self._session_id)

    def _document_asked_for(self, asked: Parameters) -> None:
        url = asked["request"]["url"]
        request = {"requestId": asked["requestId"]}
        if may_navigate(url, self._origins, top=asked["frameId"] == self._target_id):
            self._devtools.post("Fetch.continueRequest", request, self._session_id)
            return
        self._refused += 1
        if self._refused <= MAX_LOGGED_COMPLAINTS:
            log.info("the page may not go to %.200s: page.origins doesn't name its origin", url)
        # With this reason the page stays as it is; for any other the browser shows a page of its own.
        self._devtools.post("Fetch.failRequest", {**request, "errorReason": "Aborted"}, self._session_id)

    def _dialog_opened(self, dialog: Parameters) -> None:
        if "dialogs" in self._allow:
            self.dialog_open = True
            return
        # Let the page be left; answer every other question with no.
        accept = dialog["type"] == "beforeunload"
        self._devtools.post("Page.handleJavaScriptDialog", {"accept": accept}, self._session_id)

    def _dialog_closed(self, _: Parameters) -> None:
        self.dialog_open = False


class Windows:
    def __init__(self, devtools: DevTools, *, popups: bool, on_gone: Callable[[str, str], None]) -> None:
        """``on_gone`` gets the id of a target that crashed or was closed, and the reason."""
        self.devtools = devtools
        self._popups = popups
        self._on_gone = on_gone
        self._pages: dict[str, str | None] = {}  # ours, by context; None: still to come
        self._strays: dict[str, str] = {}  # those being closed, and the page that each covers

    async def start(self) -> None:
        """Start to close other windows; raise DevToolsError if the browser is gone."""
        listeners = {
            "Target.targetCreated": self._created,
            "Target.targetCrashed": self._crashed,
            "Target.targetDestroyed": self._destroyed,
        }
        self.devtools.listen("", listeners)
        pages = [{"type": "page"}, {"type": "tab", "exclude": True}, {"exclude": True}]
        await self.devtools.call("Target.setDiscoverTargets", {"discover": True, "filter": pages})

    def expect(self, context_id: str) -> None:
        """Take the next window in this context for our page."""
        self._pages[context_id] = None

    def dispose(self, context_id: str) -> None:
        """Remove a context with its windows and all that they stored."""
        self._pages.pop(context_id, None)
        self.devtools.post("Target.disposeBrowserContext", {"browserContextId": context_id})

    def _created(self, event: Parameters) -> None:
        info = event["targetInfo"]
        context_id, target_id = info.get("browserContextId", ""), info["targetId"]
        ours = self._pages.get(context_id, "")
        if ours is None:
            self._pages[context_id] = target_id
        elif not self._popups:
            self._strays[target_id] = ours
            self.devtools.post("Target.closeTarget", {"targetId": target_id})

    def _crashed(self, event: Parameters) -> None:
        status = event["status"]
        self._on_gone(event["targetId"], f"the page's process {_CRASHES.get(status, status)}")

    def _destroyed(self, event: Parameters) -> None:
        target_id = event["targetId"]
        if (ours := self._strays.pop(target_id, None)) is not None:
            # Without a window manager nothing else gives the keyboard back.
            self.devtools.post("Target.activateTarget", {"targetId": ours})
        self._on_gone(target_id, "the page closed its window")
