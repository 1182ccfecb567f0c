"""Runtimes of pages that differ in their manifest: in the page, with more allowed, with mistakes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from pluriverse_server.manifest.runtime import Manifest, ManifestError, load
from pluriverse_server.process import StartError
from support.in_process import make_remote
from support.leftovers import Leftovers
from support.pages import PageRemote, page_remote, short_folder, write_runtime
from support.remotes import ROOT

pytestmark = pytest.mark.browser

GOOD = "<script>game.begin(pluriverse.seed)</script>"


@asynccontextmanager
async def played(pages: dict[str, str], keys: str = "", **options: str) -> AsyncGenerator[PageRemote]:
    with short_folder() as folder:
        async with page_remote(write_runtime(folder, pages, keys, **options)) as remote:
            yield remote


async def earn(remote: PageRemote) -> None:
    """A key earns a reward."""
    await remote.press("a")
    await remote.agent.hear_method("v0.env.reward", reward=1.0)


async def test_episodes_of_one_page_begin_in_it_and_others_and_one_that_has_moved_navigate() -> None:
    place = 'files = "www"\nstart = "{env.page}.html"'
    page = "<script>on.w = () => { location = 'Good.html?moved' }</script>"
    begin = 'begin = "game.begin(pluriverse.seed + location.search)"'
    async with played({"Good": page, "Other": ""}, begin, place=place) as remote:
        await remote.play("Good", seed=3)
        assert await remote.text() == "seed 3"
        await earn(remote)
        await remote.press("o")
        assert (await remote.end())["info"]["reason"] == "won"
        await remote.running("3")
        await earn(remote)
        await remote.play("Other", seed=4)
        assert await remote.text() == "seed 4"
        await earn(remote)
        await remote.play("Good", seed=5)
        await remote.press("w")
        await remote.until_text("seed 5?moved")
        await remote.play("Good", seed=6)
        assert await remote.text() == "seed 6"


async def test_what_is_allowed_is_not_blocked() -> None:
    """A dialog that waits for its answer is no page that hangs."""
    page = GOOD + "<script>on.w = () => { if (confirm('more?')) game.score += 1 }</script>"
    async with played({"Good": page}, 'allow = ["dialogs", "popups", "downloads", "menus"]') as remote:
        await remote.press("w")
        await remote.agent.assert_alive()
        for _ in range(3):
            # Three heartbeats are longer than a page that hangs is given.
            await remote.agent.hear_method("v0.env.reward")
        await remote.agent.press(0xFF0D)
        await remote.agent.hear_method("v0.env.reward", reward=1.0)


@pytest.mark.parametrize(
    ("keys", "place", "complaint"),
    [
        ('begin = "game.begin("', 'files = "www"\nstart = "Good.html"', r"page\.begin isn't a JavaScript.*SyntaxError"),
        ("", 'files = "www"\nstart = "None.html"', r"page\.start: there is no file .*/www/None\.html"),
        ("", 'files = "www"\nstart = "{env.none}.html"', r"lacks the key 'env\.none' that page\.start asks for"),
        ("", 'files = "vendor"\nstart = "Good.html"', "page.files: no folder .*/vendor"),
        ('script = "none.js"', 'files = "www"\nstart = "Good.html"', r"page\.script .*/none\.js can't be read"),
    ],
    ids=["expression", "file", "key", "folder", "script"],
)
async def test_manifest_that_cannot_be_served_is_refused_before_the_greeting(
    keys: str, place: str, complaint: str
) -> None:
    leftovers = Leftovers()
    greeted: list[Manifest] = []
    with short_folder() as folder:
        write_runtime(folder, {"Good": GOOD}, keys, place=place)
        with pytest.raises((ManifestError, StartError), match=complaint):
            await make_remote(folder).run(greeted.append)
    # Only the browser knows what is JavaScript.
    assert bool(greeted) == ("JavaScript" in complaint)
    leftovers.assert_none()


async def test_zoomed_page_with_a_script_before_its_own_and_one_that_is_never_ready_and_loaded_again() -> None:
    seen = """<button style="position:fixed;left:20px;top:30px;width:60px;height:20px">Press</button><script>
      game.state = [innerWidth, innerHeight, devicePixelRatio]; game.begin(before); game.picture = [0, 0, 320, 240]
    </script>"""
    with short_folder() as folder:
        keys = 'ready_timeout_s = 1\nzoom = 2\nscript = "before.js"'
        write_runtime(folder, {"Good": seen, "Never": ""}, keys)
        (folder / "before.js").write_text("globalThis.before = `before ${pluriverse.env.page}`")
        async with page_remote(folder) as remote:
            await remote.agent.hear_method("v0.env.observation", observation=[160, 120, 2])
            await remote.agent.reset("pages.Never-v0", leaving="1")
            await remote.agent.hear_method("v0.env.describe", env_id="pages.Never-v0", env_state="resetting")
            for _ in range(2):
                await remote.agent.assert_alive()
            await remote.play("Good")
            await remote.until_text("seed before Good")
            # Boxes are in pixels of the screen.
            tree = await remote.agent.hear_reply(await remote.agent.send("v0.env.tree", {}))
            assert [node["box"] for node in tree["body"]["nodes"] if node["name"] == "Press"] == [[40, 60, 120, 40]]
            await earn(remote)


async def test_zoom_is_for_pages_and_in_range() -> None:
    with pytest.raises(ManifestError, match="remove --zoom"):
        await make_remote(ROOT / "runtimes/gym-core", zoom=2).run(lambda _: None)
    for zoom in (0, 9, -1):
        with pytest.raises(ManifestError, match="expected 1 to 8"):
            load(ROOT / "runtimes/internet").zoomed(zoom)
