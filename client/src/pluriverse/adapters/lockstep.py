"""Environments in lockstep: each goes on by the frames of a step, and stands still while the agent thinks.

Where the remote is exact, an episode is played again, and gone back in: by what the remote keeps, or by the same steps.
"""

from __future__ import annotations

import secrets
import select
import time
from collections.abc import Mapping, Sequence
from copy import copy as copied
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Final

import numpy as np
from pluriverse_protocol.events import Event
from pluriverse_protocol.limits import DRAWN_SEED_BITS, MAX_VIEW_SIDE
from pluriverse_protocol.messages import (
    Describe,
    ErrorReply,
    FirstFrame,
    RestoreReply,
    SnapshotReply,
    StepReply,
    TreeReply,
)
from pluriverse_protocol.step_channel import View

from pluriverse.env.vector import VectorEnv
from pluriverse.errors import ConfigurationError, Misuse, RemoteFailed, RemoteMisbehaved, RemoteUnavailable
from pluriverse.rewarder.result import Result
from pluriverse.rewarder.step_channel import StepChannelConnection

from .actions import ActionEncoder
from .backend import Answers, Phase
from .pictures import PictureOptions, Pictures, Pixels
from .run_log import RunLog
from .snapshots import Kept, Snapshot, Trail, checksum, steps_of

# A step that isn't answered within so many seconds, and more for each frame beyond the first, never will be: a remote
# gives a program up that computes for 30 s in a frame.
STEP_S: Final = 40.0
FRAME_S: Final = 0.2

# How often to check whether an episode has begun, without a notification.
LOOK_S: Final = 0.02

# An episode of more steps can't be played again: nearly twice those of Atari's longest, and some 40 MB of events.
MAX_TRAIL_STEPS: Final = 200_000

UNREPEATABLE: Final = f"its episode was joined, or is longer than {MAX_TRAIL_STEPS} steps, and can't be replayed"


class TooFewSlots(ConfigurationError):
    """A remote holds fewer environments than are wanted of it; ``slots`` is how many."""

    def __init__(self, wanted: int, described: Describe, taken: int = 0) -> None:
        self.slots: int = (described.slots or 1) - taken
        more = " more" if taken else ""
        super().__init__(f"slots is {wanted}; a remote of {described.env_id} holds {self.slots}{more}")


_Reply = SnapshotReply | TreeReply | ErrorReply


@dataclass(slots=True)
class _Copy:
    """One environment: where it is, its step channel, the episode that is played on it, and what it waits for."""

    index: int
    remote: int
    # 0 is the remote's own environment; those beside it have their episodes on their step channels.
    slot: int
    result: Result
    phase: Phase = Phase.NEW
    step_channel: StepChannelConnection | None = None
    # Why the last step channel broke.
    fault: str = ""
    episode_id: int = 0
    # The episode that begins: its number once the remote has granted it, and that of the one that was asked for.
    granted: int | None = None
    wanted: int | None = None
    # The first frame of the last episode that has begun, which may be before it is asked for.
    first: Result | None = None
    # Of a slot: the number under which the episode that begins was asked for, and what it is to be, if not as before.
    asked: int | None = None
    chosen: tuple[str | None, Mapping[str, Any] | None] = (None, None)
    remote_ended: bool = False
    # When the remote of a step is given up.
    patience_until: float = 0.0
    # What began the episode; None: it isn't known, since it was joined, or it can't be played again.
    seed: int | None = None
    # The events of its steps, where its seed is known, and those of the last.
    trail: Trail = None
    events: Sequence[Event] = ()
    # The snapshot that is gone back to, the steps yet to be played again for it, and whether that has failed once.
    restoring: Snapshot | None = None
    again: list[Sequence[Event]] | None = None
    retried: bool = False
    # The answer to a snapshot or tree that was asked for.
    replies: list[_Reply] = field(default_factory=list["_Reply"])

    def kept_of(self, snapshot: Snapshot) -> Kept | None:
        """Return what the remote keeps of a snapshot."""
        return snapshot.kept if snapshot.kept is not None and snapshot.kept.is_at(self.step_channel) else None


class Lockstep:
    """A ``Backend``. The pictures are what the environment draws on, or ``crop`` within it."""

    def __init__(
        self,
        env: VectorEnv,
        described: Describe,
        answers: Answers,
        options: PictureOptions,
        *,
        slots: int,
        whole_screens: bool,
        audio: bool,
        frame_skip: int,
        max_episode_steps: int | None,
    ) -> None:
        """Each remote of ``env`` holds ``slots`` of the environments."""
        for index in range(env.n):
            each = env.described(index) or described
            if slots > (each.slots or 1):
                raise TooFewSlots(slots, each)
        self._env = env
        self._described = described
        self._answers = answers
        self._frames = frame_skip
        self._patience_s = STEP_S + FRAME_S * (frame_skip - 1)
        self._max_episode_steps = max_episode_steps
        self._log: RunLog | None = None
        width, height = described.size
        self._screen = height, width, 3
        self._box = described.box
        left, top, across, down = self._box
        if options.crop is not None:
            x, y, w, h = options.crop
            if x < left or y < top or x + w > left + across or y + h > top + down:
                raise ConfigurationError(f"crop is {options.crop}; in lockstep it must be within {self._box}")
        self._whole = down, across, 3
        # What comes is what is asked for, in an array of its own: a copy would cost as much as sending it.
        same = options.crop in (None, self._box) and options.size in (None, (down, across)) and not options.grey
        self.pictures: Pictures = Pictures(options, self._box, ready=same or not whole_screens, origin=(left, top))
        self._shape = self.pictures.shape if self.pictures.ready else self._whole
        # What remotes send whole is made here as it comes. They would have more to send of what is larger than theirs.
        self._made_here = None if same or whole_screens else Pictures(options, self._box, origin=(left, top))
        self._view: View | None = None
        if self._made_here and prod(self._shape) < prod(self._whole) and max(self._whole) <= MAX_VIEW_SIDE:
            x, y, w, h = self.pictures.box
            self._view = View((x - left, y - top, w, h), options.size, options.grey)
        self._view = replace(self._view or View(), audio=audio, changes=True)
        blank = Result(np.zeros(self._shape, np.uint8))
        self.games: list[_Copy] = [_Copy(index, *divmod(index, slots), blank) for index in range(env.n * slots)]
        # Those of the first remote, which others made of this one share.
        self._taken = set(range(slots))
        self._poll = select.poll()
        self._by_descriptor: dict[int, _Copy] = {}

    def beside(self, n: int, answers: Answers) -> Lockstep:
        """Return one of ``n`` environments in slots of the first remote that are free; raise TooFewSlots."""
        free = [slot for slot in range(self._described.slots or 1) if slot not in self._taken]
        if len(free) < n:
            raise TooFewSlots(n, self._described, len(self._taken))
        beside = copied(self)
        beside._answers, beside._log = answers, None
        beside._poll, beside._by_descriptor = select.poll(), {}
        blank = Result(np.zeros(self._shape, np.uint8))
        beside.games = [_Copy(index, 0, slot, blank) for index, slot in enumerate(free[:n])]
        self._taken.update(free[:n])
        return beside

    @property
    def exact(self) -> bool:
        return self._described.lockstep == "exact"

    def screen(self, index: int) -> Pixels:
        """Return the last answer's; black around the picture."""
        if self._made_here is not None:
            raise Misuse("no whole screens; in lockstep pass whole_screens or a render_mode")
        picture = self.games[index].result.picture
        if picture.shape == self._screen:
            return picture
        left, top, width, height = self._box
        screen = np.zeros(self._screen, np.uint8)
        screen[top : top + height, left : left + width] = picture
        return screen

    def tree(self, index: int) -> TreeReply:
        """Return what is on the picture of a slot; see ``VectorEnv.tree``."""
        copy = self.games[index]
        step_channel = copy.step_channel
        if copy.phase is not Phase.READY or step_channel is None:
            raise Misuse(f"no episode of environment {index} is running; a tree needs one")
        copy.replies.clear()
        step_channel.tree(copy.episode_id)
        reply = self._reply(copy, step_channel, "send a tree")
        if not isinstance(reply, TreeReply):
            raise RemoteFailed(copy.fault)
        return reply

    def begin(self, index: int, seed: int | None, *, join: bool) -> None:
        self._begin(self.games[index], seed, join=join)

    def choose(self, index: int, env_id: str | None, options: Mapping[str, Any] | None) -> None:
        """Have the next episode of a slot, and those after it, be of another environment, or with other options."""
        self.games[index].chosen = env_id, options

    def expect(self, index: int, seed: int) -> None:
        copy = self.games[index]
        copy.phase, copy.seed = Phase.RESETTING, seed

    def act(self, events: Mapping[int, Sequence[Event]]) -> None:
        for index, each in events.items():
            copy = self.games[index]
            copy.events = each
            if copy.seed is not None and copy.result.elapsed < MAX_TRAIL_STEPS:
                copy.trail = copy.trail, each
            else:
                copy.seed = copy.trail = None
            self._step(copy, copy.result.elapsed + 1, each)

    def look(self, timeout_s: float) -> None:
        answers, games = self._answers, self.games
        waiting = [games[index] for index in answers.waiting]
        resetting = [copy for copy in waiting if copy.phase is Phase.RESETTING]
        if resetting:
            timeout_s = self._look_for_episodes(resetting, timeout_s, alone=len(resetting) == len(waiting))
            waiting = [games[index] for index in answers.waiting if games[index].phase is Phase.STEPPING]
        now = time.monotonic()
        for copy in waiting:
            timeout_s = min(timeout_s, max(0.0, copy.patience_until - now))
        arrived = self._poll.poll(1000 * timeout_s)
        try:
            for descriptor, _ in arrived:
                self._take_arrived(self._by_descriptor[descriptor])
            for copy in waiting:
                if copy.index in answers.waiting:
                    self._check_stepping(copy)
        except BaseException as error:
            answers.whole.note(error)
            raise

    def forget(self) -> None:
        # A message may have been read or sent in part.
        self._poll = select.poll()
        self._by_descriptor.clear()
        for copy in self.games:
            if copy.step_channel is not None:
                copy.step_channel.close()
            copy.phase, copy.step_channel, copy.first, copy.asked = Phase.NEW, None, None, None

    def close(self) -> None:
        for copy in self.games:
            if copy.step_channel is not None:
                copy.step_channel.close()
            if not copy.remote:
                self._taken.discard(copy.slot)
        if self._log is not None:
            self._log.close()

    # ── going back ──────────────────────────────────────────────────────────────────────────────────────────────────

    def record(self, log: RunLog) -> None:
        """Write what is needed to play all episodes from now on again; the log is closed with this."""
        self._log = log

    def snapshot(self, index: int, encoder: ActionEncoder, name: str | None = None) -> Snapshot:
        """Return the present moment of an environment that is ready, with what its agent holds."""
        copy = self.games[index]
        seed, trail, result = copy.seed, copy.trail, copy.result
        kept = self._ask_to_keep(copy, name)
        if kept is None and name is not None:
            raise Misuse(f"the remote of environment {index} can't keep this moment, so it can't have a name")
        if kept is None and seed is None:
            raise Misuse(f"environment {index} can't take a snapshot: {UNREPEATABLE}; reset with a seed")
        seen, shown = checksum(self.pictures.make(result.picture)), self.pictures.options
        result = result._replace(vision=None)
        return Snapshot(self._described.env_id, self._frames, seed, trail, result, seen, shown, encoder, kept)

    def named(self, index: int, name: str, encoder: ActionEncoder) -> Snapshot:
        """Return the snapshot of a name, which the remote of an environment that has an episode may have."""
        step_channel = self.games[index].step_channel
        if step_channel is None:
            raise Misuse(f"environment {index} has no episode yet; reset it first")
        kept, result = Kept(step_channel, name), Result()
        return Snapshot(self._described.env_id, self._frames, None, None, result, 0, None, encoder, kept)

    def release(self, index: int, name: str) -> None:
        """Have the remote keep the snapshot of a name no more."""
        copy = self.games[index]
        if copy.step_channel is None:
            raise Misuse(f"environment {index} has no episode yet; reset it first")
        copy.step_channel.unwanted.append(name)
        # It is dropped as another is taken.
        self._ask_to_keep(copy)

    def require_restorable(self, snapshot: Snapshot) -> None:
        """Check that a snapshot is of such an environment, and can be recorded if this is."""
        mine = self._described.env_id, self._frames
        if mine != (snapshot.env_id, snapshot.frame_skip):
            raise ConfigurationError(
                f"the snapshot is of {snapshot.env_id} with frame_skip={snapshot.frame_skip}, and this is {mine[0]} "
                f"with frame_skip={mine[1]}"
            )
        if self._log is not None and snapshot.seed is None:
            raise Misuse(f"the snapshot can't be recorded: {UNREPEATABLE}")

    def restore(self, index: int, snapshot: Snapshot) -> None:
        """Ask to go on from a snapshot; the answer is the moment's frame, or ``lost``."""
        copy = self.games[index]
        native = copy.kept_of(snapshot) is not None
        runs = copy.phase is Phase.READY or (copy.phase is Phase.ENDED and not copy.remote_ended)
        if native and runs:
            copy.restoring, copy.retried = snapshot, False
            self._go_back(copy, snapshot)
        else:
            self._begin_again(copy, snapshot, join=native and snapshot.seed is None)

    def _ask_to_keep(self, copy: _Copy, name: str | None = None) -> Kept | None:
        """Return what the remote keeps of the present moment, if it does."""
        step_channel = copy.step_channel
        if step_channel is None:
            return None
        copy.replies.clear()
        step_channel.snapshot(copy.episode_id, name)
        reply = self._reply(copy, step_channel, "take a snapshot")
        if isinstance(reply, SnapshotReply) and reply.handle is not None:
            return Kept(step_channel, reply.handle)
        # It keeps none, or is lost, which the next step reports.
        return None

    def _reply(self, copy: _Copy, step_channel: StepChannelConnection, what: str) -> _Reply | None:
        """Return the answer to what was asked for outside of the episode's time; None: the remote is lost."""
        poll = select.poll()
        poll.register(step_channel, select.POLLIN)
        deadline = time.monotonic() + STEP_S
        while not copy.replies and copy.step_channel is not None:
            if not poll.poll(max(0.0, 1000 * (deadline - time.monotonic()))):
                step_channel.fail(f"it did not {what} within {STEP_S:g} s")
            self._take_arrived(copy)
        for reply in copy.replies:
            if isinstance(reply, ErrorReply):
                raise Misuse(f"the remote of environment {copy.index} can't {what}: {reply.message}")
            return reply
        return None

    def _begin_again(self, copy: _Copy, snapshot: Snapshot, *, join: bool = False, retried: bool = False) -> None:
        """Begin the episode of a snapshot, or where the remote keeps that any, which may be ``join``ed."""
        self._begin(copy, snapshot.seed, join=join, restoring=snapshot, retried=retried)

    def _go_back(self, copy: _Copy, snapshot: Snapshot, first: Result | None = None) -> None:
        """Ask for a snapshot that the remote keeps; else play the episode that began with ``first``, or another."""
        kept = None if copy.retried else copy.kept_of(snapshot)
        if kept is not None and copy.step_channel is not None:
            copy.phase = Phase.STEPPING
            copy.patience_until = time.monotonic() + self._patience_s
            copy.step_channel.restore(kept.handle, copy.episode_id)
            self._drop_broken(copy, copy.step_channel)
        elif snapshot.seed is None:
            copy.retried = True
            self._lose(copy, f"the remote of the snapshot is gone; {UNREPEATABLE}")
        elif first is None or copy.seed != snapshot.seed:
            self._begin_again(copy, snapshot, retried=copy.retried)
        else:
            copy.again = steps_of(snapshot.trail)
            self._play_on(copy, snapshot, first)

    def _play_on(self, copy: _Copy, snapshot: Snapshot, result: Result) -> None:
        """Take the next step of those that are played again, or be there."""
        left = copy.again or []
        if result.done:
            copy.retried = True
            self._lose(copy, f"the replay ended {len(left)} steps before the snapshot: the program isn't exact")
            return
        self._answers.heard_at = time.monotonic()
        if left:
            self._step(copy, snapshot.elapsed - len(left) + 1, left.pop())
        else:
            self._arrive(copy, snapshot, result)

    def _arrive(self, copy: _Copy, snapshot: Snapshot, result: Result) -> None:
        alike = snapshot.pictures == self.pictures.options
        if alike and checksum(self.pictures.make(result.picture)) != snapshot.seen:
            copy.retried = True
            self._lose(copy, f"after {snapshot.elapsed} steps its picture differs: the program isn't exact")
            return
        copy.phase, copy.seed, copy.trail = Phase.READY, snapshot.seed, snapshot.trail
        copy.restoring = copy.again = None
        self._answer(copy, snapshot.result._replace(vision=result.vision, reward=0.0, episode_id=copy.episode_id))
        self._log_begin(copy)

    # ── episodes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(
        self,
        copy: _Copy,
        seed: int | None,
        *,
        join: bool,
        restoring: Snapshot | None = None,
        retried: bool = False,
    ) -> None:
        # Of an episode that is joined the seed isn't known, which records need.
        join = join and self._log is None
        joins = join and copy.phase is Phase.ENDED and copy.remote_ended and copy.step_channel is not None
        if not joins:
            # Drawn here, so that it can be played again.
            seed = secrets.randbits(DRAWN_SEED_BITS) if seed is None else seed
            if not copy.slot:
                self._env.reset_one(copy.remote, seed=seed)
        # The remote has begun the next one already.
        copy.granted = copy.episode_id + 1 if joins else None
        copy.phase, copy.wanted = Phase.RESETTING, None
        copy.seed = None if joins else seed
        copy.trail, copy.restoring, copy.again, copy.retried = None, restoring, None, retried
        if copy.slot and copy.step_channel is not None:
            self._ask_slot(copy, copy.step_channel)

    def _look_for_episodes(self, resetting: Sequence[_Copy], timeout_s: float, *, alone: bool) -> float:
        """See whether episodes have begun; return for how long to wait for step channels, of ``timeout_s``.

        ``alone``: no other environment is waited for.
        """
        ready = len(self._answers.ready)
        asked = [copy.remote for copy in resetting if not copy.slot and copy.granted is None]
        all_asked = alone and len(asked) == len(resetting)
        if asked:
            # Their rewarder connections wake who waits, which step channels don't.
            self._env.changed(asked, min(timeout_s, LOOK_S) if all_asked else 0.0)
        with self._answers.whole:
            for copy in resetting:
                self._look_for_episode(copy)
        if len(self._answers.ready) > ready or all_asked:
            return 0.0
        if asked or any(copy.step_channel is None for copy in resetting):
            return min(timeout_s, LOOK_S)
        return timeout_s

    def _look_for_episode(self, copy: _Copy) -> None:
        """See whether the remote has granted the episode that was asked for, and has a step channel."""
        if copy.slot:
            self._look_for_slot(copy)
            return
        if copy.granted is None:
            look = self._env.poll([copy.remote])[copy.remote]
            if wanted := look.info.get("env_status.reset.episode_id"):
                copy.wanted = int(wanted)
            if look.masked_observation or look.episode_id is None:
                self._env.require_usable(copy.remote)
                return
            copy.granted = look.episode_id
        if copy.step_channel is None and not self._open_step_channel(copy):
            # The remote has just been lost, which the next look notices, or begins another episode.
            copy.granted = None
            return
        self._take_arrived(copy)
        if copy.step_channel is None:
            copy.granted = None
        elif copy.first is not None and (copy.first.episode_id or 0) >= copy.granted:
            if copy.wanted in (None, copy.first.episode_id) or copy.seed is None:
                self._first(copy, copy.first)
            else:
                # It has ended before its first frame came, and the remote has begun another, of another seed.
                self._begin(copy, copy.seed, join=False, restoring=copy.restoring, retried=copy.retried)

    def _look_for_slot(self, copy: _Copy) -> None:
        """See whether a slot is free, and has begun its episode."""
        if copy.step_channel is None and not self._open_step_channel(copy):
            # One that is lost is replaced as it is looked at.
            self._env.poll([copy.remote])
            self._env.require_usable(copy.remote)
            return
        if copy.step_channel is not None and copy.asked is None:
            self._ask_slot(copy, copy.step_channel)
        self._take_arrived(copy)

    def _ask_slot(self, copy: _Copy, step_channel: StepChannelConnection) -> None:
        kept = copy.kept_of(copy.restoring) if copy.restoring is not None and not copy.retried else None
        # A slot without an episode begins one at a moment, too.
        is_new = kept is not None and not copy.episode_id
        copy.asked = (
            step_channel.restore(kept.handle) if kept and is_new else step_channel.begin(copy.seed, *copy.chosen)
        )
        self._drop_broken(copy, step_channel)

    def _open_step_channel(self, copy: _Copy) -> bool:
        """Connect to where steps are taken; return False if the remote has none at the moment."""
        try:
            step_channel = self._env.open_step_channel(copy.remote, copy.slot, self._view)
        except RemoteUnavailable:
            return False
        copy.step_channel = step_channel
        self._poll.register(step_channel, select.POLLIN)
        self._by_descriptor[step_channel.fileno()] = copy
        return True

    def _drop_broken(self, copy: _Copy, step_channel: StepChannelConnection) -> None:
        if step_channel.error is not None and copy.step_channel is step_channel:
            copy.fault = str(step_channel.error)
            self._poll.unregister(step_channel)
            del self._by_descriptor[step_channel.fileno()]
            step_channel.close()
            copy.step_channel = copy.first = copy.asked = None
            if copy.phase is Phase.RESETTING and isinstance(step_channel.error, RemoteMisbehaved):
                raise step_channel.error

    # ── steps ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _step(self, copy: _Copy, n: int, events: Sequence[Event]) -> None:
        copy.phase = Phase.STEPPING
        copy.patience_until = time.monotonic() + self._patience_s
        # A remote that was lost while the agent was thinking is noticed in a moment.
        if copy.step_channel is not None:
            copy.step_channel.step(n, events, self._frames, copy.episode_id)
            self._drop_broken(copy, copy.step_channel)

    def _check_stepping(self, copy: _Copy) -> None:
        """Give a step up whose step channel has broken, or that takes too long."""
        if copy.step_channel is not None and time.monotonic() >= copy.patience_until:
            copy.step_channel.fail(f"no answer to a step within {self._patience_s:g} s")
            self._drop_broken(copy, copy.step_channel)
        if copy.step_channel is None:
            self._lose(copy, copy.fault)

    def _take_arrived(self, copy: _Copy) -> None:
        step_channel = copy.step_channel
        if step_channel is None:
            return
        for message, result, parent in step_channel.take():
            if result.vision is not None:
                shape = result.vision.shape
                if shape == self._whole and self._made_here is not None:
                    result = result._replace(vision=self._made_here.make(result.vision))  # noqa: PLW2901
                elif shape != self._shape:
                    step_channel.fail(f"its picture is {shape}, expected {self._shape}", RemoteMisbehaved)
                    break
            # Messages of an abandoned episode are dropped.
            awaited = copy.phase is Phase.STEPPING and result.episode_id == copy.episode_id
            begins = copy.phase is Phase.RESETTING and parent == copy.asked
            match message:
                case FirstFrame() if not copy.slot:
                    copy.first = result
                case FirstFrame() if begins:
                    self._first(copy, result)
                case RestoreReply() if begins and copy.restoring is not None:
                    copy.episode_id = result.episode_id or 0
                    self._arrive(copy, copy.restoring, result)
                case ErrorReply(why) if begins and copy.restoring is not None and not copy.retried:
                    self._lose(copy, f"the snapshot was refused: {why}")
                case ErrorReply(why) if begins and copy.chosen != (None, None):
                    copy.chosen, copy.asked, copy.phase = (None, None), None, Phase.NEW
                    del self._answers.waiting[copy.index]
                    raise ConfigurationError(f"the remote refused it: {why}")
                case ErrorReply(why) if begins:
                    step_channel.fail(f"no episode began: {why}")
                case StepReply() if awaited:
                    self._stepped(copy, result)
                case RestoreReply() if awaited and copy.restoring is not None:
                    self._arrive(copy, copy.restoring, result)
                case ErrorReply(why) if awaited:
                    self._lose(copy, f"the step was refused: {why}")
                case SnapshotReply() | TreeReply() | ErrorReply() if copy.phase is Phase.READY:
                    copy.replies.append(message)
                case _:
                    pass
        self._drop_broken(copy, step_channel)

    def _first(self, copy: _Copy, first: Result) -> None:
        assert first.episode_id is not None
        copy.phase, copy.episode_id, copy.granted, copy.first = Phase.READY, first.episode_id, None, None
        copy.chosen = None, None
        if copy.restoring is not None:
            self._go_back(copy, copy.restoring, first)
        else:
            self._answer(copy, first)
            self._log_begin(copy)

    def _stepped(self, copy: _Copy, reply: Result) -> None:
        if copy.restoring is not None:
            self._play_on(copy, copy.restoring, reply)
            return
        result = copy.result.following().merged(reply)
        stopped = not reply.done and result.elapsed == self._max_episode_steps
        copy.phase = Phase.ENDED if reply.done or stopped else Phase.READY
        copy.remote_ended = reply.done
        self._answer(copy, result._replace(truncated=True) if stopped else result)
        if self._log is not None:
            self._log.step(copy.index, copy.events, self._shown(copy))

    def _lose(self, copy: _Copy, why: str) -> None:
        """Answer a step whose remote is lost: its episode is truncated. The next reset waits until it is back."""
        if copy.restoring is not None and not copy.retried and copy.restoring.seed is not None:
            # Another remote can play it again; so can this one, if it keeps it no more.
            self._begin_again(copy, copy.restoring, retried=True)
            return
        copy.restoring = copy.again = None
        copy.phase, copy.remote_ended = Phase.ENDED, False
        lost = {"done": True, "truncated": True, "error": why, "episode_id": copy.episode_id}
        self._answer(copy, copy.result.following()._replace(**lost))

    def _answer(self, copy: _Copy, result: Result) -> None:
        copy.result = result
        del self._answers.waiting[copy.index]
        self._answers.ready.append(copy.index)

    def _log_begin(self, copy: _Copy) -> None:
        if self._log is not None and copy.seed is not None:
            self._log.begin(copy.index, copy.seed, reversed(steps_of(copy.trail)), self._shown(copy))

    def _shown(self, copy: _Copy) -> Result:
        """Return the last answer with the picture that was asked for, also where whole screens come."""
        return copy.result._replace(vision=self.pictures.make(copy.result.picture))
