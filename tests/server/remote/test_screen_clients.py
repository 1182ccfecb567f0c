"""What is on the screen of a whole remote: the overlay over a page, and over a program that paints no block itself."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from pluriverse_protocol import metadata
from pluriverse_protocol.metadata import Metadata
from pluriverse_server.remote.crash_limit import MAX_CRASHES
from pluriverse_server.remote.remote import GaveUp
from support.in_process import remote_up
from support.leftovers import Leftovers
from support.pages import MANIFEST, PageRemote, page_remote, short_folder, write_runtime
from support.process_tree import children
from support.rfb import RfbClient
from support.served import PASSWORD
from support.waiting import DEADLINE_S, LOOK_S

pytestmark = pytest.mark.browser

X, Y = 300, 10
PLACE = "metadata = {{ x = 300, y = 10, painted_by = 'overlay' }}\n[reset]"
PAGE = "<body><script>game.begin(0)</script>"

CONTROL, A, W = 0xFFE3, ord("a"), ord("w")


def overlays() -> list[psutil.Process]:
    """Those that this process has started."""
    return children("pluriverse_server.overlay")


def wait_for_block(vnc_port: int, good: Callable[[Metadata], bool]) -> None:
    def shown(viewer: RfbClient) -> Metadata | None:
        rows = viewer.framebuffer[Y : Y + metadata.HEIGHT, X : X + metadata.WIDTH, 2::-1]
        return metadata.decode(rows[0].tobytes(), rows[1].tobytes())

    with RfbClient("127.0.0.1", vnc_port, PASSWORD) as viewer:
        viewer.wait_until(lambda: (block := shown(viewer)) is not None and good(block))


async def earn(remote: PageRemote) -> None:
    """Press the key until there is reward: a page that has just been shown takes nothing for a moment."""
    before = remote.status["episode_reward"]
    async with asyncio.timeout(DEADLINE_S):
        while True:
            await remote.agent.press(A)
            # A busy browser falls behind what is pressed without a pause.
            for _ in range(100):
                if remote.status["episode_reward"] != before:
                    return
                await asyncio.sleep(LOOK_S)


async def test_page_is_guarded_and_shows_the_block_and_without_the_guard_there_is_no_browser() -> None:
    leftovers = Leftovers()
    with short_folder() as folder:
        write_runtime(folder, {"Play": PAGE}, manifest=MANIFEST.replace("[reset]", PLACE))
        async with page_remote(folder) as remote:
            now = time.time() * 1000
            await asyncio.to_thread(wait_for_block, remote.vnc_port, lambda block: block.clock > now)
            await earn(remote)
            events = [(CONTROL, True), (W, True), (W, False), (CONTROL, False)]
            await remote.agent.send(
                "v0.agent.action", {"action": [["KeyEvent", keysym, down] for keysym, down in events]}
            )
            await earn(remote)
            assert remote.status["episode_id"] == "1"
            browser, (overlay,) = remote.browser(), overlays()
            overlay.kill()
            assert await remote.truncated() == "overlay killed by SIGKILL"
            assert not psutil.pid_exists(browser)
            await remote.running("2")
            (again,) = overlays()
            assert again != overlay
    leftovers.assert_none()


async def test_block_over_a_program_is_back_when_the_overlay_dies_and_the_episode_goes_on(tmp_path: Path) -> None:
    leftovers = Leftovers()
    async with remote_up(tmp_path, overlay=True) as up:
        await asyncio.to_thread(wait_for_block, up.vnc_port, lambda block: block.probe == 0)
        for _ in range(MAX_CRASHES - 1):
            (overlay,) = overlays()
            overlay.kill()
            now = time.time() * 1000
            await asyncio.to_thread(wait_for_block, up.vnc_port, lambda block, now=now: block.clock > now)
        assert up.remote.status()["episode_id"] == "1"
        assert up.remote.status()["env_state"] == "running"
        overlays()[0].kill()
        with pytest.raises(GaveUp, match="overlay: killed by SIGKILL"):
            await asyncio.wait_for(up.running, DEADLINE_S)
    leftovers.assert_none()


@pytest.mark.slow
async def test_death_of_the_x_server_is_told_as_that_though_it_takes_the_overlay_along() -> None:
    with short_folder() as folder:
        write_runtime(folder, {"Play": PAGE}, manifest=MANIFEST.replace("[reset]", PLACE))
        async with page_remote(folder) as remote:
            os.kill(remote.remote.screen.pids["X server"], signal.SIGKILL)
            assert await remote.truncated() == "X server killed by SIGKILL"
            await remote.running("2")
            assert len(overlays()) == 1
