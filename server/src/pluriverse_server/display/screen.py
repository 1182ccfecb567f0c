"""A virtual screen that VNC shows: Xvfb with X0tigervnc looking at it, or Xtigervnc, which is both in one process."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import psutil

from pluriverse_server.access.secrets import Secrets
from pluriverse_server.process import ChildProcess, StartError, executable, require_free, start_error
from pluriverse_server.tasks import start_task
from pluriverse_server.vnc_proxy.vnc_proxy import VncProxy
from pluriverse_server.x11 import framebuffer
from pluriverse_server.x11.connection import DisplayLost, write_cookie

from . import screen_health, vnc
from .keymap import map_probe_keysyms
from .vnc_keyboard import VncKeyboard
from .xserver import START_DEADLINE_S, XServer

Backend = Literal["xvfb", "xvnc"]

# The programs of each, and their Debian packages.
PROGRAMS: Final[Mapping[Backend, Mapping[str, str]]] = {
    "xvfb": {"Xvfb": "xvfb", "X0tigervnc": "tigervnc-scraping-server"},
    "xvnc": {"Xtigervnc": "tigervnc-standalone-server"},
}

# RFB and X both have 16 bits for a screen's sides; X coordinates are signed.
MAX_SIDE: Final = 32767

# A VNC server ends within a millisecond of its X server; which of the two is noticed first is chance.
ROOT_CAUSE_S: Final = 0.1

# Who was connected so shortly before a server's death may have caused it.
BLAMED_S: Final = 1.0

# In the screen's folder.
VNC_SOCKET: Final = "vnc.sock"
VIEWER_SOCKET: Final = "viewer.sock"
WATCHERS_VNC_SOCKET: Final = "watchers-vnc.sock"
WATCHERS_VIEWER_SOCKET: Final = "watchers.sock"

X_SERVER: Final = "X server"
VNC_SERVER: Final = "VNC server"
WATCHERS_VNC_SERVER: Final = "VNC server for viewers"

# Viewers get the processor time that agents and programs leave.
NICE: Final = ("nice", "-n", "10")


@dataclass(frozen=True)
class ScreenOptions:
    """A screen of ``width`` by ``height`` pixels, 24 bits deep.

    ``secrets`` None lets every VNC client in. ``runtime_dir`` is this screen's own, for its cookie and sockets.
    ``has_port`` False: there is no VNC port, its clients come by the rewarder port alone. ``on_clients``: see
    ``VncProxy``.
    """

    width: int
    height: int
    vnc_port: int
    vnc_host: str
    secrets: Secrets | None
    backend: Backend
    runtime_dir: Path
    name: str
    has_port: bool = True
    on_clients: Callable[[], object] = lambda: None

    def __post_init__(self) -> None:
        if not (0 < self.width <= MAX_SIDE and 0 < self.height <= MAX_SIDE):
            raise ValueError(f"a screen is 1 to {MAX_SIDE} pixels each way, not {self.width}x{self.height}")


@dataclass(frozen=True)
class ServerExit:
    """A server of the screen has ended: which, how (``killed by SIGKILL``), and the last lines of its output."""

    name: str
    how: str
    output_tail: str
    had_clients: bool = False
    """Whether there were clients that may have caused it."""


class Restarted(enum.Enum):
    NOTHING = enum.auto()
    VNC_SERVER = enum.auto()  # programs run on, VNC clients connect again
    EVERYTHING = enum.auto()  # a new X server, maybe on another display: restart programs


class Screen(ABC):
    """A virtual screen and its VNC port. ``display`` and ``environment`` are known once it has started."""

    def __init__(self, options: ScreenOptions) -> None:
        self.options = options
        self.xauthority = options.runtime_dir / "Xauthority"
        self.vnc_proxy = VncProxy(
            options.runtime_dir / VNC_SOCKET,
            options.secrets,
            open_for_watchers=self.open_for_watchers,
            on_clients=options.on_clients,
        )
        self._x: XServer | None = None
        self._vnc: ChildProcess | None = None  # None where the X server serves VNC itself
        self._watchers_vnc: ChildProcess | None = None  # started for the first viewer
        self._watching_over: asyncio.Task[None] | None = None
        self._changing = asyncio.Lock()
        # Whether something moves on it, or it has viewers.
        self._lively = asyncio.Event()
        self._lively.set()
        self.answers = False
        """Whether the servers answered when they were last asked."""

    @property
    def display(self) -> str:
        """The X display's name, such as ``:17``. Another one after ``restart_dead`` has replaced the X server."""
        if self._x is None:
            raise RuntimeError("the screen has not been started")
        return self._x.display

    @property
    def environment(self) -> dict[str, str]:
        return {"DISPLAY": self.display, "XAUTHORITY": str(self.xauthority)}

    @property
    def viewer_socket(self) -> Path:
        """The Unix socket on which the viewer's connections come, which count towards no limit."""
        return self.options.runtime_dir / VIEWER_SOCKET

    @property
    def watchers_socket(self) -> Path:
        """The Unix socket on which those of the viewer's connections come that only watch."""
        return self.options.runtime_dir / WATCHERS_VIEWER_SOCKET

    @property
    def pids(self) -> dict[str, int]:
        return {name: child.pid for name, child in self._children().items()}

    async def start(self) -> None:
        async with self._changing:
            await self._start()

    async def stop(self) -> None:
        async with self._changing:
            await self._stop()

    def rest(self, *, resting: bool) -> None:
        """Set whether the screen is still and unwatched, so that its servers are checked rarely."""
        if resting:
            self._lively.clear()
        else:
            self._lively.set()

    async def wait_for_exit(self) -> ServerExit:
        """Return when one of the servers has ended, or was killed since it answered no more.

        If both have ended, the X server is named: it takes the other along.
        """
        children = self._children()
        if not children:
            raise RuntimeError("the screen has not been started")
        waiting = [asyncio.create_task(child.wait()) for child in children.values()]
        asking = asyncio.create_task(self._wait_for_hang(), name="VNC health")
        try:
            await asyncio.wait({*waiting, asking}, return_when=asyncio.FIRST_COMPLETED)
            had_clients = self.vnc_proxy.had_clients(BLAMED_S)
            hung = asking.result() if asking.done() else None
            if hung is not None:
                children[hung].kill()
                await children[hung].wait()
            await asyncio.wait(waiting[:1], timeout=ROOT_CAUSE_S)
        finally:
            self.answers = False
            for task in (*waiting, asking):
                task.cancel()
        if hung is not None:
            return ServerExit(hung, "answered no more", children[hung].output_tail, had_clients)
        name, child = next((name, child) for name, child in children.items() if child.returncode is not None)
        return ServerExit(name, child.describe_end(), child.output_tail, had_clients)

    async def restart_dead(self) -> Restarted:
        """Start again what has ended: the VNC server alone if X still answers, everything otherwise."""
        async with self._changing:
            if all(child.returncode is None for child in self._children().values()):
                return Restarted.NOTHING
            if self._vnc is None or not await self._x_answers():
                await self._stop_servers()
                await self._start()
                return Restarted.EVERYTHING
            try:
                await self._vnc.stop()
                await self._start_vnc()
                self.answers = True
            except BaseException:
                await self._stop()
                raise
            return Restarted.VNC_SERVER

    @abstractmethod
    async def _x_command(self) -> list[str]:
        """Return the command that starts this screen's X server."""

    @abstractmethod
    async def _start_vnc(self) -> None:
        """Start VNC, with X running, and return once it greets."""

    async def _wait_for_hang(self) -> str:
        """Ask the servers now and then; return the name of the one that answers no more."""
        misses, spent_s = 0, dict[str, float]()
        while True:
            asked_at = time.monotonic()
            async with asyncio.TaskGroup() as asked:
                asking_vnc = asked.create_task(screen_health.vnc_answers(self.vnc_proxy.vnc_socket))
                asking_x = asked.create_task(screen_health.x_answers(self.display))
            # One that is busy for its clients has no time for the question, and isn't hung.
            served = self.vnc_proxy.heard_at > asked_at
            x_answers = asking_x.result() or (served and self._vnc is None)
            self.answers = x_answers and (asking_vnc.result() or served)
            if self.answers:
                misses = 0
                await self._pause()
                continue
            misses += 1
            before_s, spent_s = spent_s, {name: _cpu_seconds(pid) for name, pid in self.pids.items()}
            # Without the X server the VNC server has nothing to show.
            suspect = VNC_SERVER if self._vnc is not None and x_answers else X_SERVER
            is_idle = spent_s[suspect] == before_s.get(suspect)
            if misses >= (screen_health.MISSES if is_idle else screen_health.MISSES_OF_BUSY):
                return suspect

    async def open_for_watchers(self) -> Path:
        """Start the VNC server of those who only watch, unless it runs; return its socket."""
        socket = self.options.runtime_dir / WATCHERS_VNC_SOCKET
        async with self._changing:
            if self._x is None:
                raise StartError("the screen is being started")
            if self._watchers_vnc is None or self._watchers_vnc.returncode is not None:
                self._watchers_vnc = await self._start_scraper(WATCHERS_VNC_SERVER, socket, NICE)
                self._watching_over = start_task(self._watch_over(self._watchers_vnc, socket), "watchers' VNC health")
        return socket

    async def _watch_over(self, server: ChildProcess, socket: Path) -> None:
        """Kill a VNC server that answers no more; the next who comes to watch starts another."""
        misses = 0
        while server.returncode is None and misses < screen_health.MISSES_OF_BUSY:
            if await screen_health.vnc_answers(socket):
                misses = 0
                await self._pause()
            else:
                misses += 1
        server.kill()

    async def _start_scraper(self, name: str, socket: Path, prefix: Sequence[str] = ()) -> ChildProcess:
        # The program itself: the packaged x0tigervncserver is a script that forks and leaves it behind.
        program = executable("X0tigervnc", package=PROGRAMS["xvfb"]["X0tigervnc"])
        arguments = await vnc.arguments(program, socket=socket, name=self.options.name)
        command = [*prefix, program, f"-display={self.display}", *arguments]
        server = await ChildProcess.start(name, command, env=vnc.environment(self.environment))
        try:
            await vnc.wait_for_banner(server, socket)
        except BaseException:
            await server.stop()
            raise
        return server

    async def _pause(self) -> None:
        if self._lively.is_set():
            await asyncio.sleep(screen_health.ASK_EVERY_S)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(screen_health.ASK_SELDOM_S):
                await self._lively.wait()

    async def _start(self) -> None:
        options = self.options
        if not self.vnc_proxy.listens and options.has_port:
            require_free("VNC", options.vnc_host, options.vnc_port, "--vnc-port")
        options.runtime_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            if not self.vnc_proxy.listens:
                sockets = self.viewer_socket, self.watchers_socket
                port = options.vnc_port if options.has_port else None
                await self.vnc_proxy.listen(options.vnc_host, port, *sockets)
            # The server reads this for each client; were the file missing, it would let every local one in.
            write_cookie(self.xauthority)
            command = await self._x_command()
            self._x = await XServer.start(command, xauthority=self.xauthority)
            await self._map_probes(self._x)
            await self.vnc_proxy.type_with(await self._open_keyboard())
            await self._start_vnc()
            self.answers = True
        except OSError as error:
            await self._stop()
            raise start_error("the screen", error) from error
        except BaseException:
            await self._stop()
            raise

    async def _stop(self) -> None:
        await self.vnc_proxy.close()
        self.viewer_socket.unlink(missing_ok=True)
        self.watchers_socket.unlink(missing_ok=True)
        await self._stop_servers()

    async def _stop_servers(self) -> None:
        await self.vnc_proxy.type_with(None)
        if self._watching_over is not None:
            self._watching_over.cancel()
        for server in (self._watchers_vnc, self._vnc):
            if server is not None:
                await server.stop()
        self._watchers_vnc = self._vnc = None
        if self._x is not None:
            await self._x.stop()
            self._x = None
        self.xauthority.unlink(missing_ok=True)
        self.vnc_proxy.vnc_socket.unlink(missing_ok=True)
        (self.options.runtime_dir / framebuffer.FILE).unlink(missing_ok=True)

    async def _map_probes(self, x: XServer) -> None:
        try:
            async with asyncio.timeout(START_DEADLINE_S):
                await asyncio.to_thread(map_probe_keysyms, x.display, self.xauthority)
        except (DisplayLost, TimeoutError) as error:
            raise StartError(f"the X server runs but accepts no connection: {error}\n{x.child.output_tail}") from error

    async def _open_keyboard(self) -> VncKeyboard:
        try:
            return await VncKeyboard.open(self.display, self.xauthority)
        except DisplayLost as error:
            raise StartError(f"the X server accepts no connection for the keyboard: {error}") from error

    async def _x_answers(self) -> bool:
        if self._x is None or self._x.child.returncode is not None:
            return False
        try:
            await self._map_probes(self._x)
        except StartError:
            return False
        return True

    def _children(self) -> dict[str, ChildProcess]:
        children = {} if self._x is None else {X_SERVER: self._x.child}
        return children if self._vnc is None else {**children, VNC_SERVER: self._vnc}


def _cpu_seconds(pid: int) -> float:
    with contextlib.suppress(psutil.NoSuchProcess):
        times = psutil.Process(pid).cpu_times()
        return times.user + times.system
    return 0.0


class XvfbScreen(Screen):
    """Xvfb, and X0tigervnc as its client: one process more, but the program outlives the VNC server."""

    async def _x_command(self) -> list[str]:
        size = f"{self.options.width}x{self.options.height}x24"
        # With its pixels in a file, which is read to step a program in lockstep.
        program = executable("Xvfb", package=PROGRAMS["xvfb"]["Xvfb"])
        return [program, "-screen", "0", size, "-fbdir", str(self.options.runtime_dir)]

    async def _start_vnc(self) -> None:
        self._vnc = await self._start_scraper(VNC_SERVER, self.vnc_proxy.vnc_socket)


class XvncScreen(Screen):
    """Xtigervnc is X server and VNC server in one process: less CPU and latency, but they die together."""

    async def _x_command(self) -> list[str]:
        program = executable("Xtigervnc", package=PROGRAMS["xvnc"]["Xtigervnc"])
        geometry = ["-geometry", f"{self.options.width}x{self.options.height}", "-depth", "24"]
        served = await vnc.arguments(program, socket=self.vnc_proxy.vnc_socket, name=self.options.name)
        return [program, *geometry, *served]

    async def _start_vnc(self) -> None:
        assert self._x is not None
        await vnc.wait_for_banner(self._x.child, self.vnc_proxy.vnc_socket)


BACKENDS: Final[dict[Backend, type[Screen]]] = {"xvfb": XvfbScreen, "xvnc": XvncScreen}


def make_screen(options: ScreenOptions) -> Screen:
    return BACKENDS[options.backend](options)
