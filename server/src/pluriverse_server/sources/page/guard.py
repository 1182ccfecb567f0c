"""Keeps a page from leaving its origins, opening dialogs, and choosing files."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any, Final

from pluriverse_server.manifest.page import Permission, origin_of

from .devtools import DevTools, Parameters

log = logging.getLogger(__name__)

# Documents that the page itself makes; they have its origin or none.
_INNER_SCHEMES: Final = ("about", "blob", "data")

# A page that tries to leave at each frame must not fill the disk with log lines.
MAX_LOGGED_COMPLAINTS: Final = 20


def may_navigate(url: str, origins: Collection[str], *, top: bool) -> bool:
    """Return whether a document of ``url`` may be shown: in the page itself if ``top``, else in a frame of it."""
    scheme = url.partition(":")[0].lower()
    if scheme == "blob":
        return origin_of(url.partition(":")[2]) in origins
    if scheme in _INNER_SCHEMES:
        return not top or url == "about:blank"
    return origin_of(url) in origins


class Guard:
    """Guards one page. ``dialog_open``: an allowed dialog waits for an answer."""

    def __init__(
        self, devtools: DevTools, session_id: str, origins: Collection[str], allow: Collection[Permission]
    ) -> None:
        self.dialog_open = False
        self._devtools = devtools
        self._session_id = session_id
        self._origins = origins
        self._allow = allow
        self._refused = 0

    async def start(self, target_id: str) -> None:
        """Start to guard the page; raise DevToolsError if it is gone."""
        self._target_id = target_id
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
