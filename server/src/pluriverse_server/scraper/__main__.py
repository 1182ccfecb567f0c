"""``python -m pluriverse_server.scraper DIRECTORY --folder FOLDER``; see the package."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from pluriverse_protocol.errors import MalformedReport
from pluriverse_protocol.reports import Reset, Stop
from Xlib.error import XauthError

from pluriverse_server.manifest.runtime import ManifestError, load
from pluriverse_server.programs.catalogue import load_catalogue

from .cookies import Cookies
from .link import SOCKET_VARIABLE, Link
from .play import Broken
from .session import Session
from .stage import Stage
from .tree import adopt_orphans, die_with, kill_below

_SCREEN: Final = ("DISPLAY", "XAUTHORITY")

# The keepers have ended by now; what is left has got rid of its own.
KILL_S: Final = 2.0


def main() -> None:
    """Run until the daemon says stop, hangs up or is gone, or no episode can be begun."""
    parser = argparse.ArgumentParser(prog="python -m pluriverse_server.scraper", description=__doc__)
    parser.add_argument("directory", type=Path, help="the runtime's folder")
    parser.add_argument("--folder", type=Path, required=True, help="a private folder; what is made in it is removed")
    parser.add_argument("--draft", action="store_true", help="leave out sources whose pictures aren't there yet")
    options = parser.parse_args()
    parent = os.getppid()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for name in (*_SCREEN, SOCKET_VARIABLE):
        if name not in os.environ:
            sys.exit(f"{name} isn't set; scrapers are started by the daemon: pluriverse-server run RUNTIME")
    adopt_orphans()
    # Names are short, since programs make sockets below, whose paths are at most 107 bytes long.
    folder = Path(tempfile.mkdtemp(prefix="", dir=options.folder))
    problem = asyncio.run(run(options.directory.absolute(), folder, parent, draft=options.draft))
    if problem is not None:
        print(problem, file=sys.stderr, flush=True)
    # A thread that hangs in what it reads is not waited for.
    os._exit(0 if problem is None else 1)


async def run(directory: Path, folder: Path, parent: int, *, draft: bool = False) -> str | None:
    """Serve one daemon; returns why that could not go on, or None at a good end. Nothing is left of it."""
    stopped = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signum, stopped.set)
    # Instead of the SIGKILL that all of the daemon's children get: there is something to clear up.
    die_with(parent)
    try:
        return await _serve(directory, folder, stopped, draft=draft)
    except (Broken, MalformedReport, ManifestError, XauthError, OSError) as error:
        return str(error)
    finally:
        await asyncio.to_thread(kill_below, os.getpid(), KILL_S)
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _serve(directory: Path, folder: Path, stopped: asyncio.Event, *, draft: bool) -> None:
    manifest = load(directory)
    catalogue = await load_catalogue(directory, manifest)
    size = manifest.runtime.screen
    screen = {name: os.environ[name] for name in _SCREEN}
    stage = Stage(screen, (size.width, size.height), folder, Cookies(folder / "Xauthority"))
    stage.cookies.add(screen)
    link = await Link.open()
    session = Session(directory, manifest, catalogue, stage, link, draft=draft)
    try:
        await converse(link, session, stopped)
    finally:
        # The link is left open till the process ends: the daemon takes one that hangs up for dead.
        await session.close()


async def converse(link: Link, session: Session, stopped: asyncio.Event) -> None:
    """Play the episode that was asked for last, until there is no more to do.

    Raises:
        Broken: an episode can't be begun.
        MalformedReport: the daemon said what is no request.
    """
    stopping = asyncio.create_task(stopped.wait(), name="stop")
    asking = asyncio.create_task(link.request(), name="requests")
    episode: asyncio.Task[None] | None = None
    try:
        while not stopping.done():
            waiting: set[asyncio.Task[Any]] = {stopping, asking}
            if episode is not None:
                waiting.add(episode)
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if episode is not None and episode.done():
                episode.result()
                episode = None
            if asking.done():
                request = asking.result()
                if request is None or isinstance(request, Stop):
                    return
                if isinstance(request, Reset):
                    await _cancel(episode)
                    episode = asyncio.create_task(session.episode(request), name="episode")
                asking = asyncio.create_task(link.request(), name="requests")
    finally:
        for task in (stopping, asking, episode):
            await _cancel(task)


async def _cancel(task: asyncio.Task[Any] | None) -> None:
    if task is not None:
        task.cancel()
        await asyncio.wait({task})


if __name__ == "__main__":
    main()
