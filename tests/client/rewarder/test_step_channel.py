"""Step channels to a real remote, and to servers that answer as no remote does."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import Any

import numpy as np
import pluriverse
import pytest
from pluriverse.endpoint import Endpoint
from pluriverse.env.vector import VectorEnv
from pluriverse.errors import RemoteUnavailable
from pluriverse.rewarder.connection import Credentials
from pluriverse.rewarder.step_channel import Arrived, StepChannelConnection
from pluriverse_protocol import Headers, encode, step_channel
from pluriverse_protocol.messages import ErrorReply, FirstFrame, StepReply
from support.waiting import eventually, until
from websockets.asyncio.server import ServerConnection, serve
from websockets.frames import Frame, Opcode

pytestmark = pytest.mark.display

PONG = "gym-core.PongDeterministic-v3"
HEIGHT, WIDTH = 210, 160
SHAPE = (2, 3, 3)


def waited(held: StepChannelConnection) -> Arrived:
    """The next message, which comes alone."""
    (arrived,) = until(held.take, lambda arrived: arrived or held.error)
    assert held.error is None
    return arrived


# ── a real remote ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def pong(address: str) -> Generator[VectorEnv]:
    with pluriverse.make(PONG, address, vision=False) as env:
        env.ask(clock="lockstep")
        begin(env)
        yield env


def begin(env: VectorEnv) -> None:
    env.reset()
    while env.step([[]])[0][0] is None:
        env.wait(0.05)


def test_step_in_another_episode_is_refused_and_the_step_channel_holds(pong: VectorEnv) -> None:
    held = pong.open_step_channel(0)
    first = waited(held)
    held.step(1, [], 1, (first.result.episode_id or 0) + 5)
    refused = waited(held)
    assert isinstance(refused.message, ErrorReply)
    assert "is over; a reset begins another" in refused.message.message
    assert refused.result.episode_id == (first.result.episode_id or 0) + 5
    held.step(1, [], 1, first.result.episode_id or 0)
    assert isinstance(waited(held).message, StepReply)
    held.close()


def test_step_channel_of_an_episode_in_real_time_is_refused_in_the_remotes_own_words(address: str) -> None:
    with pluriverse.make(PONG, address, vision=False) as env:
        begin(env)
        with pytest.raises(RemoteUnavailable, match=r"doesn't accept steps: the episode is in real time"):
            env.open_step_channel(0)


# ── servers that are no remotes ──────────────────────────────────────────────────────────────────────────────────────


def reply(**changes: Any) -> StepReply:
    fields: dict[str, Any] = {"n": 1, "reward": 0.0, "frame": SHAPE} | changes
    return StepReply(**fields, done=False, terminated=False, truncated=False)


def packed(message: Any, pixels: bytes = bytes(18), episode_id: int = 3) -> bytes:
    return step_channel.pack(encode(message, Headers(1, time.time(), episode_id)), pixels)


@contextlib.asynccontextmanager
async def opened(handler: Callable[[ServerConnection], Awaitable[None]]) -> AsyncGenerator[StepChannelConnection]:
    """A step channel to a server that does this with it."""
    async with serve(handler, "127.0.0.1", 0, ping_interval=None, close_timeout=0.1, max_size=None) as server:
        endpoint = Endpoint("127.0.0.1", next(iter(server.sockets)).getsockname()[1], "secret")
        with contextlib.closing(await asyncio.to_thread(StepChannelConnection.open, Credentials(endpoint))) as held:
            yield held


def said(*messages: bytes | str) -> contextlib.AbstractAsyncContextManager[StepChannelConnection]:
    """A step channel on which a server says something, and then waits."""

    async def speak(socket: ServerConnection) -> None:
        for message in messages:
            await socket.send(message)
        await socket.wait_closed()

    return opened(speak)


@pytest.mark.parametrize("size", [20, 200, 70_000])
async def test_masked_frame_of_a_server_ends_the_step_channel(size: int) -> None:
    async def speak(socket: ServerConnection) -> None:
        socket.transport.write(Frame(Opcode.BINARY, bytes(size)).serialize(mask=True))
        await socket.wait_closed()

    async with opened(speak) as held:
        await eventually(lambda: not held.take() and held.error is not None)
        assert "incorrect masking" in str(held.error)


async def test_what_comes_in_many_pieces_or_several_at_once_comes_out_whole_and_in_order() -> None:
    shape = (400, 500, 3)
    pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    large = packed(reply(n=2, frame=shape), pixels.tobytes())
    async with said(packed(FirstFrame(SHAPE)), large, packed(reply(n=3))) as held:
        arrived: list[Arrived] = []
        await eventually(lambda: arrived.extend(held.take()) or len(arrived) == 3)
        assert [type(each.message) for each in arrived] == [FirstFrame, StepReply, StepReply]
        assert arrived[1].result.vision is not None
        assert np.array_equal(arrived[1].result.vision, pixels)
        assert held.error is None


async def test_rows_that_differ_are_put_into_a_picture_of_their_own_and_without_any_it_is_the_last() -> None:
    shape = (4, 2, 3)
    some = packed(reply(frame=shape, rows=(0, 1, 2, 2), sound=1), bytes([1] * 6 + [2] * 12 + [3] * 4))
    none = packed(reply(frame=shape, rows=()), b"")
    async with said(packed(FirstFrame(shape), bytes(24)), some, none) as held:
        arrived: list[Arrived] = []
        await eventually(lambda: arrived.extend(held.take()) or len(arrived) == 3)
        first, second, third = (each.result.picture for each in arrived)
        assert not first.any()
        assert second[:, 0, 0].tolist() == [1, 0, 2, 2]
        assert arrived[1].result.sound is not None
        assert arrived[1].result.sound.tobytes() == bytes([3] * 4)
        assert third is second
        assert not any(each.flags.writeable for each in (first, second, third))


@pytest.mark.parametrize("first", [FirstFrame((2, 3, 1)), None])
async def test_rows_of_a_frame_that_did_not_come_break_the_step_channel(first: FirstFrame | None) -> None:
    before = [] if first is None else [packed(first, bytes(6))]
    async with said(*before, packed(reply(rows=()), b"")) as held:
        await eventually(lambda: not held.take() or held.error is not None)
        assert "which none before was" in str(held.error)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"", "0 bytes, expected the length"),
        (packed(reply(), bytes(17)), "17 bytes of pixels and sound, expected 18"),
        ("a text", "broke the protocol"),
    ],
)
async def test_message_that_is_none_breaks_the_step_channel(message: bytes | str, expected: str) -> None:
    async with said(packed(FirstFrame(SHAPE)), message, packed(reply())) as held:
        arrived: list[Arrived] = []
        await eventually(lambda: arrived.extend(held.take()) or held.error is not None)
        assert expected in str(held.error)
        assert isinstance(arrived[0].message, FirstFrame)
        assert held.take() == []


async def test_server_that_hangs_up_is_told_with_its_reason_if_it_gave_one() -> None:
    async def bow(socket: ServerConnection) -> None:
        await socket.close(1001, "enough\x1b[2J")

    async def go(socket: ServerConnection) -> None:
        socket.transport.abort()

    for handler, expected in ((bow, r"enough\x1b[2J"), (go, "broke")):
        async with opened(handler) as held:
            await eventually(lambda held=held: not held.take() and held.error is not None)
            assert expected in str(held.error)
            assert "\x1b" not in str(held.error)
            held.step(1, [], 1, 3)


@pytest.mark.slow
async def test_pings_are_answered_and_are_no_messages() -> None:
    answered = asyncio.Event()

    async def ping(socket: ServerConnection) -> None:
        await (await socket.ping())
        answered.set()
        await socket.wait_closed()

    async with opened(ping) as held:
        await eventually(lambda: held.take() == [] and answered.is_set())
