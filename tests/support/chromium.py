"""A Chromium for tests, headless or on a screen: started with a fresh profile, driven over its DevTools WebSocket."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self, cast

import websockets
from pluriverse_server.process import ChildProcess
from websockets.asyncio.client import ClientConnection

BINARY: Final = "/usr/bin/chromium"
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# On two busy cores Chromium has taken over five seconds; a hang should still be told from that.
START_TIMEOUT_S: Final = 60.0
CALL_TIMEOUT_S: Final = 60.0
# A browser that starts on a busy machine may take ten seconds over its first page.
PATIENCE_S: Final = 60.0
# Conditions come true between two looks of this length apart; it costs Chromium a millisecond each.
POLL_S: Final = 0.02

JSON = Any


class ChromiumError(Exception):
    """Chromium did not start, a script in its page failed, or a condition did not come true in time."""


class Chromium:
    """One browser with one page. ``errors`` collects what its console reported as an error or a warning."""

    def __init__(self, process: ChildProcess, connection: ClientConnection) -> None:
        self.errors: list[str] = []
        self._process = process
        self._connection = connection
        self._session = ""
        self._ids = itertools.count(1)
        self._calls: dict[int, asyncio.Future[dict[str, JSON]]] = {}
        self._reader = asyncio.create_task(self._read(), name="chromium: events")

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
        command = [
            BINARY,
            place,
            *FLAGS,
            *flags,
            f"--user-data-dir={profile}",
            "--remote-debugging-port=0",
            "about:blank",
        ]
        # Its own home: the machine's must neither change the test nor be changed by it.
        environment = {**os.environ, **(screen or {}), "HOME": str(profile)}
        process = await ChildProcess.start("chromium", command, env=environment, network=True)
        try:
            address = await _devtools_address(process, profile / "DevToolsActivePort")
            # It may be alive and too busy to answer a ping in time.
            connection = await websockets.connect(address, max_size=None, compression=None, ping_interval=None)
            browser = cls(process, connection)
        except BaseException:
            await process.stop()
            raise
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
        await self.call("Page.navigate", url=url)
        await self.wait_until("document.readyState === 'complete'", timeout_s=CALL_TIMEOUT_S)
        # Loading ends where a container comes or goes meanwhile, with its part of the machine's network.
        disturbed = [error for error in self.errors if "ERR_NETWORK_CHANGED" in error]
        if disturbed:
            self.errors[:] = [error for error in self.errors if error not in disturbed]
            await self.open(url)

    async def evaluate(self, script: str) -> JSON:
        """The value of a JavaScript expression in the page, awaited if it is a promise."""
        done = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            details = done["exceptionDetails"]
            raise ChromiumError(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
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
                raise ChromiumError(f"not true within {timeout_s} s: {script} (last {value!r}); the page says:\n{text}")
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
        number = next(self._ids)
        future: asyncio.Future[dict[str, JSON]] = asyncio.get_running_loop().create_future()
        self._calls[number] = future
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            await self._connection.send(json.dumps(message))
            async with asyncio.timeout(CALL_TIMEOUT_S):
                answer = await future
        except (TimeoutError, websockets.ConnectionClosed) as error:
            raise ChromiumError(f"no answer to {method}: {error!r}\n{self._process.output_tail}") from error
        finally:
            del self._calls[number]
        if "error" in answer:
            raise ChromiumError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    async def close(self) -> None:
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self._connection.close()
        await self._process.stop()

    async def _open_page(self, width: int, height: int) -> None:
        targets = await self.call("Target.getTargets")
        page = next(target for target in targets["targetInfos"] if target["type"] == "page")
        attached = await self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            await self.call(f"{domain}.enable")
        scheme = [{"name": "prefers-color-scheme", "value": "light"}]
        await self.call("Emulation.setEmulatedMedia", features=scheme)
        await self.resize(width, height)

    async def _read(self) -> None:
        async for text in self._connection:
            message = cast("dict[str, JSON]", json.loads(text))
            future = self._calls.get(message.get("id", 0))
            if future is not None and not future.done():
                future.set_result(message)
            elif "method" in message:
                self._note(message["method"], message["params"])

    def _note(self, event: str, parameters: dict[str, JSON]) -> None:
        match event:
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                arguments = parameters["args"]
                self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in arguments))
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                self.errors.append(str(details.get("exception", {}).get("description", details["text"])))
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                entry = parameters["entry"]
                self.errors.append(f"{entry['text']} ({entry.get('url', '')})")
            case _:
                pass


async def _devtools_address(process: ChildProcess, port_file: Path) -> str:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and process.returncode is None:
        if (address := _read_address(port_file)) is not None:
            return address
        await asyncio.sleep(POLL_S)
    raise ChromiumError(f"chromium opened no DevTools port ({process.describe_end()}):\n{process.output_tail}")


def _read_address(port_file: Path) -> str | None:
    lines = port_file.read_text().splitlines() if port_file.is_file() else []
    return f"ws://127.0.0.1:{lines[0]}{lines[1]}" if len(lines) == 2 else None
