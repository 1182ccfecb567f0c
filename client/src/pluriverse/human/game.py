"""A remote that a person plays, in real time or in lockstep."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.events import Event
from pluriverse_protocol.limits import DRAWN_SEED_BITS
from pluriverse_protocol.messages import Describe

import pluriverse
from pluriverse import remotes as remotes_module
from pluriverse import validation
from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import Core
from pluriverse.errors import ConfigurationError, RemoteFailed
from pluriverse.remotes import RemoteManager
from pluriverse.rewarder.result import Result
from pluriverse.vnc import VncOptions

Clock = Literal["realtime", "lockstep"]

# A key that is pressed goes out within this time, and the window answers the desktop as often.
LOOK_S: Final = 0.004

# In lockstep a frame's keys are dated as long after the frame before, and its picture as long before it is due.
FRAME_PART: Final = 0.25

# Until then an episode has begun, or none will.
BEGIN_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class End:
    terminated: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Moment:
    """What came of a remote. Times are seconds since the game ``began``; in lockstep its frames count, not ours."""

    acted_at: float
    """When the events went out."""
    at: float
    """When the rest came."""
    screen: NDArray[np.uint8] | None
    """The whole screen, (height, width, 3) RGB; None: no new one."""
    result: Result
    """The lags, and what the connection is like."""
    acted: bool
    """Whether the events reached the episode, which they don't while none runs."""
    runs: int | None = None
    """The visible episode, or None."""
    seed: int | None = None
    """Its seed, where that is known."""
    reward: float = 0.0
    """What was earned, in the episode that ``ended`` or else in this one."""
    ended: End | None = None


class Game(Protocol):
    began: float
    """The beginning of its time, in UNIX seconds."""

    @property
    def described(self) -> Describe: ...

    def is_due(self, *, plays: bool) -> bool:
        """Return whether to step, in a few milliseconds. ``plays``: whether the person is there."""
        ...

    def step(self, events: Sequence[Event]) -> Moment: ...

    def close(self) -> None:
        """Disconnect, and remove the remote if it was started."""
        ...


def open_game(
    env_id: str | None,
    remotes: int | str | RemoteManager,
    *,
    clock: Clock = "realtime",
    fps: float | None = None,
    seed: int | None = None,
    exact: bool = False,
) -> Game:
    """Start or find one remote, and wait for an episode. ``exact``: pictures without loss, as recordings need them."""
    validation.choice("clock", clock, ("realtime", "lockstep"))
    manager = remotes_module.parse(remotes, env_id)
    if manager.n != 1:
        raise ConfigurationError(f"you can play one remote at a time, and {remotes!r} are {manager.n}; name one")
    seed = secrets.randbits(DRAWN_SEED_BITS) if seed is None else validation.seed(seed)
    kind = RealTimeGame if clock == "realtime" else LockstepGame
    return kind(env_id, manager, fps=fps, seed=seed, exact=exact)


class RealTimeGame:
    """A program that goes on whether or not the person does."""

    def __init__(
        self, env_id: str | None, remotes: RemoteManager, *, fps: float | None, seed: int | None, exact: bool
    ) -> None:
        vnc = VncOptions(quality=None) if exact else VncOptions()
        self._env = pluriverse.make(env_id, remotes, fps=fps, vnc=vnc)
        self._seed = seed
        self._first: int | None = None
        try:
            self._env.seed(seed)
            self._env.reset()
            self._described = self._wait_for_episode()
        except BaseException:
            self._env.close()
            raise
        self.began: float = time.time()

    @property
    def described(self) -> Describe:
        return self._described

    def is_due(self, *, plays: bool) -> bool:
        del plays
        return True

    def step(self, events: Sequence[Event]) -> Moment:
        acted_at = time.time() - self.began
        self._env.act(0, events)
        result = self._env.poll([0])[0]
        if not result.updates and not result.done:
            self._env.wait(LOOK_S)
        if self._first is None and not result.masked_observation:
            self._first = result.episode_id
        screen = result.vision if result.updates else None
        # Later episodes begin by themselves, and the remote draws their seeds.
        seed = self._seed if result.episode_id == self._first else None
        runs = None if result.masked_observation else result.episode_id
        ended = _end(result) if result.done else None
        at, acted = time.time() - self.began, not result.masked_action
        return Moment(acted_at, at, screen, result, acted, runs, seed, result.reward, ended)

    def close(self) -> None:
        self._env.close()

    def _wait_for_episode(self) -> Describe:
        deadline = time.monotonic() + BEGIN_S
        while time.monotonic() < deadline:
            # A peek leaves everything for the first step, and reports a refused reset.
            seen = self._env.poll([0], peeks={0})[0]
            described = self._env.described(0)
            if not seen.masked_observation and described is not None:
                return described
            self._env.wait(LOOK_S)
        raise RemoteFailed(f"no episode of {self._env} began within {BEGIN_S:g} s")


class LockstepGame:
    """A program that a person moves on, a frame at a time, at its own pace; without them it stands still."""

    def __init__(
        self, env_id: str | None, remotes: RemoteManager, *, fps: float | None, seed: int | None, exact: bool
    ) -> None:
        del exact  # all pictures are
        self._core = Core(env_id, remotes, clock="lockstep", actions="events", whole_screens=True, fps=fps)
        self._seed = seed
        self._frames = 0
        self.began: float = time.time()
        self._due = self.began
        self._frame_s = self.described.frame_time or 1 / self.described.fps
        self._begins = True

    @property
    def described(self) -> Describe:
        return self._core.described

    def is_due(self, *, plays: bool) -> bool:
        wait_s = self._due - time.time()
        if self._begins or (plays and wait_s <= 0):
            return True
        time.sleep(min(LOOK_S, wait_s) if plays else LOOK_S)
        return False

    def step(self, events: Sequence[Event]) -> Moment:
        begins = self._begins
        if begins:
            self._core.reset(0, self._seed)
        else:
            # Time that was lost is not made up for.
            self._due = max(self._due + self._frame_s, time.time())
            self._core.send({0: events})
        self._core.receive(1)
        self._frames += 1
        moment = self._moment(0.0 if begins else FRAME_PART, acted=not begins)
        self._begins = moment.ended is not None
        if self._begins:
            self._seed = secrets.randbits(DRAWN_SEED_BITS)
        return moment

    def close(self) -> None:
        self._core.close()

    def _moment(self, early: float, *, acted: bool) -> Moment:
        result = self._core.result(0)
        # Steps that are cut at whole frames since the first picture have the keys before each, and the picture after.
        at = (self._frames - early) * self._frame_s
        acted_at = (self._frames - 1 + early) * self._frame_s
        over = self._core.phase(0) is Phase.ENDED
        ended = _end(result) if over else None
        screen, reward = self._core.screen(0), result.reward
        return Moment(acted_at, at, screen, result, acted, result.episode_id, self._seed, reward, ended)


def _end(result: Result) -> End:
    return End(result.terminated, result.error or str(result.info.get("reason", "")))
