"""The vector over real remotes: screens, programs, and what happens to them."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pluriverse
import psutil
import pytest
from pluriverse.env import connections
from pluriverse.env.vector import VectorEnv
from pluriverse.rewarder import connection
from pluriverse.rewarder.result import PREFIX
from pluriverse.rfb import Region
from pluriverse.vnc import VncOptions
from support.leftovers import Leftovers
from support.relay import relaying_beside
from support.remotes import MachineRemote, daemon_at, on_machine

pytestmark = pytest.mark.display

PONG = "gym-core.PongDeterministic-v3"

# Nobody scores or dies in it for minutes.
LONG = "gym-core.FreewayNoFrameskip-v3"
DEADLINE_S = 60.0

# Who doesn't wait for a remote that is away makes many more steps meanwhile.
NOT_WAITING_STEPS = 3


class Player:
    def __init__(self, env: VectorEnv) -> None:
        self.env = env
        self.last: Any = None
        self.steps = 0

    def step(self, *actions: list[Any]) -> None:
        self.env.wait(0.02)
        self.last = self.env.step(list(actions) or [[]] * self.env.n)
        self.steps += 1

    def until(self, condition: Callable[[Any, Any, Any, Any], object]) -> Any:
        deadline = time.monotonic() + DEADLINE_S
        while True:
            self.step()
            observation_n, reward_n, done_n, info = self.last
            if condition(observation_n, reward_n, done_n, info["n"]):
                return self.last
            assert time.monotonic() < deadline, self.last

    def until_all_play(self) -> Any:
        return self.until(lambda o, r, d, i: all(observation is not None for observation in o))


@contextlib.contextmanager
def leaving_nothing() -> Generator[None]:
    # A place of our own: other tests' remotes come and go in the usual one. Sockets in it allow but a short name.
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", folder)
        leftovers, threads = Leftovers(), set(threading.enumerate())
        sockets = len(psutil.Process().net_connections())
        yield
        leftovers.assert_none()
        assert set(threading.enumerate()) <= threads
        assert len(psutil.Process().net_connections()) == sockets


@pytest.fixture
def nothing_left() -> Generator[None]:
    with leaving_nothing():
        yield


@pytest.fixture(scope="module")
def two(remote: MachineRemote) -> Generator[Player]:
    del remote  # it is there before what is looked for in the end
    with leaving_nothing(), pluriverse.make(PONG, "local:2") as env:
        env.reset()
        yield Player(env)


@pytest.fixture
def player(two: Player) -> Player:
    """Of two remotes, which play whatever a test before did to them."""
    two.until_all_play()
    return two


def test_pong_is_seen_played_and_rewarded_with_all_lags_told(player: Player) -> None:
    observation_n, *_ = player.last
    vision = observation_n[0]["vision"]
    assert (vision.shape, vision.dtype) == ((768, 1024, 3), np.uint8)
    assert observation_n[0]["text"] == []
    told: set[str] = set()

    def all_is_told(observation_n: Any, reward_n: Any, done_n: Any, info_n: Any) -> bool:
        told.update(info_n[0])
        if reward_n[0]:
            assert reward_n[0] in (-1.0, 1.0)
            told.add("a reward")
        lags = {f"{PREFIX}lag.{name}" for name in ("observation", "action", "reward", "rewarder_message")}
        return lags | {f"{PREFIX}clock_skew", "stats.vnc.updates.n", "stats.vnc.updates.pixels", "a reward"} <= told

    *_, info = player.until(all_is_told)
    low, high = info["n"][0][f"{PREFIX}clock_skew"]
    # It is the same machine's clock.
    assert low <= 0.0005
    assert high >= -0.0005
    assert high - low < 1.0


def test_killed_remote_is_replaced_and_the_other_plays_on(player: Player) -> None:
    daemon_at(player.env.addresses[0]).kill()
    observation_n, _, done_n, info = player.until(lambda o, r, done_n, i: done_n[0])
    assert observation_n[0] is None
    assert info["n"][0]["truncated"] is True
    assert "error" in info["n"][0]
    assert (done_n[1], "error" in info["n"][1]) == (False, False)
    before = player.steps
    player.until_all_play()
    assert player.steps - before > NOT_WAITING_STEPS


@pytest.mark.slow
def test_frozen_remote_keeps_nobody_waiting_and_is_replaced(player: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "SILENCE_S", 1.0)
    monkeypatch.setattr("pluriverse.remotes.started.HEAL_S", 0.5)
    monkeypatch.setattr("pluriverse.remotes.health.ANSWER_S", 0.2)
    daemon_at(player.env.addresses[0]).suspend()
    seen_other = 0

    def other_goes_on(observation_n: Any, reward_n: Any, done_n: Any, info_n: Any) -> bool:
        nonlocal seen_other
        seen_other += info_n[1]["stats.vnc.updates.n"]
        return done_n[0]

    *_, info = player.until(other_goes_on)
    assert seen_other > 10
    assert "silent for" in info["n"][0]["error"]
    player.until_all_play()


def test_hung_vnc_server_of_an_own_remote_ends_no_episode(player: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    # However little patience there is with a daemon: this one answers.
    monkeypatch.setattr("pluriverse.env.connections.FROZEN_S", 0.0)
    children = daemon_at(player.env.addresses[0]).children(recursive=True)
    next(child for child in children if child.name() == "X0tigervnc").suspend()
    *_, info = player.until(lambda o, r, d, info_n: "env_status.reconnecting" in info_n[0] or "error" in info_n[0])
    assert "error" not in info["n"][0]
    *_, info = player.until(lambda o, r, d, info_n: "env_status.reconnecting" not in info_n[0] or "error" in info_n[0])
    assert "error" not in info["n"][0]


def test_picture_is_never_that_of_the_episode_before(address: str) -> None:
    with pluriverse.make(LONG, address) as env:
        env.reset()
        player = Player(env)
        player.until_all_play()
        for _ in range(2):
            # Let the traffic move on; at the beginning of each episode it stands where it stands.
            *_, before = player.until(lambda o, r, d, i: i[0].get("rewarder.frames", 0) > 30)
            env.reset()
            *_, info = player.until_all_play()
            painted = info["n"][0]["diagnostics.image_remote_time"]
            assert painted > before["n"][0]["diagnostics.image_remote_time"]
            assert info["n"][0]["env_status.episode_id"] != before["n"][0]["env_status.episode_id"]


def test_small_grey_pictures_of_a_region_are_played_with_lags(address: str) -> None:
    env = VectorEnv(PONG)
    env.configure(remotes=address, vnc=VncOptions(scale=4, grey=True, regions=[Region(0, 0, 160, 210)]))
    with env:
        env.reset()
        observation_n, *_ = Player(env).until(
            lambda o, r, d, i: f"{PREFIX}lag.observation" in i[0] and o[0] is not None
        )
        assert observation_n[0]["vision"].shape == env.render("rgb_array")[0].shape == (192, 256, 1)


def has_gone_on(info: Any, before: Any) -> bool:
    """Whether the picture is of the same episode and a while later."""
    assert "error" not in info
    assert info["env_status.episode_id"] == before["env_status.episode_id"]
    painted = info.get("diagnostics.image_remote_time")
    return painted is not None and painted > before["diagnostics.image_remote_time"] + 1.0


def no_end(done_n: Any, info_n: Any) -> None:
    assert done_n == [False]
    assert "error" not in info_n[0]


def test_outage_ends_no_episode_and_what_is_held_is_pressed_again(
    nothing_left: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SILENCE_S", 0.5)
    monkeypatch.setattr(connection, "PING_S", 0.1)
    monkeypatch.setattr(connections, "MEND_S", 1.0)
    with on_machine() as remote, relaying_beside(remote.vnc_port, remote.port) as relays:
        env = VectorEnv(LONG)
        ports = "+".join(str(relay.port) for relay in relays)
        env.configure(remotes=f"vnc://127.0.0.1:{ports}?password={remote.password}", vnc=VncOptions(silence_s=1.0))
        with env:
            env.reset()
            player = Player(env)
            *_, before = player.until(lambda o, r, d, i: "diagnostics.image_remote_time" in i[0] and o[0] is not None)
            for relay in relays:
                relay.drop()
            # The screen is known to be away a second after it.
            began, before_it = time.monotonic(), player.steps
            while time.monotonic() - began < 2.0 or player.steps - before_it < 2 * NOT_WAITING_STEPS:
                observation_n, *_ = player.until(lambda o, r, d, i: no_end(d, i) or "env_status.reconnecting" in i[0])
                assert observation_n[0]["vision"].shape == (768, 1024, 3)
            player.step([("KeyEvent", "ArrowUp", True)])
            for relay in relays:
                relay.carry()
            player.until(lambda o, r, d, i: no_end(d, i) or has_gone_on(i[0], before["n"][0]))
            # The chicken walks up on its own, as the key is held.
            player.until(lambda o, r, d, i: r[0] > 0)


FORGETS_TO_CLOSE = f"""
import pluriverse
env = pluriverse.make({PONG!r}, "local:2")
env.reset()
env.step([[], []])
print(*(link.address.rewarder_port for link in env._connections.by_index))
"""


@pytest.mark.slow
def test_remotes_are_removed_at_exit_by_who_forgets_to_close(nothing_left: None) -> None:
    folder = {**os.environ, "TMPDIR": tempfile.gettempdir()}
    forgot = subprocess.run([sys.executable, "-c", FORGETS_TO_CLOSE], capture_output=True, text=True, env=folder)
    assert (forgot.returncode, forgot.stderr) == (0, "")
    for port in forgot.stdout.split():
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", int(port)), 1)
