"""A Chromium for tests, headless or on a screen: started with a fresh profile, driven over DevTools."""

import asyncio
import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from pluriverse_server.process import ChildProcess
from pluriverse_server.scraper.browser import WITH_PIPE
from pluriverse_server.sources.page.devtools import DevTools, DevToolsError

BINARY: Final = "/usr/bin/chromium"
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)

# On two busy cores Chromium has taken over five seconds; a hang should still be told from that.
CALL_TIMEOUT_S: Final = 60.0
# A browser that starts on a busy machine may take ten seconds over its first page.
PATIENCE_S: Final = 60.0
# Conditions come true between two looks of this length apart; it costs Chromium a millisecond each.
POLL_S: Final = 0.02

# The viewer's page loads most of its scripts once it is complete, and says so if it can't.
OPENING: Final = "document.querySelector('#opening p')?.textContent"
LOADED: Final = f"document.readyState === 'complete' && !/^(Loading|Connecting to (?!the))/.test({OPENING})"

JSON = Any


class Chromium:
    """One browser with one page. ``errors`` collects what its console reported as an error or a warning."""

    def __init__(self, process: ChildProcess, devtools: DevTools) -> None:
        self.errors: list[str] = []
        self._process = process
        self._devtools = devtools
        self._session = ""

    @classmethod
    async def start(
        cls,
        profile: Path,
        *,
        width: int = 1280,
        height: int = 800,
        screen: Mapping[str, str] | None = None,
        flags: Sequence[str] = (),
    ) -> Self:
        """Start with the empty folder ``profile``; the page is ``width`` x ``height`` CSS pixels.

        ``screen``: the environment of a screen (DISPLAY, XAUTHORITY) that it is to cover; headless without.
        """
        place = "--headless=new" if screen is None else "--kiosk"
        command = [*WITH_PIPE, BINARY, place, *FLAGS, *flags, f"--user-data-dir={profile}", "about:blank"]
        # Its own home: the machine's must neither change the test nor be changed by it.
        environment = {**os.environ, **(screen or {}), "HOME": str(profile)}
        ours, its = socket.socketpair()
        with its:
            process = await ChildProcess.start(
                "chromium", command, env=environment, network=True, stdin=its.fileno(), stdout=its.fileno()
            )
        browser = cls(process, await DevTools.connect(ours))
        try:
            await browser._open_page(width, height)
        except BaseException:
            await browser.close()
            raise
        return browser

    async def resize(self, width: int = 1280, height: int = 800) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await self.call("Emulation.setDeviceMetricsOverride", **metrics)

    async def open(self, url: str) -> None:
        """Go to ``url``; returns once the page and its scripts are loaded."""
        known = len(self.errors)
        await self.call("Page.navigate", url=url)
        await self.wait_until(LOADED, timeout_s=CALL_TIMEOUT_S)
        # Loading ends where a container comes or goes meanwhile, with its part of the machine's network.
        if any("ERR_NETWORK_CHANGED" in error for error in self.errors[known:]):
            del self.errors[known:]
            await self.open(url)

    async def evaluate(self, script: str) -> JSON:
        """The value of a JavaScript expression in the page, awaited if it is a promise."""
        done = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            details = done["exceptionDetails"]
            raise DevToolsError(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
        return done["result"].get("value")

    async def wait_until(self, script: str, timeout_s: float = PATIENCE_S) -> JSON:
        """The value of a JavaScript expression, once it is true."""
        deadline = time.monotonic() + timeout_s
        while True:
            value = await self.evaluate(script)
            if value:
                return value
            if time.monotonic() > deadline:
                text = await self.evaluate("document.body?.innerText")
                raise DevToolsError(f"not true within {timeout_s} s: {script} (last {value!r}); the page says:\n{text}")
            await asyncio.sleep(POLL_S)

    async def click(self, selector: str, dx: float = 0.0, dy: float = 0.0) -> None:
        """Press and release the left button in the middle of an element, moved by ``dx``, ``dy`` pixels."""
        box = await self.evaluate(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2] })()"
        )
        at = {"x": box[0] + dx, "y": box[1] + dy, "button": "left", "clickCount": 1}
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", type=kind, **at)

    async def press(self, key: str, code: str, windows_code: int) -> None:
        """Press and release a key, as ``press("a", "KeyA", 65)``."""
        text = {"text": key} if len(key) == 1 else {}
        common = {"key": key, "code": code, "windowsVirtualKeyCode": windows_code}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    async def call(self, method: str, **parameters: JSON) -> dict[str, JSON]:
        """One DevTools command to the page, and its result."""
        return await self._devtools.call(method, parameters, self._session, CALL_TIMEOUT_S)

    async def close(self) -> None:
        await self._devtools.close()
        await self._process.stop()

    async def _open_page(self, width: int, height: int) -> None:
        pages: list[JSON] = []
        while not pages:
            targets = await self.call("Target.getTargets")
            pages = [target for target in targets["targetInfos"] if target["type"] == "page"]
        attached = await self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)
        self._session = attached["sessionId"]
        handlers = {
            "Runtime.consoleAPICalled": self._note_console,
            "Runtime.exceptionThrown": self._note_exception,
            "Log.entryAdded": self._note_entry,
        }
        self._devtools.listen(self._session, handlers)
        for domain in ("Page", "Runtime", "Log"):
            await self.call(f"{domain}.enable")
        scheme = [{"name": "prefers-color-scheme", "value": "light"}]
        await self.call("Emulation.setEmulatedMedia", features=scheme)
        await self.resize(width, height)

    def _note_console(self, parameters: Mapping[str, JSON]) -> None:
        if parameters["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in parameters["args"]))

    def _note_exception(self, parameters: Mapping[str, JSON]) -> None:
        details = parameters["exceptionDetails"]
        self.errors.append(str(details.get("exception", {}).get("description", details["text"])))

    def _note_entry(self, parameters: Mapping[str, JSON]) -> None:
        entry = parameters["entry"]
        if entry["level"] in ("error", "warning"):
            self.errors.append(f"{entry['text']} ({entry.get('url', '')})")
