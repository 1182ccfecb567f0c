"""Plays an episode in lockstep twice with the same seed and actions, and says where the runs first differ."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import random
import secrets
import socket
import time
import zlib
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, WSMsgType
from numpy.typing import NDArray
from pluriverse_protocol import Headers, decode_from_server, encode, lane, seats
from pluriverse_protocol.codec import Envelope
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import Event, KeyEvent, PointerEvent
from pluriverse_protocol.messages import (
    AgentMessage,
    AgentStep,
    Describe,
    ErrorReply,
    FirstFrame,
    Reset,
    ResetReply,
    ServerMessage,
    StepReply,
)
from pluriverse_protocol.rfb.security import generate_password

from pluriverse_server.lockstep.clock import ASKED_VARIABLE
from pluriverse_server.remote.remote import Remote
from pluriverse_server.settings import Settings

from . import AuthoringError

# How many frames each random action is held.
HELD_FRAMES: Final = 4

# A program that takes longer to begin, or over a step, hangs.
PATIENCE_S: Final = 120.0

# As many as anybody reads.
MAX_ASKED: Final = 8

_M = TypeVar("_M", bound=ServerMessage)


@dataclass(frozen=True, slots=True)
class Frame:
    """What an agent got; ``asked`` is how often the program asked for the time and for random numbers until then."""

    shape: tuple[int, int, int]
    packed: bytes
    reward: float
    end: str | None
    text: str
    observation: Any
    asked: Counter[str]

    @property
    def pixels(self) -> NDArray[np.uint8]:
        """The picture: (height, width, channels)."""
        return np.frombuffer(zlib.decompress(self.packed), np.uint8).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Two runs of an episode: whether they were exactly the same, and in words what was."""

    exact: bool
    text: str

    def __str__(self) -> str:
        return self.text


async def play_twice(runtime: Path, env_id: str, *, seed: int, frames: int) -> Verdict:
    """Play an episode of a runtime twice, for so many frames or to its end.

    Raises:
        AuthoringError: an episode doesn't begin, or breaks off.
        ManifestError: the runtime can't be used.
        StartError: a program, a port or the screen can't be had.
        GaveUp: something kept dying.
    """
    settings = Settings(
        runtime,
        env_id=env_id,
        vnc_port=_free_port(),
        rewarder_port=_free_port(),
        password=generate_password(),
    )
    async with _running(settings), ClientSession() as session:
        async with _Agent(session, settings).seated() as agent:
            began = time.monotonic()
            first = [frame async for frame in agent.play(env_id, seed, frames)]
            took = time.monotonic() - began
            second = [frame async for frame in agent.play(env_id, seed, frames)]
        assert agent.described is not None
    return judge(agent.described, seed, first, second, took)


def judge(described: Describe, seed: int, first: Sequence[Frame], second: Sequence[Frame], took: float) -> Verdict:
    """Compare two runs, the first of which took so many seconds. What was frozen isn't exact."""
    played, frame_time = len(first) - 1, described.frame_time or 1 / described.fps
    what = f"{described.env_id}, seed {seed}"
    lines = list[str]()
    if described.lockstep == "frozen" or (described.info or {}).get("lockstep") == "frozen":
        lines.append("  it is frozen between steps, and has no clock of ours in them: what is the same is so by chance")
    differing = next((n for n, pair in enumerate(zip(first, second, strict=False)) if differences(*pair)), None)
    if differing is None:
        ended = "" if first[-1].end is None else f", and ended: {first[-1].end}"
        speed = f"{played / took:.0f} frames a second"
        text = f"{what}: the same over {played} frames, {played * frame_time:.1f} s of its time{ended}; {speed}"
        return Verdict(not lines, "\n".join([text, *lines]))
    head = f"{what}: differs first at frame {differing}, {differing * frame_time:.3f} s into the episode"
    said = [f"  {line}" for line in differences(first[differing], second[differing])]
    return Verdict(exact=False, text="\n".join([head, *said, *_askers(first, second, differing), *lines]))


def differences(one: Frame, other: Frame) -> list[str]:
    """Return what differs between two frames, each on a line."""
    found: list[str] = []
    if one.shape != other.shape:
        found.append(f"size of the picture: {one.shape[1]}x{one.shape[0]}, then {other.shape[1]}x{other.shape[0]}")
    elif one.packed != other.packed and (differing := (one.pixels != other.pixels).any(axis=2)).any():
        rows, columns = (np.flatnonzero(differing.any(axis=axis)) for axis in (1, 0))
        place = f"({columns[0]}, {rows[0]}) to ({columns[-1]}, {rows[-1]}) of the picture"
        found.append(f"pixels: {int(differing.sum())} within {place}")
    pairs = {
        "reward": (one.reward, other.reward),
        "end": (one.end, other.end),
        "text": (one.text, other.text),
        "observation": (one.observation, other.observation),
    }
    return found + [f"{name}: {a!r:.200}, then {b!r:.200}" for name, (a, b) in pairs.items() if a != b]


def _askers(first: Sequence[Frame], second: Sequence[Frame], differing: int) -> Iterator[str]:
    """Say who asked for the time or random numbers where the runs differ, and where that first differed."""
    asked = [[_asked_at(frames, number) for number in range(differing + 1)] for frames in (first, second)]
    if not any(itertools.chain(*asked)):
        yield "  nothing was heard of what asked for the time or random numbers: kept by the program, or by the machine"
        return
    one, other = (run[differing] for run in asked)
    if one or other:
        yield f"  in this frame it asked: {_listed(one, other)}"
    for number, (a, b) in enumerate(zip(*asked, strict=True)):
        if a != b:
            changed = {name for name in a | b if a[name] != b[name]}
            few = [Counter({name: counts[name] for name in changed}) for counts in (a, b)]
            yield f"  it asked otherwise first in frame {number}: {_listed(*few)}"
            return
    yield "  it asked alike in both runs: see what asks nobody, as memory and the processor's counter"


def _asked_at(frames: Sequence[Frame], number: int) -> Counter[str]:
    """Return what was asked for in one frame."""
    return frames[number].asked - (frames[number - 1].asked if number else Counter())


def _listed(one: Counter[str], other: Counter[str]) -> str:
    names = [name for name, _ in (one + other).most_common(MAX_ASKED)]
    times = (str(one[name]) if one[name] == other[name] else f"{one[name]}, then {other[name]}" for name in names)
    return "; ".join(f"{name} ({count})" for name, count in zip(names, times, strict=True))


def actions(spaces: Spaces | None, box: Sequence[int], seed: int) -> Iterator[list[Event]]:
    """Yield what to do in each frame: at random, but the same for a seed. ``box``: x, y, width, height."""
    chance = random.Random(seed)  # noqa: S311
    held: set[int] = set()
    for frame in itertools.count():
        events: list[Event] = []
        if frame % HELD_FRAMES == 0 and spaces is not None and spaces.keyboard:
            keys = chance.choice(spaces.discrete).keys if spaces.discrete else (chance.choice(spaces.keyboard),)
            wanted = set(keys)
            if spaces.tap:
                events += [KeyEvent(key, down) for down in (True, False) for key in keys]
            else:
                events += [KeyEvent(key, down=False) for key in sorted(held - wanted)]
                events += [KeyEvent(key, down=True) for key in sorted(wanted - held)]
                held = wanted
        if frame % HELD_FRAMES == 0 and (spaces is None or spaces.pointer):
            x, y, width, height = box
            at = x + chance.randrange(width), y + chance.randrange(height)
            events.append(PointerEvent(*at, chance.randrange(2)))
        yield events


@contextlib.asynccontextmanager
async def _running(settings: Settings) -> AsyncGenerator[None]:
    before = os.environ.get(ASKED_VARIABLE)
    os.environ[ASKED_VARIABLE] = "1"
    remote, started = Remote(settings), asyncio.Event()
    serving = asyncio.create_task(remote.run(lambda _: started.set()))
    waiting = asyncio.create_task(started.wait())
    try:
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not serving.done():
            yield
    finally:
        waiting.cancel()
        remote.stop()
        try:
            await serving
        finally:
            del os.environ[ASKED_VARIABLE]
            if before is not None:
                os.environ[ASKED_VARIABLE] = before


class _Gone(AuthoringError):
    """The lane has ended."""

    def __init__(self) -> None:
        super().__init__("the program ended in a step; the remote's log says why (--verbose)")


class _Agent:
    """The agent of a remote. ``described`` is how the last episode was described at its beginning."""

    def __init__(self, session: ClientSession, settings: Settings) -> None:
        self.described: Describe | None = None
        self._lane: ClientWebSocketResponse | None = None
        self._session = session
        self._address = f"ws://127.0.0.1:{settings.rewarder_port}"
        token = {seats.TOKEN: secrets.token_hex(8)}
        self._parameters: Mapping[str, str] = {"password": settings.password or "", **token}
        self._message_ids = itertools.count(1)

    @contextlib.asynccontextmanager
    async def seated(self) -> AsyncGenerator[_Agent]:
        """Have the seat."""
        async with self._session.ws_connect(f"{self._address}/", params=self._parameters) as self._socket:
            try:
                yield self
            finally:
                if self._lane is not None:
                    await self._lane.close()

    async def play(self, env_id: str, seed: int, frames: int) -> AsyncGenerator[Frame]:
        """Begin an episode, and yield its first frame and those of so many steps, or until it ends."""
        await self._say(self._socket, Reset(env_id, seed=seed, clock="lockstep"), None)
        _, headers = await self._hear(self._socket, ResetReply)
        while True:
            described, about = await self._hear(self._socket, Describe)
            if about.episode_id == headers.episode_id and described.env_state == "running":
                break
        self.described, episode_id = described, headers.episode_id
        box = described.picture or (0, 0, described.width or 1, described.height or 1)
        acts = actions(described.spaces, box, seed)
        steps, first, pixels = await self._first(episode_id)
        yield _frame(first, pixels)
        for number in range(1, frames + 1):
            await self._say(steps, AgentStep(number, events=tuple(next(acts))), episode_id)
            (reply, _), pixels = await self._take(steps)
            if not isinstance(reply, StepReply):
                raise AuthoringError(f"frame {number} was not played: {reply}")
            yield _frame(reply, pixels)
            if reply.done:
                return

    async def _first(self, episode_id: int | None) -> tuple[ClientWebSocketResponse, FirstFrame, memoryview]:
        """Return the lane, which stays for the next unless its program ends, and an episode's first frame."""
        for _ in range(2):
            if self._lane is None or self._lane.closed:
                try:
                    self._lane = await self._session.ws_connect(f"{self._address}{lane.PATH}", params=self._parameters)
                except ClientError as error:
                    raise AuthoringError(f"no steps are taken: {error}") from error
            with contextlib.suppress(_Gone):
                while True:
                    (message, headers), pixels = await self._take(self._lane)
                    if isinstance(message, FirstFrame) and headers.episode_id == episode_id:
                        return self._lane, message, pixels
        raise _Gone

    async def _say(self, socket: ClientWebSocketResponse, message: AgentMessage, episode_id: int | None) -> None:
        await socket.send_str(encode(message, Headers(next(self._message_ids), time.time(), episode_id)))

    async def _hear(self, socket: ClientWebSocketResponse, kind: type[_M]) -> tuple[_M, Headers]:
        """Return the next message of a kind."""
        while True:
            received = await socket.receive(PATIENCE_S)
            if received.type is not WSMsgType.TEXT:
                raise AuthoringError("the remote has hung up; its log says why (--verbose)")
            message, headers = decode_from_server(received.data)
            if isinstance(message, kind):
                return message, headers
            if isinstance(message, ErrorReply):
                raise AuthoringError(message.message)

    async def _take(self, steps: ClientWebSocketResponse) -> tuple[Envelope[ServerMessage], memoryview]:
        """Return the next message of a lane, and its pixels."""
        received = await steps.receive(PATIENCE_S)
        if received.type is not WSMsgType.BINARY:
            raise _Gone
        return lane.unpack(received.data)


def _frame(message: FirstFrame | StepReply, pixels: memoryview) -> Frame:
    height, width, channels = message.frame
    stepped = message if isinstance(message, StepReply) else None
    return Frame(
        (height, width, channels),
        zlib.compress(pixels, 1),
        stepped.reward if stepped else 0.0,
        str(message.info.get("reason", "")) if stepped and stepped.done else None,
        message.text,
        message.observation,
        Counter(message.info.get("asked", {})),
    )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
