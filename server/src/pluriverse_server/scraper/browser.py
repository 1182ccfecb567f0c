"""Chromium with a fresh profile, controlled through DevTools."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import psutil

from pluriverse_server.process import (
    ChildProcess,
    StartError,
    child_user,
    executable,
    share,
    start_error,
)
from pluriverse_server.programs.cpu_wait import cpu_wait_s
from pluriverse_server.programs.pages import BINARY
from pluriverse_server.sources.page.devtools import CallTimedOut, DevTools, DevToolsError

log = logging.getLogger(__name__)

# Half a second on an idle machine.
START_TIMEOUT_S: Final = 30.0

# A browser that ends hangs up first.
END_GRACE_S: Final = 0.5

# Chromium reads DevTools' commands from descriptor 3 and writes to 4, which come here as input and output.
WITH_PIPE: Final = ("sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >&2', "sh")

# With less shared memory than this Chromium crashes on large pages, and must use files instead.
MIN_SHM_BYTES: Final = 256 * 1024 * 1024

FLAGS: Final = (
    # Nothing but the page: no first run, no questions, no calls home.
    "--kiosk",
    "--ozone-platform=x11",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-hang-monitor",
    "--disable-infobars",
    "--disable-printing",
    "--disable-prompt-on-repost",
    "--disable-quic",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--password-store=basic",
    # Pages run at full rate without viewers.
    "--autoplay-policy=no-user-gesture-required",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--mute-audio",
    # Small: one process draws one page, in software.
    "--disable-gpu",
    "--disable-site-isolation-trials",
    "--process-per-site",
    "--js-flags=--max-old-space-size=512",
    "--disable-features=AcceptCHFrame,BackForwardCache,MediaRouter,OptimizationHints,SpareRendererForSitePerProcess,"
    "Translate,WebUIOmniboxAimPopup,WebUIOmniboxPopup",
)

# Settings of a browser's profile, as Chromium writes them.
Preferences = Mapping[str, Any]

# Messages of Chromium where the kernel or the container's engine allows an ordinary user no sandbox.
_NO_SANDBOX: Final = ("No usable sandbox", "Failed to move to new namespace")


class Browser:
    def __init__(self, process: ChildProcess, devtools: DevTools, folder: Path) -> None:
        self.process = process
        self.devtools = devtools
        self._folder = folder

    @classmethod
    async def start(
        cls,
        environment: Mapping[str, str],
        folder: Path,
        flags: Sequence[str],
        network: bool | int = True,
        preferences: Preferences | None = None,
    ) -> Browser:
        """Start a browser on the screen that ``environment`` names. ``folder`` is created, and removed by ``stop``.

        ``network``: as ``ChildProcess.start`` has it.
        """
        program = executable(BINARY, package="chromium")
        sandbox: list[str] = ["--no-sandbox"] if os.geteuid() == 0 and child_user.get() is None else []
        try:
            return await cls._start([program, *FLAGS, *sandbox, *flags], environment, folder, network, preferences)
        except StartError as error:
            if sandbox or not any(words in str(error) for words in _NO_SANDBOX):
                raise
        log.info("the browser runs without its own sandbox: this system doesn't allow it to ordinary users")
        return await cls._start([program, *FLAGS, "--no-sandbox", *flags], environment, folder, network, preferences)

    @classmethod
    async def _start(
        cls,
        command: list[str],
        environment: Mapping[str, str],
        folder: Path,
        network: bool | int,
        preferences: Preferences | None,
    ) -> Browser:
        try:
            await asyncio.to_thread(_renew, folder, preferences)
        except OSError as error:
            raise start_error("the browser", error) from error
        homes = dict.fromkeys(("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(folder))
        options = [f"--user-data-dir={folder}", "--remote-debugging-pipe", *_small_shm()]
        ours, its = socket.socketpair()
        try:
            process = await ChildProcess.start(
                "browser",
                [*WITH_PIPE, *command, *options],
                env={**environment, **homes},
                stdin=its.fileno(),
                stdout=its.fileno(),
                network=network,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            its.close()
        devtools = await DevTools.connect(ours, lambda: cpu_wait_s(process.pid))
        try:
            await _wait_until_ready(process, devtools)
        except BaseException:
            await devtools.close()
            await process.stop()
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            raise
        return cls(process, devtools, folder)

    async def page_bytes(self) -> int:
        """Return the private memory, in bytes, of the largest renderer process."""
        answer = await self.devtools.call("SystemInfo.getProcessInfo")
        renderers = [process["id"] for process in answer["processInfo"] if process["type"] == "renderer"]
        return max(map(private_bytes, renderers), default=0)

    async def stop(self) -> None:
        try:
            await self.devtools.close()
        finally:
            # Killed, since there is nothing to save: its profile is removed, too.
            self.process.kill()
            await self.process.stop()
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)


def _renew(folder: Path, preferences: Preferences | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    share(folder)
    if preferences is not None:
        # The folder above keeps everybody else out.
        profile = folder / "Default"
        profile.mkdir()
        profile.chmod(0o777)
        written = profile / "Preferences"
        written.write_text(json.dumps(preferences), encoding="utf-8")
        written.chmod(0o644)


def private_bytes(pid: int) -> int:
    """Return how much memory a process has for itself, 0 if it is gone."""
    try:
        memory = psutil.Process(pid).memory_info()
    except psutil.NoSuchProcess:
        return 0
    return memory.rss - memory.shared


def _small_shm() -> list[str]:
    try:
        size = shutil.disk_usage("/dev/shm").total  # noqa: S108 - the place where shared memory is
    except OSError:
        size = 0
    return ["--disable-dev-shm-usage"] if size < MIN_SHM_BYTES else []


async def _wait_until_ready(process: ChildProcess, devtools: DevTools) -> None:
    try:
        await devtools.call("Browser.getVersion", timeout_s=START_TIMEOUT_S)
    except CallTimedOut:
        raise StartError(f"the browser has not answered within {START_TIMEOUT_S:g} s") from None
    except DevToolsError as error:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_GRACE_S):
                await process.wait()
        how = error if process.returncode is None else process.describe_end()
        raise StartError(f"the browser did not start: {how}\n{process.output_tail}") from error
