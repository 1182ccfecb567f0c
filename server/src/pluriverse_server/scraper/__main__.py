"""``python -m pluriverse_server.scraper DIRECTORY --folder FOLDER``; see the package."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pluriverse_protocol import metadata
from pluriverse_protocol.errors import MalformedReport
from pluriverse_protocol.reports import Joystick, ReadTree, Reset, ShowWorld, Stop, Submit, TreeRead, Watched, Worlds
from Xlib.error import XauthError

from pluriverse_server import event_loop
from pluriverse_server.display import AsyncInitialState, DisplayLost
from pluriverse_server.manifest.runtime import EnvTable, Manifest, ManifestError, load
from pluriverse_server.process import StartError
from pluriverse_server.programs.catalogue import load_catalogue
from pluriverse_server.programs.pages import page_files
from pluriverse_server.sound import FILE as SOUND_FILE
from pluriverse_server.sound import SoundFile
from pluriverse_server.sources.trees import NoTree
from pluriverse_server.tasks import TaskFailed, first_failure, start_task

from .daemon_connection import SOCKET_VARIABLE, DaemonConnection
from .player import Broken, Player
from .tree import adopt_orphans, die_with, kill_below, shut_out

_SCREEN: Final = ("DISPLAY", "XAUTHORITY")

# The keepers have ended by now; this is for processes that escaped theirs.
KILL_S: Final = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m pluriverse_server.scraper", description=__doc__)
    parser.add_argument("directory", type=Path, help="the runtime's folder")
    parser.add_argument(
        "--folder", type=Path, required=True, help="a private folder for temporary files, which is removed"
    )
    parser.add_argument("--zoom", type=int, help="how many times as large a page is shown")
    parser.add_argument("--draft", action="store_true", help="leave out sources whose pictures don't exist yet")
    options = parser.parse_args()
    parent = os.getppid()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for name in (*_SCREEN, SOCKET_VARIABLE):
        if name not in os.environ:
            sys.exit(f"{name} isn't set; scrapers are started by the daemon: pluriverse-server run RUNTIME")
    adopt_orphans()
    problem = event_loop.run(run(options, options.folder, parent))
    if problem is not None:
        print(problem, file=sys.stderr, flush=True)
    # Don't wait for threads that hang in a read.
    os._exit(0 if problem is None else 1)


async def run(options: argparse.Namespace, folder: Path, parent: int) -> str | None:
    stopped = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signum, stopped.set)
    # SIGTERM instead of the SIGKILL that the daemon's children get: there is something to clean up.
    die_with(parent)
    try:
        return await _serve(options, folder, stopped)
    except (Broken, DisplayLost, MalformedReport, ManifestError, StartError, TaskFailed, XauthError, OSError) as error:
        return str(error)
    finally:
        await asyncio.to_thread(kill_below, os.getpid(), KILL_S)
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _serve(options: argparse.Namespace, folder: Path, stopped: asyncio.Event) -> None:
    failure = first_failure()
    directory = options.directory.absolute()
    manifest = load(directory)
    if options.zoom is not None:
        manifest = manifest.zoomed(options.zoom)
    catalogue = await load_catalogue(directory, manifest)
    daemon = await DaemonConnection.open()
    player = await _player(options, manifest, catalogue, folder, daemon)
    try:
        await converse(daemon, player, stopped, failure)
    finally:
        # The connection stays open until the process ends: the daemon takes a scraper that hangs up for dead.
        await player.close()


async def _player(
    options: argparse.Namespace,
    manifest: Manifest,
    catalogue: Mapping[str, EnvTable],
    folder: Path,
    daemon: DaemonConnection,
) -> Player:
    """Return what plays pages or programs; neither has to wait for what the other imports."""
    directory = options.directory.absolute()
    screen = {name: os.environ[name] for name in _SCREEN}
    if manifest.page is not None:
        from .page_session import PageSession, WholeStage
        from .page_slots import PageSlots

        shut_out()
        state = await AsyncInitialState.open(screen["DISPLAY"], Path(screen["XAUTHORITY"]))
        table = manifest.page
        files = page_files(directory, table, table.files) if table.files is not None else None
        slots = None if files is None else PageSlots(directory, manifest, catalogue, files, folder, daemon.send)
        stage = WholeStage(manifest, files, screen, state, folder, slots)
        session = PageSession(directory, manifest, catalogue, stage, folder, daemon)
        await session.start()
        return session
    from .cookies import Cookies
    from .mirror import Screens
    from .play import SharedDesktop
    from .session import Session

    size, place = manifest.runtime.screen, manifest.runtime.block
    block = (place.x, place.y, metadata.WIDTH, metadata.HEIGHT) if place.painted_by == "overlay" else None
    cookies, locale = Cookies(folder / "Xauthority"), manifest.runtime.locale
    loop = asyncio.get_running_loop()

    def report(worlds: Worlds) -> None:
        # Threads of other worlds do, too; the loop may have ended by then.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(daemon.send, worlds)

    sound = SoundFile.make(Path(screen["XAUTHORITY"]).with_name(SOUND_FILE))
    screens = Screens(screen["DISPLAY"], cookies.path, report)
    desktop = SharedDesktop(screen, (size.width, size.height), folder, cookies, block, locale, screens, sound)
    desktop.cookies.add(screen)
    return Session(directory, manifest, catalogue, desktop, daemon, draft=options.draft)


async def converse(
    daemon: DaemonConnection, player: Player, stopped: asyncio.Event, failure: asyncio.Future[TaskFailed]
) -> None:
    """Play the last requested episode until the daemon stops or hangs up."""
    stopping = asyncio.create_task(stopped.wait(), name="stop")
    asking = asyncio.create_task(daemon.request(), name="requests")
    episode: asyncio.Task[None] | None = None
    try:
        while not stopping.done():
            waiting: set[asyncio.Future[Any]] = {stopping, asking, failure}
            if episode is not None:
                waiting.add(episode)
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if episode is not None and episode.done():
                episode.result()
                episode = None
            if failure.done():
                raise failure.result()
            if asking.done():
                request = asking.result()
                if request is None or isinstance(request, Stop):
                    return
                if isinstance(request, Reset):
                    await _cancel(episode)
                    episode = asyncio.create_task(player.episode(request), name="episode")
                elif isinstance(request, ReadTree):
                    start_task(_tell_tree(daemon, player, request), "tree")
                elif isinstance(request, ShowWorld):
                    player.show(request.world)
                elif isinstance(request, Watched):
                    player.watch(request.watched)
                elif isinstance(request, Joystick):
                    player.tilt(request)
                elif isinstance(request, Submit):
                    player.submit(request)
                asking = asyncio.create_task(daemon.request(), name="requests")
    finally:
        for task in (stopping, asking, episode):
            await _cancel(task)


async def _tell_tree(daemon: DaemonConnection, player: Player, asked: ReadTree) -> None:
    try:
        tree = await player.tree(asked.picture)
        read = TreeRead(0, asked.number, tree.nodes, tree.left_out)
    except NoTree as error:
        read = TreeRead(0, asked.number, error=str(error))
    daemon.send(read)


async def _cancel(task: asyncio.Task[Any] | None) -> None:
    if task is not None:
        task.cancel()
        await asyncio.wait({task})


if __name__ == "__main__":
    main()
