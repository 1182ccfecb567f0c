"""Trees of real pages: what is to be seen is told, with its box, and nothing else, in either clock."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio
from pluriverse_protocol.limits import MAX_WATCHED_TREES_PER_S
from support.agent import Agent, Message, connected
from support.pages import PageRemote, page_remote, short_folder, write_runtime
from support.served import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

STYLE = (
    "<style>body { margin: 0 } .at { position: absolute; margin: 0; padding: 0; border: 0; font: 10px/12px monospace }"
)
PLACES = (
    "#b { left: 20px; top: 30px; width: 60px; height: 20px } #f { left: 100px; top: 30px; width: 80px; height: 16px }"
)

# All that is to be seen of it, and as much that isn't.
SHOWN = f"""{STYLE} {PLACES}</style>
<button class=at id=b>Press</button><input class=at id=f aria-label=Field value=abc>
<input class=at style="left:200px;top:30px;width:80px;height:16px" type=password aria-label=Pass value=hidden1>
<input type=checkbox checked aria-label=Box class=at style="left:10px;top:60px;width:13px;height:13px">
<p class=at style="left:40px;top:60px">Read <a href=#x>this</a></p>
<div class=at style="left:10px;top:80px;width:100px;height:24px;overflow:hidden">first line<br>second line<br>hidden2
 <div class=at style="top:60px"><button>hidden3</button></div></div>
<div class=at style="left:150px;top:80px;width:80px;height:20px">hidden4</div>
<div class=at style="left:140px;top:75px;width:120px;height:30px;background:#888"></div>
<div class=at style="left:10px;top:110px;opacity:0"><button>hidden5</button></div>
<div style="display:none">hidden6</div><div style="visibility:hidden">hidden7</div>
<button class=at style="left:10px;top:400px">hidden8</button>
<span class=at style="width:1px;height:1px;overflow:hidden">hidden9</span>
<iframe class=at style="left:150px;top:120px;width:100px;height:60px;border:2px solid red" srcdoc="
 <body style='margin:0'><button style='position:absolute;left:10px;top:5px;width:40px;height:20px'>Inner</button>
 <button style='position:absolute;left:10px;top:90px'>hidden0</button>"></iframe>
<canvas class=at width=40 height=30 aria-label=Game style="left:10px;top:130px"></canvas>
<script>game.picture = [0, 0, 320, 240]; game.begin(0)</script>"""

# A picture that is a part of the screen, of a page that is scrolled.
CROPPED = f"""{STYLE}</style><div style="height:500px"></div>
<button class=at style="left:40px;top:220px;width:50px;height:20px">In</button>
<button class=at style="left:85px;top:240px;width:50px;height:30px">Half</button>
<button class=at style="left:200px;top:220px">Out</button>
<script>scrollTo(0, 200); game.picture = [0, 0, 100, 50]; game.begin(0)</script>"""

# A form whose fields hide properties of its own, and of the document's; roots in the shadow, and what is put into one.
ODD = f"""{STYLE}</style>
<form class=at style="left:10px;top:10px;width:80px;height:60px" title=Odd><input name=firstChild class=at
 style="left:2px;top:2px;width:30px;height:10px" aria-label=In><input name=nodeType class=at style="left:2px;top:20px">
<input name=childNodes class=at style="left:2px;top:40px"></form><img name=elementsFromPoint><img name=title>
<div id=host class=at style="left:10px;top:80px;width:100px;height:20px"><b>put in</b><b slot=none>hidden1</b></div>
<select class=at style="left:10px;top:110px;width:60px;height:20px" aria-label=Size><option>S<option selected>M</select>
<div class=at style="left:100px;top:110px;width:20px;height:20px" role=switch aria-checked=true aria-label=On></div>
<input type=range min=0 max=9 value=4 aria-label=Loud class=at style="left:130px;top:110px;width:60px;height:20px">
<div class=at
 style="left:10px;top:140px;width:60px;height:12px;overflow:clip;white-space:pre">all of one long line</div>
<div class=at style="left:100px;top:140px;width:60px;height:20px">seen through</div>
<div class=at style="left:90px;top:130px;width:100px;height:40px;background:#88888880"></div>
<div class=at style="left:200px;top:140px;width:60px;height:20px">half covered</div>
<div class=at style="left:200px;top:140px;width:30px;height:40px;background:#888"></div>
<div class=at style="display:contents">in no box</div><div aria-hidden=true>hidden2</div>
<details class=at style="left:10px;top:170px"><summary>More</summary><p>hidden3</details>
<div class=at style="left:200px;top:200px;transform:translateX(20px)" role=button>Moved</div>
<script>host.attachShadow({{ mode: "open" }}).innerHTML = "<button>Shadow</button><slot></slot>";
game.picture = [0, 0, 320, 240]; game.begin(0)</script>"""

# A page that tries to say what isn't to be seen, or to be asked for ever.
LYING = f"""{STYLE} {PLACES}</style><button class=at id=b>Press</button><script>
JSON.stringify = () => "[]"; Element.prototype.getBoundingClientRect = () => {{ throw "no" }};
Array.prototype.push = Array.prototype.toJSON = () => {{ throw "no" }};
window.getComputedStyle = document.elementsFromPoint = () => {{ throw "no" }}; globalThis.tree = () => "[]";
game.picture = [0, 0, 320, 240]; game.begin(0)</script>"""

# Elements so many, each named by all that is in it, that saying them takes for ever. Chromium drops keys before a
# page's first content.
HUGE = """<p>all</p><script>game.picture = [0, 0, 320, 240]; game.begin(0);
document.body.innerHTML += "<div role=button>a".repeat(400) + "<i>x</i>".repeat(20000)</script>"""

LINES = "<script>game.picture = [0, 0, 320, 240]; game.begin(0)</script>"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def pages() -> AsyncGenerator[PageRemote]:
    with short_folder() as folder:
        pages = {"shown": SHOWN, "cropped": CROPPED, "odd": ODD, "lying": LYING, "huge": HUGE, "lines": LINES}
        async with page_remote(write_runtime(folder, pages)) as played:
            yield played


async def ask(agent: Agent) -> Message:
    return await agent.hear_reply(await agent.send("v0.env.tree", {}))


async def tree_of(agent: Agent) -> list[dict[str, Any]]:
    reply = await ask(agent)
    assert reply["method"] == "v0.reply.env.tree", reply
    return reply["body"]["nodes"]


def by_name(nodes: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {node["name"]: node for node in nodes}


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
async def test_what_is_to_be_seen_is_told_with_its_box_and_nothing_else(pages: PageRemote, clock: str) -> None:
    await pages.play("shown", clock=clock)
    nodes = await tree_of(pages.agent)
    assert "hidden" not in str(nodes)
    named = by_name(nodes)
    assert named["Press"] == {"role": "button", "name": "Press", "box": [20, 30, 60, 20], "parent": 0}
    assert named["Field"] == {"role": "textbox", "name": "Field", "value": "abc", "box": [100, 30, 80, 16], "parent": 0}
    assert named["Pass"] == {"role": "textbox", "name": "Pass", "box": [200, 30, 80, 16], "parent": 0}
    assert (named["Box"]["role"], named["Box"]["value"], named["Box"]["box"]) == ("checkbox", "true", [10, 60, 13, 13])
    assert named["this"]["role"] == "link"
    assert named["Read"]["role"] == "text"
    assert {"first line", "second line"} <= named.keys()
    assert named["Inner"]["box"] == [162, 127, 40, 20]
    assert nodes[named["Inner"]["parent"]]["role"] == "document"
    assert (named["Game"]["role"], named["Game"]["box"]) == ("canvas", [10, 130, 40, 30])
    assert nodes[0]["role"] == "document"
    assert nodes[0]["box"] == [0, 0, 320, 240]


async def test_what_is_outside_of_the_picture_is_not_told_and_boxes_end_with_it(pages: PageRemote) -> None:
    await pages.play("cropped")
    named = by_name(await tree_of(pages.agent))
    assert named["In"]["box"] == [40, 20, 50, 20]
    assert named["Half"]["box"] == [85, 40, 15, 10]
    assert "Out" not in named


async def test_odd_pages_are_told_as_they_look(pages: PageRemote) -> None:
    await pages.play("odd")
    nodes = await tree_of(pages.agent)
    assert "hidden" not in str(nodes)
    named = by_name(nodes)
    assert named["In"]["box"] == [12, 12, 30, 10]
    assert nodes[named["In"]["parent"]]["name"] == "Odd"
    assert named["Shadow"]["role"] == "button"
    assert {"put in", "all of one long line", "seen through", "half covered", "in no box", "More"} <= named.keys()
    assert named["all of one long line"]["box"] == [10, 140, 60, 11]
    assert [named[name]["value"] for name in ("Size", "On", "Loud")] == ["M", "true", "4"]
    assert named["Moved"]["box"][:2] == [220, 200]


async def test_what_a_page_does_to_its_own_world_changes_nothing(pages: PageRemote) -> None:
    await pages.play("lying")
    assert by_name(await tree_of(pages.agent))["Press"]["box"] == [20, 30, 60, 20]


async def test_a_page_that_says_too_much_is_refused_and_plays_on(pages: PageRemote) -> None:
    episode = await pages.play("huge")
    reply = await ask(pages.agent)
    assert reply["method"] == "v0.reply.error"
    assert "could not be read within 2 s" in reply["body"]["message"]
    await pages.press("a")
    reward = await pages.agent.hear_method("v0.env.reward", reward=1.0)
    assert reward["headers"]["episode_id"] == episode


async def test_one_tree_at_a_time_is_read_for_a_connection_which_is_answered_meanwhile(pages: PageRemote) -> None:
    await pages.play("lines")
    described = next(said for said in reversed(pages.agent.heard) if said["method"] == "v0.env.describe")
    assert {"tree", "marks"} <= set(described["body"]["capabilities"])
    first, second = [await pages.agent.send("v0.env.tree", {}) for _ in range(2)]
    reply = await pages.agent.hear_reply(second)
    assert reply["method"] == "v0.reply.error"
    assert "already" in reply["body"]["message"]
    assert (await pages.agent.hear_reply(first))["method"] == "v0.reply.env.tree"


async def test_observers_may_ask_at_a_limited_rate(pages: PageRemote) -> None:
    await pages.play("lines")
    async with connected(pages.port, PASSWORD, observer=True) as observer:
        assert (await ask(observer))["method"] == "v0.reply.env.tree"
        reply = await ask(observer)
        assert reply["method"] == "v0.reply.error"
        assert "observers may read" in reply["body"]["message"]
        await asyncio.sleep(1 / MAX_WATCHED_TREES_PER_S)
        assert (await ask(observer))["method"] == "v0.reply.env.tree"


async def test_while_an_episode_begins_there_is_no_tree(pages: PageRemote) -> None:
    await pages.play("lines")
    before = pages.agent.heard[-1]["headers"].get("episode_id", "0")
    await pages.agent.reset("pages.lines-v0", leaving=before, seed=5)
    reply = await ask(pages.agent)
    assert reply["method"] == "v0.reply.error"
    assert "no episode is running" in reply["body"]["message"]
    await pages.agent.hear_method("v0.env.describe", env_state="running")
