"""What a page may not do: leave its origins, open windows, ask the person at the screen, write files."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any, Final

from pluriverse_server.manifest.page import Permission, origin_of

from .devtools import DevTools, Parameters

log = logging.getLogger(__name__)

# Documents of the page's own making, which have its origin or none.
_INNER_SCHEMES: Final = ("about", "blob", "data")

# A page that tries to leave at each frame shouldn't fill the disk with our complaints.
MAX_LOGGED_COMPLAINTS: Final = 20


def may_navigate(url: str, origins: Collection[str], *, top: bool) -> bool:
    """Whether a document of ``url`` may be shown; ``top`` in the page itself, else in a frame of it."""
    scheme = url.partition(":")[0].lower()
    if scheme == "blob":
        return origin_of(url.partition(":")[2]) in origins
    if scheme in _INNER_SCHEMES:
        return not top or url == "about:blank"
    return origin_of(url) in origins


class Guard:
    """Guards one page. ``dialog_open`` while a dialog that is allowed waits for an answer."""

    def __init__(
        self, devtools: DevTools, session_id: str, origins: Collection[str], allow: Collection[Permission]
    ) -> None:
        self.dialog_open = False
        self._devtools = devtools
        self._session_id = session_id
        self._origins = origins
        self._allow = allow
        self._complaints = 0

    async def start(self, target_id: str) -> None:
        """From now on nothing passes.

        Raises:
            DevToolsError: the page is gone.
        """
        self._target_id = target_id
        self._devtools.listen(
            self._session_id,
            {
                "Fetch.requestPaused": self._document_asked_for,
                "Page.javascriptDialogOpening": self._dialog_opened,
                "Page.javascriptDialogClosed": self._dialog_closed,
            },
        )
        # Documents alone: nothing else is slowed down.
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
        self._complain(f"the page may not go to {url:.200}: page.origins doesn't name its origin")
        # Blocked by the client, the page stays as it is; of any other failure the browser makes a page of its own.
        self._devtools.post("Fetch.failRequest", {**request, "errorReason": "Aborted"}, self._session_id)

    def _dialog_opened(self, dialog: Parameters) -> None:
        if "dialogs" in self._allow:
            self.dialog_open = True
            return
        # Whoever wants to leave the page may; every other question is answered with no.
        accept = dialog["type"] == "beforeunload"
        self._devtools.post("Page.handleJavaScriptDialog", {"accept": accept}, self._session_id)

    def _dialog_closed(self, _: Parameters) -> None:
        self.dialog_open = False

    def _complain(self, what: str) -> None:
        self._complaints += 1
        if self._complaints <= MAX_LOGGED_COMPLAINTS:
            log.info("%s", what)
