"""The forms: each is filled in a whole remote, and pays what the widgets hold."""

import re
from typing import Any

import pytest
from pluriverse_server.manifest.spaces import keysym
from support.free_games import Played, playing
from support.waiting import eventually

# What is waited for below, and for the start, may take longer together than a test may otherwise.
pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(360)]


def type_text(game: Played, text: str) -> None:
    """Type over VNC, so that it comes after clicks."""
    for character in text:
        game.viewer.press(keysym("space" if character == " " else character))


async def order(game: Played, **instead: str) -> None:
    """Fill the order form in as the letter says, but for what is given, and send it once it is read."""
    await eventually(lambda: game.reading("letter"))
    asked = re.match(r"Please send me (\d+) kites of size (\w+) to (\w+)\.  Yours, (.+)$", game.reading("letter"))
    assert asked is not None
    wanted = dict(zip(("kites", "size", "town", "name"), asked.groups(), strict=True)) | instead
    for field in ("name", "town", "kites"):
        game.viewer.press(keysym("BackSpace"))
        type_text(game, wanted[field])
        await eventually(lambda field=field: str(game.reading(field)) == wanted[field])
        game.viewer.press(keysym("Tab"))
    for size in ("small", "medium", "large"):
        if game.reading("size") != wanted["size"]:
            game.viewer.press(keysym("Down"))
            await eventually(lambda size=size: game.reading("size") == size)
    game.viewer.press(keysym("Tab"))
    game.viewer.press(keysym("space"))


async def test_order_pays_for_each_field_that_is_as_the_letter_says_when_it_is_sent() -> None:
    async with playing("YadOrder") as game:
        for instead, paid in ({}, 4), ({"name": "Nobody"}, 3):
            await order(game, **instead)
            body = await game.agent.hear_reward()
            assert (body["done"], body["reward"], body["info"]["reason"]) == (True, paid, "the order was sent")
            await game.running()


async def test_the_order_forms_tree_tells_its_fields_and_follows_them() -> None:
    async with playing("YadOrder") as game:
        described = next(said for said in reversed(game.agent.heard) if said["method"] == "v0.env.describe")
        assert {"tree", "marks"} <= set(described["body"]["capabilities"])
        await eventually(lambda: game.reading("letter"))
        roles = {node["role"] for node in await tree_of(game)}
        assert {"window", "text", "textbox", "spinbutton", "combobox", "button"} <= roles
        (send,) = [node for node in await tree_of(game) if node["role"] == "button" and node["name"] == "Send"]
        # GTK tells the last field first.
        name = min((node for node in await tree_of(game) if node["role"] == "textbox"), key=lambda node: node["box"][1])
        x, y, width, height = name["box"]
        for mask in (0, 1, 0):
            game.viewer.pointer(x + width // 2, y + height // 2, mask=mask)
        type_text(game, "Ada")
        await eventually(lambda: game.reading("name") == "Ada")
        assert [node["value"] for node in await tree_of(game) if node["box"] == name["box"]] == ["Ada"]
        assert send["box"][1] > y


async def tree_of(game: Played) -> list[dict[str, Any]]:
    """What the remote says of its widgets."""
    reply = await game.agent.hear_reply(await game.agent.send("v0.env.tree", {}))
    assert reply["method"] == "v0.reply.env.tree", reply
    return reply["body"]["nodes"]
