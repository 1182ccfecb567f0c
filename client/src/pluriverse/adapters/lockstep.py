"""The core in lockstep: each environment goes on by the frames of a step, and stands still while the agent thinks."""

from __future__ import annotations

import secrets
import select
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from pluriverse_protocol.events import Event
from pluriverse_protocol.lane import View
from pluriverse_protocol.limits import DRAWN_SEED_BITS, MAX_SLOTS, MAX_VIEW_SIDE
from pluriverse_protocol.messages import Describe, ErrorReply, FirstFrame, ServerMessage, StepReply

from pluriverse import validation
from pluriverse.errors import ConfigurationError, Misuse, RemoteMisbehaved, RemoteUnavailable
from pluriverse.remotes import RemoteManager
from pluriverse.rewarder.lane import LaneConnection
from pluriverse.rewarder.result import Result
from pluriverse.vnc import VncOptions

from .core import NO_ACTION, Core
from .pictures import PictureOptions, Pictures, Pixels
from .player import Phase

# A step that isn't answered within so many seconds, and more for each frame beyond the first, never will be.
STEP_S: Final = 10.0
FRAME_S: Final = 0.2

# How often to look whether an episode has begun, if nothing tells.
LOOK_S: Final = 0.02


@dataclass(slots=True)
class Game:
    """One environment: where it is, its lane, the episode that is played on it, and what it waits for."""

    remote: int
    # 0 is the remote's own environment; those beside it have their episodes on their lanes.
    slot: int
    phase: Phase = Phase.NEW
    lane: LaneConnection | None = None
    # Why the last lane broke.
    fault: str = ""
    episode_id: int = 0
    # The episode that begins: its number once the remote has granted it.
    granted: int | None = None
    # The first frame of the last episode that has begun, which may be before it is asked for.
    first: Result | None = None
    # Of a slot: the number under which the episode that begins was asked for.
    asked: int | None = None
    remote_ended: bool = False
    # When the remote of a step is given up.
    patience_until: float = 0.0
    # What began the episode; None: it isn't known, since it was joined, or it can't be played again.
    seed: int | None = None


class LockstepCore(Core):
    """Copies of one environment that stand still between two steps; the calls are those of ``Core``.

    A step is ``frame_skip`` frames of the environment's own time, and answered when they are drawn and rewarded. The
    pictures are what the environment draws on, or ``crop`` within it, and made by the remote if it can. Each remote
    holds ``slots`` of the environments.
    """

    def __init__(
        self,
        env_id: str | None,
        remotes: int | str | RemoteManager = 1,
        *,
        slots: int = 1,
        **options: Any,
    ) -> None:
        self._slots = validation.integer("slots", slots, 1, MAX_SLOTS)
        super().__init__(env_id, remotes, **options)

    @property
    def n(self) -> int:
        return self.env.n * self._slots

    @property
    def exact(self) -> bool:
        """Whether the same seed and actions give the same frames and rewards; the remote says so."""
        return self.described.lockstep == "exact"

    def phase(self, index: int) -> Phase:
        self.env.require_own()
        return self._games[index].phase

    def screen(self, index: int) -> Pixels:
        """Return the whole screen of the last answer, uint8 (height, width, 3), RGB; black around the picture."""
        self.env.require_open()
        if self._made_here is not None:
            raise Misuse("there are no whole screens; in lockstep they come with whole_screens or a render_mode")
        left, top, width, height = self._box
        screen = np.zeros(self._screen, np.uint8)
        screen[top : top + height, left : left + width] = self._results[index].picture
        return screen

    def close(self) -> None:
        """Disconnect, and remove the remotes that were started; may be called repeatedly."""
        for game in getattr(self, "_games", ()):
            if game.lane is not None:
                game.lane.close()
        super().close()

    def _choose_clock(self) -> None:
        self.env.play_in_lockstep()

    def _wait_for_episode(self) -> Describe:
        described = super()._wait_for_episode()
        for index in range(self.env.n):
            each = self.env.described(index) or described
            if self._slots > (each.slots or 1):
                raise TooFewSlots(self._slots, each)
        return described

    def _open_screens(self, vnc: VncOptions, options: PictureOptions, size: tuple[int, int], *, whole: bool) -> Pixels:
        del vnc
        self._screen = (*size, 3)
        left, top, width, height = self._box = self.described.picture or (0, 0, size[1], size[0])
        if options.crop is not None:
            x, y, across, down = options.crop
            if x < left or y < top or x + across > left + width or y + down > top + height:
                raise ConfigurationError(f"crop is {options.crop}; in lockstep it has to be within {self._box}")
        self._whole = height, width, 3
        # What comes is what is asked for, in an array of its own: a copy would cost as much as sending it.
        same = options.crop in (None, self._box) and options.size in (None, (height, width)) and not options.grey
        self.pictures = Pictures(options, self._box, ready=same or not whole, origin=(left, top))
        self._shape = self.pictures.shape if self.pictures.ready else self._whole
        self._view = self._made_here = None
        if not (same or whole):
            # What remotes send whole is made as it comes.
            self._made_here = Pictures(options, self._box, origin=(left, top))
            # They would have more to send of what is larger than theirs.
            if prod(self._shape) < prod(self._whole) and max(self._whole) <= MAX_VIEW_SIDE:
                x, y, across, down = self.pictures.box
                self._view = View((x - left, y - top, across, down), options.size, options.grey)
        return np.zeros(self._shape, np.uint8)

    def _begin_players(self, blank: Pixels, frame_skip: int, max_episode_steps: int | None) -> None:
        del blank
        self._frames = frame_skip
        self._patience_s = STEP_S + FRAME_S * (frame_skip - 1)
        self._max_episode_steps = max_episode_steps
        self._games = [Game(*divmod(index, self._slots)) for index in range(self.n)]
        self._poll = select.poll()
        self._by_descriptor: dict[int, int] = {}

    def _forget_episodes(self) -> None:
        # A message may have been read or sent in part.
        self._poll = select.poll()
        self._by_descriptor.clear()
        for game in self._games:
            if game.lane is not None:
                game.lane.close()
            game.phase, game.lane, game.first, game.asked = Phase.NEW, None, None, None

    def _begin(self, index: int, seed: int | None, *, join: bool) -> None:
        game = self._games[index]
        self._encoders[index].release()
        joins = join and game.phase is Phase.ENDED and game.remote_ended and game.lane is not None
        if not joins:
            # Drawn here, so that it can be played again.
            seed = secrets.randbits(DRAWN_SEED_BITS) if seed is None else seed
            if not game.slot:
                self.env.truncate(game.remote, seed=seed)
        # The remote has begun the next one already.
        game.granted = game.episode_id + 1 if joins else None
        game.phase = Phase.RESETTING
        game.seed = None if joins else seed
        if game.slot and game.lane is not None:
            self._ask_slot(index, game, game.lane)

    def _act(self, events: Mapping[int, Sequence[Event]]) -> None:
        for index, each in events.items():
            self._step(index, self._games[index], self._results[index].elapsed + 1, each)

    def _step(self, index: int, game: Game, n: int, events: Sequence[Event]) -> None:
        game.phase = Phase.STEPPING
        game.patience_until = time.monotonic() + self._patience_s
        # A remote that was lost while the agent was thinking is noticed in a moment.
        if game.lane is not None:
            game.lane.step(n, events, self._frames, game.episode_id)
            self._drop_broken(index, game.lane)

    def _look(self, timeout_s: float) -> None:
        ready = len(self._ready)
        resetting = [index for index in self._waiting if self._games[index].phase is Phase.RESETTING]
        asked = [index for index in resetting if not self._games[index].slot and self._games[index].granted is None]
        if asked:
            # Their rewarder connections ring a bell, which lanes don't.
            remotes = [self._games[index].remote for index in asked]
            self.env.changed(remotes, min(timeout_s, LOOK_S) if len(asked) == len(self._waiting) else 0.0)
        with self.whole:
            for index in resetting:
                self._look_for_episode(index)
        if len(self._ready) > ready or len(asked) == len(self._waiting):
            timeout_s = 0.0
        elif asked or any(self._games[index].lane is None for index in resetting):
            timeout_s = min(timeout_s, LOOK_S)
        stepping = [index for index in self._waiting if self._games[index].phase is Phase.STEPPING]
        if stepping:
            patience_s = min(self._games[index].patience_until for index in stepping) - time.monotonic()
            timeout_s = max(0.0, min(timeout_s, patience_s))
        arrived = self._poll.poll(1000 * timeout_s)
        with self.whole:
            for descriptor, _ in arrived:
                self._take_arrived(self._by_descriptor[descriptor])
            for index in stepping:
                if index in self._waiting:
                    self._check_stepping(index)

    def _check_stepping(self, index: int) -> None:
        """Give a step up whose lane has broken, or that takes too long."""
        game = self._games[index]
        if game.lane is not None and time.monotonic() >= game.patience_until:
            game.lane.fail(f"no answer to a step within {self._patience_s:g} s")
            self._drop_broken(index, game.lane)
        if game.lane is None:
            self._lose(index, game.fault)

    def _look_for_episode(self, index: int) -> None:
        """See whether the remote has granted the episode that was asked for, and has a lane."""
        game = self._games[index]
        if game.slot:
            self._look_for_slot(index, game)
            return
        if game.granted is None:
            look = self.env.step_some({game.remote: NO_ACTION})[game.remote]
            if look.masked_observation or look.episode_id is None:
                self.env.require_wellbehaved(game.remote)
                return
            game.granted = look.episode_id
        if game.lane is None and not self._open_lane(index):
            # The remote has just been lost, which the next look notices, or begins another episode.
            game.granted = None
            return
        self._take_arrived(index)
        if game.lane is None:
            game.granted = None
        elif game.first is not None and (game.first.episode_id or 0) >= game.granted:
            self._first(index, game.first)

    def _look_for_slot(self, index: int, game: Game) -> None:
        """See whether a slot can be had, and has begun its episode."""
        if game.lane is None and not self._open_lane(index):
            # One that is lost is replaced as it is looked at.
            self.env.step_some({game.remote: NO_ACTION})
            self.env.require_wellbehaved(game.remote)
            return
        if game.lane is not None and game.asked is None:
            self._ask_slot(index, game, game.lane)
        self._take_arrived(index)

    def _ask_slot(self, index: int, game: Game, lane: LaneConnection) -> None:
        game.asked = lane.begin(game.seed)
        self._drop_broken(index, lane)

    def _open_lane(self, index: int) -> bool:
        """Connect to where steps are taken; return False if the remote has none at the moment."""
        game = self._games[index]
        try:
            lane = game.lane = self.env.open_lane(game.remote, game.slot, self._view)
        except RemoteUnavailable:
            return False
        self._poll.register(lane, select.POLLIN)
        self._by_descriptor[lane.fileno()] = index
        return True

    def _take_arrived(self, index: int) -> None:
        game = self._games[index]
        if game.lane is None:
            return
        for arrived in game.lane.take():
            result = arrived.result
            if result.vision is not None:
                shape = result.vision.shape
                if shape == self._whole and self._made_here is not None:
                    result = result._replace(vision=self._made_here.make(result.vision))
                elif shape != self._shape:
                    game.lane.fail(f"its picture is {shape}, expected {self._shape}", RemoteMisbehaved)
                    break
            # What is of an episode that was left is for nobody.
            awaited = game.phase is Phase.STEPPING and result.episode_id == game.episode_id
            match arrived.message:
                case FirstFrame() if not game.slot:
                    game.first = result
                case FirstFrame() if game.phase is Phase.RESETTING and arrived.parent == game.asked:
                    self._first(index, result)
                case ErrorReply(message) if game.phase is Phase.RESETTING and arrived.parent == game.asked:
                    game.lane.fail(f"no episode begins: {message}")
                case StepReply() if awaited:
                    self._stepped(index, result)
                case ErrorReply(message) if awaited:
                    self._lose(index, f"the step was refused: {message}")
                case _:
                    self._heard(index, arrived.message, result, awaited=awaited)
        self._drop_broken(index, game.lane)

    def _heard(self, index: int, message: ServerMessage, result: Result, *, awaited: bool) -> None:
        """Take in what is no part of a step; ``awaited``: an answer that the environment waits for."""

    def _drop_broken(self, index: int, lane: LaneConnection) -> None:
        game = self._games[index]
        if lane.error is not None:
            game.fault = str(lane.error)
            self._poll.unregister(lane)
            del self._by_descriptor[lane.fileno()]
            lane.close()
            game.lane = game.first = game.asked = None
            if game.phase is Phase.RESETTING and isinstance(lane.error, RemoteMisbehaved):
                raise lane.error

    def _first(self, index: int, first: Result) -> None:
        game = self._games[index]
        assert first.episode_id is not None
        game.phase, game.episode_id, game.granted, game.first = Phase.READY, first.episode_id, None, None
        self._begun(index, first)

    def _begun(self, index: int, first: Result) -> None:
        """Answer with an episode's first frame."""
        self._answer(index, first)

    def _stepped(self, index: int, reply: Result) -> None:
        game, result = self._games[index], self._results[index].following().merged(reply)
        stopped = not reply.done and result.elapsed == self._max_episode_steps
        game.phase = Phase.ENDED if reply.done or stopped else Phase.READY
        game.remote_ended = reply.done
        self._answer(index, result._replace(truncated=True) if stopped else result)

    def _lose(self, index: int, why: str) -> None:
        """Answer a step whose remote is lost: its episode is truncated. The next reset waits until it is back."""
        game, result = self._games[index], self._results[index].following()
        game.phase, game.remote_ended = Phase.ENDED, False
        self._answer(index, result._replace(done=True, truncated=True, error=why, episode_id=game.episode_id))


class TooFewSlots(ConfigurationError):
    """A remote holds fewer environments than are wanted of it; ``slots`` is how many."""

    def __init__(self, wanted: int, described: Describe) -> None:
        self.slots: int = described.slots or 1
        super().__init__(f"slots is {wanted}; a remote of {described.env_id} holds {self.slots}")
