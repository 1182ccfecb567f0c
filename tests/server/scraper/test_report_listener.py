"""A program that is read and reports rewards of its own."""

from pathlib import Path

import pytest
from pluriverse_protocol.reports import Done, Ready, Reward
from support.scraped import DRAWS, scraping
from support.waiting import eventually

pytestmark = pytest.mark.display

# It reports a coin and its end, and its bar is read.
PROGRAM = (
    DRAWS
    + """
import json, select, socket

daemon = socket.socket(socket.AF_UNIX)
daemon.connect(os.environ["PLURIVERSE_SOCKET"])
requests = daemon.makefile()
window.map()
episode = score = 0


def say(**report):
    daemon.sendall(json.dumps({"episode": episode, **report}).encode() + b"\\n")


def draw():
    fill(0, 0, 20, 20, 0x00FF00)
    fill(0, 40, 200, 10, 0)
    fill(0, 40, 10 * score, 10, 0xFFFFFF)
    display.flush()


display.flush()
while True:
    select.select([daemon, display], [], [])
    if select.select([daemon], [], [], 0)[0]:
        request = json.loads(requests.readline() or '{"request": "stop"}')
        if request["request"] == "stop":
            break
        if request["request"] == "reset":
            episode, score = request["episode"], 0
            draw()
            say(report="ready", info={"lives": 3})
    while display.pending_events():
        event = display.next_event()
        if event.type == X.KeyPress:
            key = XK.keysym_to_string(display.keycode_to_keysym(event.detail, 0))
            score += key == "r"
            if key == "c":
                say(report="reward", reward=100)
            if key == "w":
                say(report="done", reward=1000, reason="won")
            if key == "h":
                daemon.shutdown(socket.SHUT_RDWR)
                time.sleep(600)
        draw()
"""
)


@pytest.mark.parametrize("by", ["report", "restart"])
async def test_both_earn_and_either_ends(tmp_path: Path, by: str) -> None:
    rewards = [{"source": "score", "scale": 20}, {"source": "reports"}]
    async with scraping(tmp_path, rewards=rewards, reset={"by": by, "start": []}) as scraped:
        (tmp_path / "runtime" / "game.py").write_text(PROGRAM)
        for _ in range(2):
            episode = await scraped.ready()
            (ready,) = scraped.said(Ready, lambda ready, episode=episode: ready.episode == episode)
            assert ready.info == {"lives": 3}
            await scraped.press("r", "c", "r")
            await eventually(lambda episode=episode: scraped.earned(episode) == 102)
            coins = scraped.said(Reward, lambda given, episode=episode: given.episode == episode)
            assert [given.reward for given in coins if given.source == "reports"] == [100]
            await scraped.press("r", "w")
            done = await scraped.until(Done, lambda done, episode=episode: done.episode == episode)
            assert (done.reason, done.terminated, done.source) == ("won", True, "reports")
            assert scraped.earned(episode) == 1103
        episode = await scraped.ready()
        await scraped.press("h")
        done = await scraped.until(Done, lambda done: done.episode == episode)
        assert (done.reason, done.truncated) == ("the program closed the connection", True)
