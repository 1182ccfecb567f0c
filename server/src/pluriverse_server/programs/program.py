"""The program that draws: started when an episode needs it, monitored, replaced when it is lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import site
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final

from pluriverse_protocol import reports

from pluriverse_server.episode import Begin
from pluriverse_server.home import home_environment, make_folders
from pluriverse_server.lockstep.clock import ASKED_VARIABLE
from pluriverse_server.manifest.draft import DRAFT_VARIABLE, missing_pictures
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.runtime import FILE_NAME, EnvTable, Manifest, ManifestError, fill_command
from pluriverse_server.process import (
    ChildProcess,
    OutOfResources,
    StartError,
    child_user,
    executable,
    share,
    start_error,
)
from pluriverse_server.sources.reports import ReportSocket
from pluriverse_server.sources.trees import Box, NoTree, Tree
from pluriverse_server.tasks import call_later, start_task

from .asked_trees import AskedTrees
from .catalogue import python_command
from .cpu_wait import Patience
from .pages import require_page
from .scraped import patience_s, scraper_command
from .step_channel_socket import StepChannelSocket

log = logging.getLogger(__name__)

SOCKET_NAME: Final = "program.sock"
STEP_CHANNEL_NAME: Final = "step_channel.sock"
PROGRAM_FOLDER: Final = "program"
HOME: Final = "home"

# A program that exits may close its socket first; the exit status is more informative.
HANG_UP_GRACE_S: Final = 0.25

# The exit status of a scraper that can't go on; the last line of its output is the reason.
FAILED: Final = 1

# How long to wait before a program is started again that could not be started, or was lost soon after another.
RETRY_S: Final = 0.5

# A cooperating program ends within a frame or two of being asked; then no signal is needed.
STOP_S: Final = 0.2

# What of this process' environment is for the program's too.
PASSED_ON: Final = (ASKED_VARIABLE,)

# How many of a dead program's last lines are logged.
LOGGED_OUTPUT_LINES: Final = 8


async def nothing() -> None:
    """Do nothing."""


class Program:
    """A runtime's program on one screen. ``begin`` asks it for an episode; reports are passed to ``on_report``.

    Programs that report nothing, and pages, run under a scraper, which reports for them.
    """

    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        catalogue: Mapping[str, EnvTable],
        runtime_dir: Path,
        on_report: Callable[[reports.Report], None],
        on_lost: Callable[[reports.Lost], None],
        clear_screen: Callable[[], Awaitable[None]] = nothing,
    ) -> None:
        """``clear_screen`` is called before each start of the program."""
        self._directory = directory
        self._runtime_dir = runtime_dir
        self._manifest = manifest
        self._goes_on = manifest.has_scraper or manifest.reset.by == "report"
        self._catalogue = catalogue
        self._on_report = on_report
        self._on_lost = on_lost
        self._environment: Mapping[str, str] | None = None
        self._socket = ReportSocket(runtime_dir / SOCKET_NAME, self._connected, self._reported, self._hung_up)
        self.step_channels = StepChannelSocket(runtime_dir / STEP_CHANNEL_NAME)
        self._trees = AskedTrees(self._socket.send)
        self._process: ChildProcess | None = None
        self._wanted: Begin | None = None
        self._asked: Begin | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._until_frame: Patience | None = None
        self._lost_at = self._not_before = -RETRY_S
        self._work = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._finishing: set[asyncio.Task[None]] = set()
        self.takes_joystick = False
        self._clear_screen = clear_screen
        self._malformed_messages = 0

    def require(self, entry: EnvTable) -> None:
        if self._manifest.page is not None:
            require_page(self._directory, self._manifest.page, entry, self._manifest.runtime.fps)
            return
        program = self._game(entry.id).program
        assert program is not None
        home = str(self._runtime_dir) if self._manifest.plays_scraped else None
        command = fill_command(program.command, entry, seed=0, fps=self._manifest.runtime.fps, home=home)
        executable(python_command(command)[0], path=program.env.get("PATH"), cwd=self._directory)
        missing = {} if os.environ.get(DRAFT_VARIABLE) else missing_pictures(self._game(entry.id), self._directory)
        if missing:
            file = self._directory / FILE_NAME
            names = ", ".join(f"{picture} of sources.{name}" for name, picture in missing.items())
            raise ManifestError(f"{file}: missing picture {names}; make it with pluriverse-server crop or learn")

    async def start(self) -> None:
        """Listen for the program; it is started by the first ``begin`` after ``put_on``."""
        await self._socket.start()
        self.step_channels.start()
        self._keeper = start_task(self._keep(), "program")

    async def stop(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
            self._keeper = None
        self._environment = None
        await self._end_process()
        while self._finishing:
            await asyncio.gather(*self._finishing)
        await self._socket.stop()
        self.step_channels.stop()

    def put_on(self, environment: Mapping[str, str]) -> None:
        self._environment = {**environment, **self._manifest.runtime.locale}
        self._work.set()

    async def take_off(self) -> None:
        """End the program, since its screen is gone, and don't start it before the next ``put_on``. Not a loss."""
        self._environment = None
        await self._end_process()

    def begin(self, begin: Begin) -> None:
        self._wanted = begin
        self._until_frame = None
        self._set_deadline()
        if self._goes_on and self._socket.connected:
            self._ask(begin)
        else:
            self._work.set()

    def restart(self, reason: str) -> None:
        if self._process is not None:
            self._abandon(reason, "page")

    def send(self, request: reports.Request) -> None:
        self._socket.send(request)

    async def tree(self, picture: Box) -> Tree:
        """Return what is to be seen of the program within ``picture`` (x, y, width and height on the screen)."""
        if not self._socket.connected:
            page = self._manifest.page is not None
            raise NoTree("no page is loaded at the moment" if page else "the program isn't running at the moment")
        return await self._trees.ask(picture)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def malformed_reports(self) -> int:
        return self._socket.malformed_reports + self._malformed_messages

    def check_frozen(self, now: float) -> None:
        """Replace a program that has drawn frames in this episode and stopped. ``now`` is the loop's time."""
        if self._until_frame is not None and self._until_frame.is_over(now):
            limit_s, self._until_frame = self._until_frame.limit_s, None
            self._abandon(f"program froze: no frame for {limit_s:g} s")

    # ── the life of the process ──────────────────────────────────────────────────────────────────────────────────────

    async def _keep(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            if self._environment is None or self._wanted is None:
                continue
            if self._process is not None:
                if self._goes_on or self._asked is self._wanted:
                    continue
                await self._end_process()
                # The screen or the wanted episode may have changed meanwhile.
                self._work.set()
                continue
            if (wait_s := self._not_before - asyncio.get_running_loop().time()) > 0:
                await asyncio.sleep(wait_s)
                self._work.set()
                continue
            await self._start_process(self._wanted, self._environment)

    async def _start_process(self, begin: Begin, environment: Mapping[str, str]) -> None:
        self._set_deadline()
        # Set before it runs: a fast program connects before the start returns.
        self._asked = None if self._goes_on else begin
        await self._clear_screen()
        folder: Path | None = None
        try:
            folder = self._make_folder()
            process = await ChildProcess.start(
                "program",
                self._command(begin, folder),
                cwd=self._directory,
                env={
                    **environment,
                    **self._own_environment(begin, folder),
                    "PLURIVERSE_SOCKET": str(self._socket.path),
                    "PLURIVERSE_STEP_CHANNEL": str(self.step_channels.path),
                    **{name: os.environ[name] for name in PASSED_ON if os.environ.get(name)},
                },
                network=self._needs_network(begin),
                # A scraper's log is for people; it doesn't include its program's output.
                log_level=logging.INFO if self._manifest.has_scraper else logging.DEBUG,
            )
        except (StartError, ManifestError) as error:
            self._remove(folder)
            self._asked = None
            self._clear_deadline()
            cause = "page" if isinstance(error, OutOfResources) else "process"
            self._tell_lost(f"program could not be started: {error}", cause)
            self._not_before = asyncio.get_running_loop().time() + RETRY_S
            return
        process.on_end(lambda: self._remove(folder))
        if self._environment is not environment:
            # Its screen was lost while it was being started.
            self._kill(process)
            return
        self._process = process
        process.on_end(lambda: self._ended(process))

    def _ended(self, process: ChildProcess) -> None:
        if process is not self._process:
            return
        reason = f"program {process.describe_end()}"
        if self._manifest.has_scraper and process.returncode == FAILED and process.output_tail:
            # The scraper's own reason is more informative than its exit status.
            reason = process.output_tail.splitlines()[-1]
        self._lose(reason, process.output_tail)

    def _lose(self, reason: str, output_tail: str, cause: reports.Cause = "process") -> None:
        self._forget()
        self._socket.hang_up()
        # The first loss is replaced at once.
        self._not_before, self._lost_at = self._lost_at + RETRY_S, asyncio.get_running_loop().time()
        self._tell_lost(reason, cause, output_tail)

    def _tell_lost(self, reason: str, cause: reports.Cause, output_tail: str = "") -> None:
        lines = output_tail.splitlines()[-LOGGED_OUTPUT_LINES:]
        log.warning("%s%s", reason, "".join(f"\n    {line}" for line in lines))
        assert self._wanted is not None
        self._on_lost(reports.Lost(self._wanted.episode_id, reason, cause))

    def _abandon(self, reason: str, cause: reports.Cause = "process") -> None:
        process = self._process
        if process is None:
            return
        self._kill(process)
        self._lose(reason, process.output_tail, cause)

    def _kill(self, process: ChildProcess) -> None:
        process.kill()
        self._finish(process.stop(), "program: reaped")

    def _finish(self, what: Coroutine[Any, Any, None], name: str) -> None:
        task = start_task(what, name)
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)

    def _forget(self) -> ChildProcess | None:
        """Reset all state about the running process, and return the process."""
        process, self._process = self._process, None
        self.step_channels.hang_up()
        self._asked = None
        self._until_frame = None
        self._clear_deadline()
        return process

    async def _end_process(self) -> None:
        process = self._forget()
        if process is not None:
            self._socket.send(reports.Stop())
            try:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(STOP_S if self._socket.connected else 0):
                        await process.wait()
                await process.stop()
            finally:
                # Even if cancelled: nothing else refers to the process any more.
                self._kill(process)
        self._socket.hang_up()

    # ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _connected(self) -> None:
        self.takes_joystick = False
        # A program that is restarted for each episode is only asked for the one it was started for.
        begin = self._wanted if self._goes_on else self._asked
        if begin is not None:
            self._ask(begin)

    def _ask(self, begin: Begin) -> None:
        self._asked = begin
        environment = begin.environment
        lockstep = environment.clock == "lockstep"
        self._socket.send(
            reports.Reset(
                begin.episode_id,
                environment.env_id,
                begin.seed,
                begin.fps,
                environment.options,
                environment.clock if lockstep else None,
                environment.time_limit_s if lockstep else None,
                self._manifest.spaces_of(self._catalogue[environment.env_id]) if lockstep else None,
            )
        )

    def _reported(self, report: reports.Report) -> None:
        if isinstance(report, reports.Ready) and self._wanted and report.episode == self._wanted.episode_id:
            self._clear_deadline()
            self.takes_joystick = report.joystick
        elif isinstance(report, reports.Frame) and self._is_paced(report.episode):
            if self._process is not None and self._wanted is not None:
                limit_s, now = self._frozen_after_s(self._wanted), asyncio.get_running_loop().time()
                self._until_frame = Patience(self._process.pid, limit_s, now)
        elif isinstance(report, reports.TreeRead):
            # No report of an episode's: it goes to who asked.
            self._trees.answered(report)
            return
        elif isinstance(report, reports.Lost):
            self._scraper_lost(report)
            return
        self._on_report(report)

    def _scraper_lost(self, report: reports.Lost) -> None:
        """Take the loss of what a scraper plays; the scraper is still there."""
        self._malformed_messages += report.cause == "message"
        if self._wanted is not None and report.episode == self._wanted.episode_id:
            self._clear_deadline()
            self._tell_lost(report.reason, report.cause)

    def _hung_up(self, reason: str) -> None:
        process = self._process
        if process is not None:

            def abandon() -> None:
                if process is self._process:
                    self._abandon(reason)

            call_later(HANG_UP_GRACE_S, "program: hang-up", abandon)

    # ── settings of an episode ───────────────────────────────────────────────────────────────────────────────────────

    def _game(self, env_id: str) -> GameTables:
        return self._manifest.game(env_id)

    def _make_folder(self) -> Path:
        """Make a private folder, a scraper's own or one with a program's HOME."""
        try:
            share(above := self._runtime_dir / PROGRAM_FOLDER)
            # Short names: programs make sockets below, whose paths have at most 107 bytes.
            share(folder := Path(tempfile.mkdtemp(prefix="", dir=above)))
            if not self._manifest.has_scraper:
                share(folder / HOME)
                make_folders(folder / HOME)
                if child_user.get() is not None:
                    for below in (folder / HOME).rglob("*"):
                        share(below)
        except OSError as error:
            raise start_error("the program", error) from error
        return folder

    def _remove(self, folder: Path | None) -> None:
        """Remove what is left of a program's folder; keepers of one that was killed have theirs in it for longer."""
        if folder is not None:
            self._finish(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True), "program: its folder")

    def _command(self, begin: Begin, folder: Path) -> list[str]:
        if self._manifest.has_scraper:
            page = self._manifest.page
            return scraper_command(self._directory, folder, None if page is None else page.zoom)
        program = self._game(begin.environment.env_id).program
        assert program is not None
        entry, options = self._catalogue[begin.environment.env_id], begin.environment.options
        return python_command(fill_command(program.command, entry, seed=begin.seed, fps=begin.fps, options=options))

    def _own_environment(self, begin: Begin, folder: Path) -> Mapping[str, str]:
        # A scraper gives each game its own.
        program = self._game(begin.environment.env_id).program
        if program is None or self._manifest.has_scraper:
            return {}
        # Python looks below HOME for what its user has installed.
        return {"PYTHONUSERBASE": site.getuserbase(), **home_environment(folder / HOME, {}, program.env)}

    def _needs_network(self, begin: Begin) -> bool:
        # A scraper plays all games, and starts those without a network that ask for none. It serves a page's files.
        if self._manifest.page is not None:
            return True
        games = self._manifest.all_games if self._manifest.plays_scraped else [self._game(begin.environment.env_id)]
        return any(game.program is not None and game.program.network for game in games)

    def _ready_within_s(self, begin: Begin) -> float:
        game = self._game(begin.environment.env_id)
        if self._manifest.has_scraper:
            return patience_s(game, self._manifest.page)
        assert game.program is not None
        return game.program.ready.timeout_s

    def _frozen_after_s(self, begin: Begin) -> float:
        program = self._game(begin.environment.env_id).program
        assert program is not None
        return program.frozen_after_s

    def _is_paced(self, episode_id: int) -> bool:
        """Whether frames have to follow each other: an episode in lockstep waits for its agent."""
        wanted = self._wanted
        return wanted is not None and wanted.episode_id == episode_id and wanted.environment.clock == "realtime"

    # ── readiness ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _set_deadline(self) -> None:
        self._clear_deadline()
        assert self._wanted is not None
        timeout_s = self._ready_within_s(self._wanted)
        self._deadline = call_later(timeout_s, "program: readiness", self._not_ready, timeout_s)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _not_ready(self, timeout_s: float) -> None:
        self._abandon(f"program was not ready within {timeout_s:g} s")
