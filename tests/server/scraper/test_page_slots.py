"""Pages in slots: several in one remote, as agents have them."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import pytest
from pluriverse_protocol import Envelope, step_channel
from pluriverse_protocol.messages import ErrorReply, FirstFrame, ServerMessage, StepReply
from support.agent import Agent, connected
from support.pages import page_remote, short_folder, write_runtime
from support.served import PASSWORD
from websockets.exceptions import ConnectionClosed

pytestmark = pytest.mark.browser

BEGINS = "<script>game.begin(pluriverse.seed)</script>"

# Tells of all its input, and of what the browser makes of it.
TELLS = """<body style="margin:0">
<style>#hover:hover { background: red }</style>
<input id=input style="position:absolute;left:10px;top:10px;width:200px">
<select style="position:absolute;left:10px;top:50px;width:100px"><option>one<option>two<option>three</select>
<div id=hover style="position:absolute;left:150px;top:50px;width:60px;height:20px;background:blue"></div>
<p style="position:absolute;left:10px;top:90px;width:200px">some words to be selected</p>
<div style="position:absolute;left:10px;top:140px;width:200px;height:60px;overflow:scroll"><div style="height:900px;
  background:linear-gradient(red, blue)"></div></div>
<script>
game.picture = [0, 0, 300, 220];
const told = [];
for (const kind of ["keydown", "keypress", "keyup", "mousemove", "mousedown", "mouseup", "click", "dblclick", "wheel",
    "input", "change", "focus", "blur", "mouseenter", "mouseleave", "contextmenu", "scroll", "auxclick"]) {
  const tell = (event) => {
    const { key, code, keyCode, location, shiftKey, ctrlKey, altKey, button, buttons, detail, clientX, clientY, deltaX,
      deltaY, deltaMode, data, timeStamp } = event;
    told.push(JSON.stringify([kind, event.target.id || event.target.nodeName, { key, code, keyCode, location, shiftKey,
      ctrlKey, altKey, button, buttons, detail, clientX, clientY, deltaX, deltaY, deltaMode, data,
      timeStamp, hasFocus: document.hasFocus(), text: String(getSelection()) }]));
    game.state = told.slice(-60);
    game.score += 1;
  };
  addEventListener(kind, tell, { capture: true });
}
</script>"""

# Counts its visits, and tells how many frames have passed.
KEEPS = """<script>on.s = on.S = () => {
  localStorage.n = Number(localStorage.n ?? 0) + 1;
  document.cookie = `n=${localStorage.n}`;
};
addEventListener("keydown", (event) => {
  if (event.key.length > 1) return;
  game.state = [localStorage.n, document.cookie, Math.round(performance.now() * 60 / 1000), event.key];
});</script>"""
CHOOSES = """<script>
  document.querySelector("select").onchange = (event) => { setTimeout(() => game.state = event.target.value, 1) };
</script>"""
LOOPS = "<script>on.w = () => { for (;;); }</script>"
EATS = "<script>on.w = () => { const all = []; for (;;) all.push(new Array(1e6).fill(Math.random())) }</script>"


class Slot:
    """An agent on the step channel of one slot."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.episode = "1"
        self.n = 0

    async def heard(self) -> tuple[Envelope[ServerMessage], bytes]:
        data = await self._agent.socket.recv()
        assert isinstance(data, bytes)
        envelope, pixels = step_channel.unpack(data)
        return envelope, bytes(pixels)

    async def begun(self) -> tuple[FirstFrame, bytes]:
        """An episode's first frame, with its pixels."""
        envelope, pixels = await self.heard()
        assert isinstance(envelope.message, FirstFrame), str(envelope.message)
        self.episode, self.n = str(envelope.headers.episode_id), 0
        return envelope.message, pixels

    async def begin(self, seed: int = 0, **body: Any) -> tuple[FirstFrame, bytes]:
        await self._agent.send("v0.agent.begin", {"seed": seed, **body})
        return await self.begun()

    async def refused(self, **body: Any) -> str:
        """Why no episode begins."""
        await self._agent.send("v0.agent.begin", body)
        envelope, _ = await self.heard()
        assert isinstance(envelope.message, ErrorReply)
        return envelope.message.message

    async def ask(self, *events: Sequence[Any], frames: int = 1) -> tuple[ServerMessage, bytes]:
        self.n += 1
        step = {"n": self.n, "events": list(events), "frames": frames}
        await self._agent.send("v0.agent.step", step, episode_id=self.episode)
        envelope, pixels = await self.heard()
        return envelope.message, pixels

    async def step(self, *events: Sequence[Any], frames: int = 1) -> tuple[StepReply, bytes]:
        reply, pixels = await self.ask(*events, frames=frames)
        assert isinstance(reply, StepReply), reply
        return reply, pixels


@contextlib.asynccontextmanager
async def slots(pages: Mapping[str, str], *numbers: int, serve: str = "") -> AsyncGenerator[list[Slot]]:
    """A remote whose own environment plays the first of ``pages`` in lockstep, and slots of it. ``serve``: its code."""
    with short_folder() as folder:
        runtime = write_runtime(folder, pages, 'serve = "serve.py"' if serve else "")
        (runtime / "serve.py").write_text(serve)
        async with page_remote(runtime) as remote, contextlib.AsyncExitStack() as stack:
            await remote.play(next(iter(pages)), clock="lockstep", seed=5)
            paths = [f"/step?slot={number}" if number else "/step" for number in numbers]
            opened = [connected(remote.port, PASSWORD, path=path) for path in paths]
            # What is unread would be taken for an agent that has gone.
            hearing = asyncio.create_task(remote.agent.hear_until(lambda _: False))
            stack.callback(hearing.cancel)
            yield [Slot(await stack.enter_async_context(each)) for each in opened]


def key(character: str, *, down: bool) -> list[Any]:
    return ["KeyEvent", ord(character), down]


def typed(text: str) -> list[list[Any]]:
    return [key(character, down=down) for character in text for down in (True, False)]


def pressed(*keysyms: int) -> list[list[Any]]:
    """Keys that are held together."""
    down = [["KeyEvent", keysym, True] for keysym in keysyms]
    return [*down, *(["KeyEvent", keysym, False] for keysym in reversed(keysyms))]


def clicked(x: int, y: int, mask: int = 1, times: int = 1) -> list[list[Any]]:
    return [["PointerEvent", x, y, 0], *[["PointerEvent", x, y, each] for each in (mask, 0) * times]]


CONTROL, SHIFT, LEFT, RETURN, TAB = 0xFFE3, 0xFFE1, 0xFF51, 0xFF0D, 0xFF09
INPUTS = [
    clicked(50, 20),
    typed("aB c!"),
    pressed(SHIFT, LEFT, LEFT),
    pressed(CONTROL, ord("a")),
    pressed(CONTROL, ord("t")),
    pressed(RETURN),
    [["PointerEvent", 170, 60, 0]],
    clicked(40, 100, times=2),
    [["PointerEvent", x, 100, mask] for x, mask in ((12, 0), (12, 1), (90, 1), (90, 0))],
    clicked(100, 160, 8),
    clicked(100, 160, 16, times=2),
    clicked(100, 160, 4),
    clicked(100, 160, 2),
    clicked(170, 60, 1 << 7),
    pressed(TAB),
]


async def test_same_episode_is_the_same_in_each_slot_and_in_the_remote_itself() -> None:
    async with slots({"Tells": BEGINS + TELLS}, 0, 1, 2) as (own, *others):
        begun = [await own.begun(), *[await each.begin(5) for each in others]]
        assert len({pixels for _, pixels in begun}) == 1
        assert {first.text for first, _ in begun} == {"seed 5"}
        for inputs in INPUTS:
            (expected, seen), *replies = [await each.step(*inputs, frames=2) for each in (own, *others)]
            for reply, pixels in replies:
                assert reply.observation == expected.observation
                assert (reply.reward, pixels) == (expected.reward, seen)


async def test_menus_stay_open_beside_each_other_until_something_is_chosen() -> None:
    async with slots({"Tells": BEGINS + TELLS + CHOOSES}, 0, 1, 2) as (_, *others):
        for each in others:
            await each.begin()
        closed, opened, chosen = [
            [await each.step(*inputs, frames=2) for each in others] for inputs in ([], clicked(50, 60), clicked(50, 97))
        ]
        assert all(before != after for (_, before), (_, after) in zip(closed, opened, strict=True))
        assert [reply.observation for reply, _ in chosen] == ["two", "two"]


async def test_slots_share_neither_storage_nor_cookies_nor_time_nor_keys() -> None:
    async with slots({"Keeps": BEGINS + KEEPS}, 0, 1, 2) as (_, first, second):
        await first.begin()
        await first.step(*typed("s"), ["KeyEvent", SHIFT, True], frames=60)
        await second.begin()
        counted, _ = await second.step(*typed("s"))
        shifted, _ = await first.step(*typed("s"))
        assert counted.observation == ["1", "n=1", 1, "s"]
        assert shifted.observation == ["2", "n=2", 61, "S"]


@pytest.mark.slow
@pytest.mark.parametrize("page", [LOOPS, EATS], ids=["loops", "eats"])
async def test_page_that_hangs_or_dies_is_replaced_and_leaves_its_neighbours_alone(page: str) -> None:
    async with slots({"Bad": BEGINS + page}, 0, 1, 2) as (_, first, second):
        await first.begin()
        await second.begin()
        refused, _ = await first.ask(*typed("w"))
        assert isinstance(refused, ErrorReply)
        assert "the step failed" in refused.message
        assert (await second.step(*typed("a")))[0].reward == 1.0
        await first.begin()
        assert (await first.step(*typed("a")))[0].reward == 1.0
        assert (await second.step(*typed("a")))[0].reward == 1.0


async def test_slot_that_is_taken_again_begins_anew_and_what_comes_too_early_or_late_is_refused() -> None:
    async with slots({"Good": BEGINS}, 0, 1, 1) as (_, before, after):
        with pytest.raises(ConnectionClosed):
            await before.begin()
        refused, _ = await after.ask(*typed("a"))
        assert isinstance(refused, ErrorReply)
        assert "v0.agent.begin comes before the first step" in refused.message
        await after.begin()
        assert (await after.step(*typed("ao")))[0].done
        refused, _ = await after.ask(*typed("a"))
        assert isinstance(refused, ErrorReply)
        assert "is over" in refused.message


async def test_slots_play_other_environments_by_options_of_their_own() -> None:
    shows = "<script>game.state = [pluriverse.env.page, pluriverse.env.options.level]</script>"
    async with slots({"One": BEGINS + shows, "Two": BEGINS + shows}, 0, 1, 2) as (_, first, second):
        assert (await first.begin(env_id="pages.Two-v0", options={"level": 7}))[0].observation == ["Two", 7]
        assert (await second.begin())[0].observation == ["One", 1]
        assert (await first.begin())[0].observation == ["Two", 7]
        assert "pages.Three-v0" in await first.refused(env_id="pages.Three-v0")
        assert "level" in await first.refused(options={"level": "high"})
        assert (await first.begin(env_id="pages.One-v0"))[0].observation == ["One", 1]


async def test_what_a_slots_page_has_its_server_keep_is_its_own() -> None:
    serve = """
def respond(request, home):
    if request.path != "/asked":
        return None
    with (home / "asked").open("a+") as asked:
        asked.write(".")
        asked.seek(0)
        return asked.read()
"""
    asks = "<script>on.w = async () => { game.state = await (await fetch('/asked')).text() }</script>"
    async with slots({"Asks": BEGINS + asks}, 0, 1, 2, serve=serve) as (own, *others):
        await own.begun()
        for each in others:
            await each.begin()
        for told in (".", ".."):
            for each in (own, *others):
                assert (await each.step(*typed("w"), frames=2))[0].observation == told
