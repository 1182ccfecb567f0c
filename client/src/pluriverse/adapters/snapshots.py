"""Moments of episodes in lockstep, to which they can go back: by what the remote keeps of them, or played again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from pluriverse_protocol.events import Event
from pluriverse_protocol.kinds import Handle

from pluriverse.rewarder.result import Result
from pluriverse.rewarder.step_channel import StepChannelConnection
from pluriverse.rfb.picture import Pixels

from .actions import ActionEncoder
from .pictures import PictureOptions

Trail: TypeAlias = "tuple[Trail, Sequence[Event]] | None"
"""The events of an episode's steps, the last one outside, so that snapshots share what they have in common."""


class Kept:
    """A snapshot that a remote keeps as long as this and the step channel live; one with a name stays."""

    __slots__ = ("handle", "step_channel")

    def __init__(self, step_channel: StepChannelConnection, handle: Handle) -> None:
        self.step_channel = step_channel
        self.handle = handle

    def is_at(self, step_channel: StepChannelConnection | None) -> bool:
        """Return whether the remote at the other end of a step channel keeps it, as far as is known."""
        lives = isinstance(self.handle, str) or self.step_channel.error is None
        return step_channel is not None and step_channel.name == self.step_channel.name and lives

    def __del__(self) -> None:
        if not isinstance(self.handle, str):
            self.step_channel.unwanted.append(self.handle)


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A moment of an episode. It outlives its remote: without it, the episode is played again on another one."""

    env_id: str
    frame_skip: int
    seed: int | None
    """None: the episode was joined, or became too long, so that it can't be played again."""
    trail: Trail
    result: Result
    """The answer of then, without its picture."""
    seen: bytes
    """The fingerprint of the picture."""
    pictures: PictureOptions | None
    """How that was asked for; None: it isn't known."""
    encoder: ActionEncoder
    """What the agent held."""
    kept: Kept | None
    """What the remote has of it."""

    @property
    def elapsed(self) -> int:
        """The number of the episode's steps until then."""
        return self.result.elapsed

    @property
    def native(self) -> bool:
        """Whether the remote keeps it; otherwise going back takes as long as those steps."""
        return self.kept is not None and self.kept.step_channel.error is None


def steps_of(trail: Trail) -> list[Sequence[Event]]:
    steps: list[Sequence[Event]] = []
    while trail is not None:
        trail, events = trail
        steps.append(events)
    return steps


def fingerprint(pixels: Pixels) -> bytes:
    """Return a few bytes that differ between two pictures that differ."""
    return hashlib.blake2b(np.ascontiguousarray(pixels).data, digest_size=4).digest()
