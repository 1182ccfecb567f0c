"""Runtimes of web pages for tests: a folder of small pages, one an environment, and a whole remote that plays them."""

import contextlib
import shutil
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from pluriverse_server.manifest.runtime import Manifest
from pluriverse_server.remote.remote import Remote
from pluriverse_server.sources.page.files import ORIGIN
from pluriverse_server.sources.page.page import Outline
from pluriverse_server.sources.page.watcher import Watcher
from support.agent import Agent, Message
from support.in_process import playing
from support.leftovers import Leftovers

# What every page shares: a game that begins when it is loaded or asked to, and that a test can play by keys.
GAME_JS = """
const game = {
  score: 0, running: false, over: false, expired: false, message: "", state: null, picture: [0, 0, 100, 50], begun: 0,
  begin(seed) {
    Object.assign(game, { score: 0, over: false, expired: false, running: true, begun: game.begun + 1 });
    game.message = `seed ${seed}`;
  },
};
const on = { a: () => { game.score += 1 }, o: () => { game.over = "won" }, x: () => { game.expired = "late" } };
addEventListener("keydown", (event) => on[event.key]?.());
"""

# Says which of the buttons for back and forward came. Pressing w makes a place in the history that they could leave.
SIDES = """<script>
  const told = [];
  const say = (what) => { told.push(what); game.state = [...told] };
  for (const kind of ["mousedown", "mouseup"]) {
    addEventListener(kind, ({ button }) => { if (button > 2) say([kind, button]) });
  }
  onpopstate = () => say("left");
  on.w = () => history.pushState(1, "");
</script>"""
SIDE_CLICKS = [["mousedown", 3], ["mouseup", 3], ["mousedown", 4], ["mouseup", 4]]

MANIFEST = """
[runtime]
id = "pages"
version = "1.0.0"
title = "Pages"
default_env = "pages.{first}-v0"
screen = {{ width = 320, height = 240 }}
[reset]
by = "page"
[page]
{place}
{keys}
ready = "game.running"
done = "game.over"
truncated = "game.expired"
text = "game.message"
observation = "game.state"
picture = "game.picture"
[[rewards]]
source = "page"
value = "game.score"
"""

PLACE = 'files = "www"\nstart = "{env.page}.html?seed={seed}"'


def write_runtime(
    directory: Path, pages: Mapping[str, str], keys: str = "", *, place: str = PLACE, manifest: str = MANIFEST
) -> Path:
    """A runtime in ``directory`` with an environment ``pages.NAME-v0`` for each page, HTML by name. ``keys``: TOML."""
    www = directory / "www"
    www.mkdir()
    (www / "game.js").write_text(GAME_JS)
    text = manifest.format(first=next(iter(pages)), place=place, keys=keys)
    for name, body in pages.items():
        (www / f"{name}.html").write_text(f"<!doctype html><title>{name}</title><script src=game.js></script>{body}")
        text += f'[[envs]]\nid = "pages.{name}-v0"\npage = "{name}"\n'
        text += 'options = { level = { type = "integer", default = 1 } }\n'
    (directory / "runtime.toml").write_text(text)
    return directory


@dataclass
class PageRemote:
    """A remote that plays pages, and one agent on it."""

    remote: Remote
    agent: Agent
    port: int
    vnc_port: int

    async def play(self, name: str, **body: Any) -> str:
        """Begin an episode of ``pages.NAME-v0``; returns its id once it runs."""
        leaving = self.agent.last_episode
        reply = await self.agent.hear_reply(await self.agent.reset(f"pages.{name}-v0", leaving=leaving, **body))
        episode_id = reply["headers"]["episode_id"]
        await self.running(episode_id)
        return episode_id

    async def begin(self, env_id: str, seed: int) -> dict[str, Any]:
        """Begin an episode of any environment; how it is described once it runs."""
        leaving = self.agent.last_episode
        reply = await self.agent.hear_reply(await self.agent.reset(env_id, leaving=leaving, seed=seed))
        return (await self.running(reply["headers"]["episode_id"]))["body"]

    async def earned(self) -> tuple[float, dict[str, Any]]:
        """All rewards of the episode under way, and the body of its last."""
        total = 0.0
        while True:
            body = await self.agent.hear_reward()
            total += body["reward"]
            if body["done"]:
                return total, body

    async def running(self, episode_id: str) -> Message:
        return await self.agent.hear_until(
            lambda message: (
                message["method"] == "v0.env.describe"
                and message["body"]["env_state"] == "running"
                and int(message["headers"]["episode_id"]) >= int(episode_id)
            )
        )

    async def end(self) -> Message:
        """The body of the last reward of the episode under way."""
        return (await self.agent.hear_method("v0.env.reward", done=True))["body"]

    async def truncated(self) -> str:
        """Why the episode under way ends, which isn't by its outcome."""
        last = await self.end()
        assert last["truncated"] is True
        assert last["terminated"] is False
        return last["info"]["reason"]

    async def press(self, key: str) -> None:
        await self.agent.press(ord(key))

    async def click(self, x: int, y: int, button: int = 1) -> None:
        mask = 1 << (button - 1)
        events = [["PointerEvent", x, y, 0], ["PointerEvent", x, y, mask], ["PointerEvent", x, y, 0]]
        await self.agent.send("v0.agent.action", {"action": events})

    async def text(self) -> str:
        return (await self.agent.hear_method("v0.env.text"))["body"]["text"]

    async def until_text(self, text: str) -> None:
        while await self.text() != text:
            pass

    @property
    def status(self) -> Mapping[str, Any]:
        return self.remote.status()

    def browser(self) -> int:
        """The browser's process id; its own children have its name, and a type."""
        browsers = [psutil.Process(pid) for pid, name in Leftovers.descendants() if name == "chromium"]
        return next(each.pid for each in browsers if "--type=" not in " ".join(each.cmdline()))


@contextlib.asynccontextmanager
async def page_remote(directory: Path) -> AsyncGenerator[PageRemote]:
    """A remote that plays the runtime in ``directory``, with an agent that hears its first episode run."""
    async with playing(directory) as (remote, agent):
        played = PageRemote(remote, agent, remote.settings.rewarder_port, remote.settings.vnc_port)
        await played.running("1")
        yield played


def outline() -> Outline:
    """What pages have in common, of a runtime that says no more than it must."""
    document = {
        "runtime": {"id": "pages", "version": "1.0.0", "title": "", "default_env": "a"},
        "reset": {"by": "page"},
        "page": {"files": "www", "start": "a.html"},
        "rewards": [{"source": "page", "value": "0"}],
        "envs": [{"id": "a"}],
    }
    watcher = Watcher(Manifest.model_validate(document))
    return Outline(320, 240, frozenset((ORIGIN,)), frozenset(), watcher, None)


@contextlib.contextmanager
def short_folder() -> Generator[Path]:
    """A folder with a path short enough for sockets in it."""
    folder = Path(tempfile.mkdtemp(prefix="pv-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
