"""Starts the overlay process, which paints the metadata block and guards keys above the program."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from pluriverse_server.manifest.key_combinations import parse_combination
from pluriverse_server.manifest.runtime import Manifest
from pluriverse_server.process import ChildProcess, Pipe, StartError

OVERLAY: Final = "overlay"

# In place within 0.2 s on an idle machine; one that starts a whole fleet at once takes seconds.
START_DEADLINE_S: Final = 15.0


def overlay_arguments(manifest: Manifest) -> list[str]:
    """Return the overlay's command line for a runtime; empty if it needs no overlay."""
    arguments: list[str] = []
    runtime, page = manifest.runtime, manifest.page
    if runtime.block.painted_by == "overlay":
        arguments += ["--block", str(runtime.block.x), str(runtime.block.y), "--fps", f"{runtime.fps:g}"]
        if (qr := runtime.block.qr) is not None:
            arguments += ["--qr", str(qr.x), str(qr.y)]
    if page is not None:
        arguments.append("--filter-keys")
        for text in page.keys:
            keysym, modifiers = parse_combination(text)
            arguments += ["--allow", f"{keysym:#x}:{modifiers}"]
        if "menus" in page.allow:
            arguments.append("--middle-button")
    return arguments


async def start_overlay(
    arguments: Sequence[str], environment: Mapping[str, str], *, stdin: int = asyncio.subprocess.DEVNULL
) -> ChildProcess:
    """Start the overlay on the screen that ``environment`` names; return once it is in place.

    ``stdin``: a pipe with frames per second, one line each.
    """
    pipe = await Pipe.open()
    ready_fd = pipe.write_end
    command = [sys.executable, "-m", "pluriverse_server.overlay", *arguments, "--ready-fd", str(ready_fd)]
    try:
        try:
            child = await ChildProcess.start(OVERLAY, command, env=environment, stdin=stdin, pass_fds=[ready_fd])
        finally:
            pipe.close_write_end()
        try:
            await _wait_until_ready(child, pipe.stream)
        except BaseException:
            await child.stop()
            raise
    finally:
        pipe.close()
    return child


async def _wait_until_ready(child: ChildProcess, ready: asyncio.StreamReader) -> None:
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            line = await ready.readline()
    except TimeoutError:
        raise StartError(f"the overlay was not ready after {START_DEADLINE_S:.0f} s") from None
    if not line:
        await child.wait()
        raise StartError(f"the overlay ended at once, {child.describe_end()}:\n{child.output_tail}")
