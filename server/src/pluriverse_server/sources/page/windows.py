"""The browser's windows: one page of ours in each context; any other is closed at once."""

from __future__ import annotations

from collections.abc import Callable

from .devtools import DevTools, Parameters

# The browser's names for how a renderer ended.
_CRASHES = {"oom": "ran out of memory", "killed": "was killed"}


class Windows:
    """All windows of one browser."""

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
