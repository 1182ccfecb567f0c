"""The authors' tutorial, docs/authoring.md, followed to the letter with a game that isn't shipped."""

import asyncio
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import aiohttp
import pytest
from support import greed
from support.agent import connected
from support.author import Author
from support.leftovers import Leftovers
from support.ports import listens
from support.remotes import ROOT, find
from support.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.display]

TUTORIAL = (ROOT / "docs/authoring.md").read_text()
COMMANDS = [line for block in re.findall(r"(?s)```sh\n(.*?)```", TUTORIAL) for line in block.splitlines()]

# A minute and a half is for people; a game of random keys takes some seconds, seldom half a minute.
SECONDS = 50


def told(beginning: str) -> str:
    """The tutorial's one command that begins so."""
    (command,) = (command for command in COMMANDS if command.startswith(beginning))
    return command


async def record(author: Author) -> None:
    command = told("pluriverse-server record").replace("--seconds 90", f"--seconds {SECONDS}")
    recording = asyncio.create_task(asyncio.to_thread(author.type, command))
    await eventually(lambda: recording.done() or listens(author.port))
    playing = asyncio.create_task(greed.play(author.port, "author"))
    try:
        assert "recorded greed/recordings/first.plrec" in await recording
    finally:
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)


async def label(author: Author, seen: greed.Seen) -> None:
    async with author.typing(told("pluriverse-server label greed")) as said, aiohttp.ClientSession() as browser:
        address = find(r"(http://127\.0\.0\.1:\S+/)\?label", said)
        labels = greed.labels_of(Path("first.plrec"), seen)
        async with browser.put(f"{address}labels", json=labels) as answer:
            assert answer.status == 204, await answer.text()
        async with browser.get(f"{address}recording") as answer:
            known = await answer.json()
        # Nothing could read the score yet: the changes to go to are those of the picture.
        assert len(known["sources"]["score"]["changes"]) >= len(seen.scores) - 1


@pytest.mark.timeout(240)
async def test_tutorial_leads_from_an_unknown_game_to_rewards_that_are_all_true(tmp_path: Path) -> None:
    leftovers = Leftovers()
    author = Author(tmp_path)
    for program in told("sudo apt-get install").split()[4:]:
        assert shutil.which(program, path=f"{os.environ['PATH']}:/usr/games"), f"make setup-dev installs {program}"
    author.type(told("pluriverse-server init"))
    manifest = TUTORIAL.split("<!-- begin greed/runtime.toml -->\n```toml\n")[1].split("```")[0]
    (tmp_path / "greed/runtime.toml").write_text(manifest)
    author.type(told("rm greed/"))
    assert "no file" in author.type("pluriverse-server validate greed", status=2)
    assert "valid" in author.type(told("pluriverse-server validate --draft"))

    await record(author)
    seen = greed.see(tmp_path / "greed/recordings/first.plrec")
    assert len(seen.stuck) >= 1
    await label(author, seen)

    assert "0123456789" in author.type(told("pluriverse-server learn"))
    # In the middle of the longest time that it was there.
    begun, ended = max(seen.stuck, key=lambda stuck: stuck[1] - stuck[0])
    author.type(told("pluriverse-server crop").replace("--at 31.5", f"--at {(begun + ended) / 2}"))
    assert "valid" in author.type("pluriverse-server validate greed")
    assert "100" in author.type(told("pluriverse-server score greed"))
    report = json.loads((tmp_path / "greed/recordings/first.report.json").read_text())
    assert report["reward"]["precision"] == report["reward"]["recall"] == 1

    async with author.typing(told("pluriverse-server try")) as said:
        assert "readings=1" in said
        async with connected(author.port, "author") as agent:
            await agent.reset("greed.Greed-v0", leaving="999999")
            await agent.hear_method("v0.env.describe", env_state="running")
            await asyncio.wait_for(greed.play_as(agent, until_rewarded=True), 60)
    exported = re.findall(r"`(pluriverse export [^`]*)`", TUTORIAL)[0].replace("\n", " ")
    # A game that has just begun when the recording ends has no step yet.
    played = [at for at in seen.ready if seen.last - at >= 1 / 10]
    assert f"{len(played)} episodes" in author.type(f"{exported} --size 39 60 --fps 10")
    leftovers.assert_none()


@pytest.mark.container
@pytest.mark.timeout(600)
def test_tutorials_image_is_built_with_the_game_in_it(tmp_path: Path) -> None:
    author = Author(tmp_path)
    author.type(told("pluriverse-server init"))
    for command in COMMANDS:
        if command.startswith("echo"):
            author.type(command)
    tag = f"pluriverse-test-{os.getpid()}"
    try:
        author.type(f"{told('pluriverse-server build')} --tag {tag}", timeout_s=500)
        which = ["docker", "run", "--rm", "--entrypoint", "which", tag, "xterm", "/usr/games/greed"]
        found = subprocess.run(which, capture_output=True, text=True, check=True)
        assert found.stdout.split() == ["/usr/bin/xterm", "/usr/games/greed"]
    finally:
        subprocess.run(["docker", "image", "rm", "--force", tag], capture_output=True, check=False)
