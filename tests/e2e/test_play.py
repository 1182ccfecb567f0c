"""gym-core played over VNC and the rewarder protocol, on the machine and in a container."""

from __future__ import annotations

import time

import pytest
from pluriverse_protocol import metadata
from support.agent import connected
from support.remotes import RemoteUnderTest
from support.rfb import RfbClient

pytestmark = [pytest.mark.slow, pytest.mark.display]

LEFT = 0xFF51
BLOCK = (960, 16)


def viewer(remote: RemoteUnderTest) -> RfbClient:
    return RfbClient("127.0.0.1", remote.vnc_port, remote.password)


def painted(screen: RfbClient) -> metadata.Metadata | None:
    """What the metadata block on the screen says."""
    x, y = BLOCK
    rows = screen.framebuffer[y : y + metadata.HEIGHT, x : x + metadata.WIDTH, 2::-1]
    return metadata.decode(rows[0].tobytes(), rows[1].tobytes())


def clock(screen: RfbClient) -> int:
    block = painted(screen)
    return block.clock if block is not None else 0


def picture(screen: RfbClient) -> bytes:
    return screen.framebuffer[:210, :160, :3].tobytes()


async def test_pong_plays_on_the_screen_and_rewards_are_reported(remote: RemoteUnderTest) -> None:
    with viewer(remote) as screen:
        screen.wait_until(lambda: painted(screen) is not None)
        first, first_picture = clock(screen), picture(screen)
        screen.wait_until(lambda: clock(screen) > first + 100 and picture(screen) != first_picture)
        assert abs(clock(screen) / 1000 - time.time()) < 5
    async with connected(remote.port, remote.password) as agent:
        described = await agent.hear()
        assert described["body"]["env_id"] == "gym-core.PongDeterministic-v3"
        assert described["body"]["fps"] == 60.0
        reward = await agent.hear_until(lambda m: m["method"] == "v0.env.reward" and m["body"]["reward"] != 0)
        assert reward["body"]["reward"] in (-1.0, 1.0)
        assert abs(reward["body"]["frame_at"] - reward["headers"]["sent_at"]) < 1


@pytest.mark.parametrize("way", ["vnc", "rewarder"])
async def test_keys_steer_the_game_by_either_way_in(remote: RemoteUnderTest, way: str) -> None:
    async with connected(remote.port, remote.password) as agent:
        await agent.reset("gym-core.CartPoleLowD-v0", seed=3)
        await agent.hear_method("v0.env.describe", env_id="gym-core.CartPoleLowD-v0", env_state="running")
        # Without a key the cart is pushed to the right; with Left held, to the left.
        right = await agent.hear_method("v0.env.observation")
        later = await agent.hear_method("v0.env.observation")
        assert later["body"]["observation"][1] != right["body"]["observation"][1]
        with viewer(remote) as screen:
            if way == "vnc":
                screen.key(LEFT, True)
            else:
                await agent.send("v0.agent.action", {"action": [["KeyEvent", LEFT, True]]})
            velocities: list[float] = []

            def pushed_left() -> bool:
                return len(velocities) > 3 and velocities[-1] < velocities[-2] < velocities[-3]

            while not pushed_left():
                message = await agent.hear_method("v0.env.observation")
                velocities.append(message["body"]["observation"][1])


async def test_stopped_remote_tells_its_agents_and_ends_with_status_0(remote: RemoteUnderTest) -> None:
    async with connected(remote.port, remote.password) as agent:
        await agent.assert_alive()
        assert remote.stop() == 0
        assert await agent.hear_end() == 1000
        assert agent.heard[-1]["method"] == "v0.connection.close"
