"""A runtime for tests whose program says nothing: a small X program with a bar for its score, and the sources for it.

Keys: Return leaves the menu, Right scores, x loses, q ends the program with status 7, and some do harm, each its own.
"""

import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import tomlkit
from pluriverse_protocol import reports
from pluriverse_protocol.events import KeyEvent
from pluriverse_server.display import AsyncInjector
from pluriverse_server.display.xserver import XServer
from pluriverse_server.episode import Begin
from pluriverse_server.manifest.runtime import load
from pluriverse_server.manifest.spaces import keysym
from pluriverse_server.programs.catalogue import load_catalogue
from pluriverse_server.programs.program import Program
from pluriverse_server.x11.connection import write_cookie
from support.waiting import eventually

WIDTH, HEIGHT = 320, 200
ENV = "tiny.Bar-v0"

# What a point is worth: the bar has room for twenty.
POINTS = 20

Clock = Literal["realtime", "lockstep"]

_R = TypeVar("_R", bound=reports.Report)

# A window on the screen, and what fills a rectangle of it.
DRAWS = """
import os, time
from Xlib import X, XK
from Xlib.display import Display

display = Display()
screen = display.screen()
window = screen.root.create_window(
    0, 0, 320, 200, 0, screen.root_depth, background_pixel=0, event_mask=X.ExposureMask | X.KeyPressMask
)


def fill(x, y, width, height, colour):
    gc = window.create_gc(foreground=colour)
    window.fill_rectangle(gc, x, y, width, height)
    gc.free()
"""

PROGRAM = (
    """
import os, signal, sys, time
from pathlib import Path

print("started with", *sys.argv[1:], flush=True)
home = Path(os.environ["HOME"])
with (home / "starts").open("a") as file:
    file.write("started\\n")
if "die" in sys.argv:
    sys.exit("dying at once")
if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "orphan" in sys.argv and os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
if "hide" in sys.argv:
    time.sleep(600)

"""
    + DRAWS
    + """
window.set_wm_name("menu")
window.map()
score = 0
state = "menu"
names = {XK.string_to_keysym(name): name for name in ("Return", "Right", *"xqbk")}


def draw():
    fill(0, 0, 20, 20, 0x00FF00 if state == "playing" else 0)
    fill(20, 0, 20, 20, 0xFF0000 if state == "over" else 0)
    fill(0, 40, 200, 10, 0)
    fill(0, 40, 10 * score, 10, 0xFFFFFF)
    display.flush()


def press(key):
    global score, state
    if key == "Return" and state != "playing":
        if "chatty" in sys.argv:
            print("old\\n" * 40_000, end="", flush=True)
        state, score = "playing", 0
        (home / "played").touch()
        window.set_wm_name("playing")
    elif key == "Right" and state == "playing":
        score += 1
        print("score", score, flush=True)
    elif key == "x":
        state = "over"
        print("over", flush=True)
    elif key == "q":
        sys.exit(7)
    elif key == "b":
        for _ in range(40):
            if os.fork() == 0:
                os.setsid()
                time.sleep(600)
    elif key == "k":
        os.kill(os.getppid(), signal.SIGKILL)


while True:
    event = display.next_event()
    if event.type == X.KeyPress:
        press(names.get(display.keycode_to_keysym(event.detail, 0)))
    draw()
"""
)

MANIFEST: dict[str, Any] = {
    "runtime": {
        "id": "tiny",
        "version": "1.0.0",
        "title": "A bar",
        "default_env": ENV,
        "screen": {"width": WIDTH, "height": HEIGHT},
        "fps": 60,
    },
    "program": {
        "command": ["python", "game.py"],
        "ready": {"report": "ready", "timeout_s": 60},
        "home": "home",
    },
    "reset": {
        "by": "restart",
        "start": [{"keys": ["Return"], "until": "playing > 0.9", "every_s": 0.2, "timeout_s": 60}],
    },
    "episode": {"ready": "playing > 0.9", "ready_timeout_s": 60, "done": {"lost": "over > 0.9"}},
    "rewards": [{"source": "score", "scale": POINTS}],
    "sources": {
        "playing": {"from": "screen", "read": "colour", "region": [0, 0, 20, 20], "colour": "#00ff00"},
        "over": {"from": "screen", "read": "colour", "region": [20, 0, 20, 20], "colour": "#ff0000"},
        "score": {"from": "screen", "read": "bar", "region": [0, 40, 200, 10], "colour": "#ffffff", "monotonic": "up"},
    },
    "envs": [{"id": ENV}],
}


def write_runtime(directory: Path, **changed: dict[str, Any] | list[Any]) -> None:
    """Write the runtime into ``directory``, with tables of the manifest ``changed`` or replaced."""
    manifest = json.loads(json.dumps(MANIFEST))
    for name, table in changed.items():
        manifest[name] = {**manifest.get(name, {}), **table} if isinstance(table, dict) else table
    (directory / "game.py").write_text(PROGRAM)
    (directory / "home").mkdir(exist_ok=True)
    (directory / "home" / "settings").write_text("easy")
    (directory / "runtime.toml").write_text(tomlkit.dumps(manifest))  # pyright: ignore[reportUnknownMemberType]


@contextlib.asynccontextmanager
async def x_server(folder: Path) -> AsyncGenerator[dict[str, str]]:
    """A real X server that asks for a cookie; DISPLAY and XAUTHORITY for its clients."""
    xauthority = folder / "Xauthority"
    write_cookie(xauthority)
    command = ["Xvfb", "-screen", "0", f"{WIDTH}x{HEIGHT}x24"]
    server = await XServer.start(command, xauthority=xauthority)
    try:
        yield {"DISPLAY": server.display, "XAUTHORITY": str(xauthority)}
    finally:
        await server.stop()


class Scraped:
    """The daemon's end of a scraper: what it reports, how it was lost, and an injector for its screen."""

    def __init__(self, directory: Path, folder: Path, screen: dict[str, str], injector: AsyncInjector) -> None:
        self.screen = screen
        self.reports: list[reports.Report] = []
        self.losses: list[reports.Lost] = []
        self.folder = folder
        self._directory = directory
        self._injector = injector
        self._manifest = load(directory)
        self._episode = 0

    async def start(self) -> None:
        """Be ready for the first ``begin``."""
        catalogue = await load_catalogue(self._directory, self._manifest)
        self.program = Program(
            self._directory, self._manifest, catalogue, self.folder, self.reports.append, self.losses.append
        )
        await self.program.start()
        self.program.put_on(self.screen)

    def begin(self, env_id: str = ENV, *, seed: int = 7, clock: Clock = "realtime") -> int:
        self._episode += 1
        entry = next(entry for entry in self._manifest.envs if entry.id == env_id)
        environment = replace(self._manifest.environment(entry), clock=clock)
        self.program.begin(Begin(self._episode, environment, seed, 60.0))
        return self._episode

    async def ready(self, env_id: str = ENV, *, seed: int = 7, clock: Clock = "realtime") -> int:
        episode = self.begin(env_id, seed=seed, clock=clock)
        await self.until(reports.Ready, lambda ready: ready.episode == episode)
        return episode

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self._injector.apply([KeyEvent(keysym(key), True), KeyEvent(keysym(key), False)])

    async def until(self, kind: type[_R], holds: Callable[[_R], bool] = lambda _: True) -> _R:
        """The first report of a kind that fits, as soon as there is one."""
        await eventually(lambda: self.losses or self.said(kind, holds))
        said = self.said(kind, holds)
        assert said, self.losses
        return said[0]

    async def lost(self) -> reports.Lost:
        await eventually(lambda: self.losses)
        return self.losses[0]

    def said(self, kind: type[_R], holds: Callable[[_R], bool] = lambda _: True) -> Sequence[_R]:
        return [report for report in self.reports if isinstance(report, kind) and holds(report)]

    def earned(self, episode: int) -> float:
        """What an episode has earned so far, in whole points."""
        both = (*self.said(reports.Reward), *self.said(reports.Done))
        return round(sum(report.reward for report in both if report.episode == episode), 6)

    def homes(self) -> list[Path]:
        return sorted(self.folder.glob("program/*/play-*/home"))


@contextlib.asynccontextmanager
async def scraping(folder: Path, **changed: dict[str, Any] | list[Any]) -> AsyncGenerator[Scraped]:
    """The tiny runtime under the daemon's keeper of programs, on a screen of its own."""
    directory, private = folder / "runtime", folder / "private"
    directory.mkdir()
    private.mkdir()
    write_runtime(directory, **changed)
    async with x_server(folder) as screen:
        injector = await AsyncInjector.open(screen["DISPLAY"], Path(screen["XAUTHORITY"]))
        scraped = Scraped(directory, private, screen, injector)
        await scraped.start()
        try:
            yield scraped
        finally:
            await scraped.program.stop()
            await injector.close()
    # The keepers of a scraper that was killed take a moment longer.
    await eventually(lambda: not list(private.glob("program/*")))
