"""Remotes that break the protocol: each is refused at once, in words that name it and what it sent."""

import contextlib
import json
import struct
import threading
import time
from collections.abc import Callable, Generator
from typing import Any, Final, Literal

import pytest
from pluriverse.adapters.core import Core
from pluriverse.errors import RemoteError, RemoteFailed
from pluriverse_protocol import Headers, encode, step_channel
from pluriverse_protocol.messages import FirstFrame
from support.vnc_servers import Peer, one_colour, server
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

SIDE: Final = 64
DESCRIBED: Final[dict[str, Any]] = {
    "env_id": "toy.First-v0",
    "env_state": "running",
    "fps": 60,
    "width": SIDE,
    "height": SIDE,
    "clocks": ["realtime", "lockstep"],
    "lockstep": "exact",
}
NOTHING: Final = '{"method": "v0.env.text", "headers": {"message_id": 1, "sent_at": 1}, "body": {"text": ""}}'


def message(method: str, body: Any, episode: int = 1, **headers: Any) -> str:
    """A message of a remote; ``body`` may be JSON that no encoder writes."""
    text = body if isinstance(body, str) else json.dumps(body)
    named = {"message_id": 1, "sent_at": 1.0, "episode_id": str(episode), **headers}
    return f'{{"method": "{method}", "headers": {json.dumps(named)}, "body": {text}}}'


@contextlib.contextmanager
def misbehaving(
    says: Callable[[int], str] = lambda _: NOTHING,
    *,
    update: bytes = one_colour(SIDE, SIDE, 7),
    first: bytes = b"",
) -> Generator[str]:
    """Yield the address. Each episode, by its number, begins with what it ``says``, and in lockstep with ``first``.

    ``update`` is what its screen sends.
    """

    def speak(socket: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            answer(socket)

    def answer(socket: ServerConnection) -> None:
        assert socket.request is not None
        if socket.request.path.startswith(step_channel.PATH):
            socket.send(first)
            socket.recv()
        episode = 1
        socket.send(message("v0.env.describe", DESCRIBED))
        for text in socket:
            asked = json.loads(text)
            parent = asked["headers"]["message_id"]
            if asked["method"] == "v0.env.reset":
                episode += 1
                socket.send(message("v0.reply.env.reset", {}, episode, parent_message_id=parent))
                socket.send(message("v0.env.describe", DESCRIBED, episode))
                socket.send(says(episode))
            else:
                socket.send(message("v0.reply.control.ping", {}, parent_message_id=parent))

    def show(peer: Peer) -> None:
        while True:
            peer.wait_for_request()
            peer.send(update)

    with serve(speak, "127.0.0.1", 0, ping_interval=None, close_timeout=0.1) as rewarder:
        threading.Thread(target=rewarder.serve_forever, daemon=True).start()
        with server(show, width=SIDE, height=SIDE) as vnc:
            yield f"vnc://127.0.0.1:{vnc}+{rewarder.socket.getsockname()[1]}"


# One that is waited for takes two minutes.
AT_ONCE_S = 30.0


def reward(number: str, **headers: Any) -> Callable[[int], str]:
    return lambda episode: message("v0.env.reward", f'{{"reward": {number}, "done": false}}', episode, **headers)


def described(**changed: Any) -> Callable[[int], str]:
    return lambda episode: message("v0.env.describe", {**DESCRIBED, **changed}, episode)


def refused(address: str, clock: Literal["realtime", "lockstep"] = "realtime") -> str:
    """Why an environment of a remote is refused, as it is made or at its first reset."""
    began = time.monotonic()
    with pytest.raises(RemoteError) as error, Core(None, address, clock=clock) as core:  # noqa: PT012 - it is a race
        core.reset(0)
        core.receive(1)
    assert time.monotonic() - began < AT_ONCE_S
    assert "127.0.0.1:" in str(error.value)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (reward("NaN"), "NaN isn't a JSON number"),
        (described(width=2**62), "'width' is 4611686018427387904"),
    ],
    ids=["NaN", "width"],
)
def test_numbers_that_no_remote_can_mean_are_refused_at_once(says: Callable[[int], str], why: str) -> None:
    with misbehaving(says) as address:
        told = refused(address)
    assert "broke the protocol" in told
    assert why in told


def test_screen_that_breaks_rfb_is_refused_at_once() -> None:
    with misbehaving(update=struct.pack(">BBHHHHHi", 0, 0, 1, 0, 0, SIDE, SIDE, -1)) as address:
        assert "broke RFB: a rectangle of encoding -1, not asked for" in refused(address)


def test_picture_of_another_size_is_refused_at_once_in_lockstep() -> None:
    first = step_channel.pack(encode(FirstFrame((1, 2, 3)), Headers(1, 1.0, 2)), bytes(6))
    with misbehaving(first=first) as address:
        assert f"its picture is (1, 2, 3), expected ({SIDE}, {SIDE}, 3)" in refused(address, "lockstep")


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
def test_remote_whose_episodes_never_begin_is_given_up(
    monkeypatch: pytest.MonkeyPatch, clock: Literal["realtime", "lockstep"]
) -> None:
    monkeypatch.setitem(DESCRIBED, "env_state", "resetting")
    monkeypatch.setattr("pluriverse.adapters.core.RECEIVE_S", 1.0)
    with misbehaving() as address, pytest.raises(RemoteFailed, match=r"no episode of .* began within 1 s"):
        Core(None, address, clock=clock)


def test_episode_that_breaks_the_protocol_in_the_middle_is_truncated_and_the_next_one_begins() -> None:
    spoken: list[int] = []

    def says(episode: int) -> str:
        spoken.append(episode)
        return message("v0.env.text", {"text": "well"}, episode)

    with misbehaving(says) as address, Core(None, address, actions="events") as core:
        core.reset(0)
        core.receive(1)
        connection = core.env.require().by_index[0]  # pyright: ignore[reportPrivateUsage]
        assert connection is not None
        connection.rewarder._take(reward("NaN")(spoken[-1]), time.time())  # pyright: ignore[reportPrivateUsage]
        core.send({0: ()})
        core.receive(1)
        result = core.result(0)
        assert (result.truncated, result.terminated, result.lost) == (True, False, True)
        assert "NaN isn't a JSON number" in (result.error or "")
        core.reset(0)
        core.receive(1)
        assert core.result(0).first
        core.env.require_usable(0)
