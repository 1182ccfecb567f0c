"""The core in lockstep, with what only a program that is exact can do: play again, go back, and be recorded."""

from __future__ import annotations

import copy
import os
import select
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pluriverse_protocol.events import Event
from pluriverse_protocol.messages import ErrorReply, RestoreReply, ServerMessage, SnapshotReply

from pluriverse.errors import ConfigurationError, Misuse, RemoteFailed
from pluriverse.remotes import RemoteManager
from pluriverse.rewarder.result import Result

from .core import Core
from .lockstep import STEP_S, Game, LockstepCore
from .player import Phase, require_ready
from .run_log import RunHeader, RunLog
from .snapshots import Kept, Snapshot, Trail, fingerprint, steps_of

# An episode of more steps can't be played again: nearly twice those of Atari's longest, and some 40 MB of events.
MAX_TRAIL_STEPS: Final = 200_000

UNREPEATABLE: Final = f"its episode was joined, or is longer than {MAX_TRAIL_STEPS} steps, and can't be played again"


@dataclass(slots=True)
class _Past:
    """What the present episode of an environment was made of, and what it goes back to."""

    # The events of its steps, where its seed is known, and those of the last.
    trail: Trail = None
    events: Sequence[Event] = ()
    # The snapshot that is gone back to, the steps yet to be played again for it, and whether that has failed once.
    restoring: Snapshot | None = None
    again: list[Sequence[Event]] | None = None
    retried: bool = False
    # The answer to a snapshot that was asked for.
    answers: list[SnapshotReply | ErrorReply] = field(default_factory=list[SnapshotReply | ErrorReply])


class RepeatableCore(LockstepCore):
    """A core in lockstep whose episodes are played again, and gone back in, where the remote is exact."""

    def __init__(
        self,
        env_id: str | None,
        remotes: int | str | RemoteManager = 1,
        *,
        record: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> None:
        """See ``LockstepCore``. ``record``: a new file for what is needed to play the run again, and to compare it."""
        self._log: RunLog | None = None
        super().__init__(env_id, remotes, **options)
        self._pasts = [_Past() for _ in range(self.n)]
        if record is None:
            return
        try:
            self.require_exact("recorded as actions")
            shown, described = self.pictures.options, self.described
            values = dict(options.get("env_options") or {})
            made = described.env_id, described.runtime_version, self._frames, described.fps
            self._log = RunLog(record, RunHeader(*made, values, shown.crop, shown.size, shown.grey))
        except BaseException:
            self.close()
            raise

    def require_exact(self, how: str) -> None:
        """Check that the same actions give the same frames; ``how`` is what can't be done otherwise."""
        if not self.exact:
            raise ConfigurationError(f"{self.described.env_id} isn't exact in lockstep here, and can't be {how}")

    def replay(self, index: int, actions: Iterable[Any], seed: int) -> Iterator[Result]:
        """Play an episode again from its start; yield its first answer, and that of each action until it is over."""
        self.require_exact("played again")
        return self._replay(index, actions, seed)

    def snapshot(self, index: int) -> Snapshot:
        """Return the present moment of an environment, for ``restore``."""
        self.require_whole()
        self.require_exact("gone back to")
        require_ready(self.phase(index), index)
        if index in self._ready:
            raise Misuse(f"environment {index} has answered; receive that before a snapshot")
        seed, result = self._games[index].seed, self._results[index]
        kept = self._ask_to_keep(index)
        if kept is None and seed is None:
            raise Misuse(f"environment {index} keeps no snapshot: {UNREPEATABLE}; reset with a seed")
        seen, result = fingerprint(self.picture(index)), result._replace(vision=None)
        encoder = copy.deepcopy(self._encoders[index])
        shown, trail = self.pictures.options, self._pasts[index].trail
        return Snapshot(self.described.env_id, self._frames, seed, trail, result, seen, shown, encoder, kept)

    def restore(self, index: int, snapshot: Snapshot) -> None:
        """Ask to go on from a snapshot, of this core or another; the answer is the moment's frame, and earns nothing.

        Where its remote doesn't keep it, or is another, the steps of the episode are played again. An answer that is
        ``lost`` says in its info why that came to something else.
        """
        self.require_whole()
        self.require_exact("gone back to")
        mine = self.described.env_id, self._frames
        if mine != (snapshot.env_id, snapshot.frame_skip):
            raise ConfigurationError(
                f"the snapshot is of {snapshot.env_id} with frame_skip={snapshot.frame_skip}, and this is {mine[0]} "
                f"with frame_skip={mine[1]}"
            )
        if self._log is not None and snapshot.seed is None:
            raise Misuse(f"the snapshot can't be recorded: {UNREPEATABLE}")
        if index in self._waiting or index in self._ready:
            raise Misuse(f"environment {index} has yet to answer; receive that before it goes back")
        game, past = self._games[index], self._pasts[index]
        native = _usable(snapshot, game) is not None
        runs = game.phase is Phase.READY or (game.phase is Phase.ENDED and not game.remote_ended)
        with self.whole:
            self._waiting[index] = None
            if native and runs:
                past.restoring, past.retried = snapshot, False
                self._go_back(index, past, snapshot)
            else:
                self._begin_again(index, snapshot, join=native)
            self.owes = True

    def restore_all(self, snapshots: Sequence[Snapshot]) -> None:
        """Take the first environments to a snapshot each, and wait until all are there."""
        for index, snapshot in enumerate(snapshots):
            self.restore(index, snapshot)
        self.receive(len(snapshots))
        for index in range(len(snapshots)):
            if self.result(index).lost:
                raise RemoteFailed(f"environment {index} did not go back: {self.result(index).error}")

    def close(self) -> None:
        """Disconnect, and remove the remotes that were started; may be called repeatedly."""
        if self._log is not None:
            self._log.close()
        super().close()

    # ── episodes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, index: int, seed: int | None, *, join: bool) -> None:
        # Of an episode that is joined the seed isn't known, which records need.
        super()._begin(index, seed, join=join and self._log is None)
        self._pasts[index] = _Past()

    def _act(self, events: Mapping[int, Sequence[Event]]) -> None:
        for index, each in events.items():
            game, past = self._games[index], self._pasts[index]
            past.events = each
            if game.seed is not None and self._results[index].elapsed < MAX_TRAIL_STEPS:
                past.trail = past.trail, each
            else:
                game.seed = past.trail = None
        super()._act(events)

    def _begun(self, index: int, first: Result) -> None:
        past, seed = self._pasts[index], self._games[index].seed
        if past.restoring is not None:
            self._go_back(index, past, past.restoring, first)
            return
        super()._begun(index, first)
        if self._log is not None and seed is not None:
            self._log.begin(index, seed, (), self._shown(index))

    def _stepped(self, index: int, reply: Result) -> None:
        past = self._pasts[index]
        if past.restoring is not None:
            self._played_again(index, past, past.restoring, reply)
            return
        super()._stepped(index, reply)
        if self._log is not None:
            self._log.step(index, past.events, self._shown(index))

    def _heard(self, index: int, message: ServerMessage, result: Result, *, awaited: bool) -> None:
        past = self._pasts[index]
        match message:
            case RestoreReply() if awaited and past.restoring is not None:
                self._arrive(index, past, past.restoring, result)
            case SnapshotReply() | ErrorReply() if self.phase(index) is Phase.READY:
                past.answers.append(message)
            case _:
                pass

    def _lose(self, index: int, why: str) -> None:
        past = self._pasts[index]
        if past.restoring is not None and not past.retried:
            # Another remote can play it again; so can this one, if it keeps it no more.
            self._begin_again(index, past.restoring, retried=True)
            return
        past.restoring = past.again = None
        super()._lose(index, why)

    def _shown(self, index: int) -> Result:
        """Return the last answer with the picture that was asked for, also where whole screens come."""
        return self._results[index]._replace(vision=self.picture(index))

    # ── going back ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _replay(self, index: int, actions: Iterable[Any], seed: int) -> Iterator[Result]:
        self.reset(index, seed)
        self._wait_for(index)
        yield self.result(index)
        for action in actions:
            self.send({index: action})
            self._wait_for(index)
            yield self.result(index)
            if self.phase(index) is Phase.ENDED:
                return

    def _wait_for(self, index: int) -> None:
        """Receive the answer of one environment, where no other has been asked."""
        answered = self.receive(1)
        if answered != [index]:
            raise Misuse(f"environment {answered[0]} has answered; receive from all others before a replay")

    def _ask_to_keep(self, index: int) -> Kept | None:
        """Return what the remote keeps of the present moment, if it does."""
        game, answers = self._games[index], self._pasts[index].answers
        lane = game.lane
        if lane is None:
            return None
        answers.clear()
        lane.snapshot(game.episode_id)
        poll = select.poll()
        poll.register(lane, select.POLLIN)
        deadline = time.monotonic() + STEP_S
        while not answers and game.lane is not None:
            if not poll.poll(max(0.0, 1000 * (deadline - time.monotonic()))):
                lane.fail(f"no answer to a snapshot within {STEP_S:g} s")
            self._take_arrived(index)
        for answer in answers:
            if isinstance(answer, ErrorReply):
                raise Misuse(f"the remote of environment {index} keeps no snapshot: {answer.message}")
            if answer.handle is not None:
                return Kept(lane, answer.handle)
        # It keeps none, or is lost, which the next step says.
        return None

    def _begin_again(self, index: int, snapshot: Snapshot, *, join: bool = False, retried: bool = False) -> None:
        """Begin the episode of a snapshot, or where the remote keeps that any, which may be ``join``ed."""
        self._begin(index, snapshot.seed, join=join)
        past = self._pasts[index]
        past.restoring, past.retried = snapshot, retried

    def _go_back(self, index: int, past: _Past, snapshot: Snapshot, first: Result | None = None) -> None:
        """Ask for a snapshot that the remote keeps; else play the episode that began with ``first``, or another."""
        game = self._games[index]
        kept = None if past.retried else _usable(snapshot, game)
        if kept is not None:
            game.phase = Phase.STEPPING
            game.patience_until = time.monotonic() + self._patience_s
            kept.lane.restore(kept.handle, game.episode_id)
            self._drop_broken(index, kept.lane)
        elif snapshot.seed is None:
            past.retried = True
            self._lose(index, f"the remote of the snapshot is gone; {UNREPEATABLE}")
        elif first is None or game.seed != snapshot.seed:
            self._begin_again(index, snapshot, retried=past.retried)
        else:
            past.again = steps_of(snapshot.trail)
            self._play_on(index, past, snapshot, first)

    def _play_on(self, index: int, past: _Past, snapshot: Snapshot, result: Result) -> None:
        assert past.again is not None
        self._heard_at = time.monotonic()
        if past.again:
            self._step(index, self._games[index], snapshot.elapsed - len(past.again) + 1, past.again.pop())
        else:
            self._arrive(index, past, snapshot, result)

    def _played_again(self, index: int, past: _Past, snapshot: Snapshot, reply: Result) -> None:
        if reply.done:
            past.retried = True
            left = len(past.again or ())
            self._lose(index, f"played again it ended {left} steps before the snapshot: the program isn't exact")
        else:
            self._play_on(index, past, snapshot, reply)

    def _arrive(self, index: int, past: _Past, snapshot: Snapshot, result: Result) -> None:
        alike = snapshot.pictures == self.pictures.options
        if alike and fingerprint(self.pictures.make(result.picture)) != snapshot.seen:
            past.retried = True
            self._lose(index, f"after {snapshot.elapsed} steps its picture is another: the program isn't exact")
            return
        game = self._games[index]
        game.phase, game.seed, past.trail = Phase.READY, snapshot.seed, snapshot.trail
        past.restoring = past.again = None
        self._encoders[index] = copy.deepcopy(snapshot.encoder)
        self._answer(index, snapshot.result._replace(vision=result.vision, reward=0.0, episode_id=game.episode_id))
        if self._log is not None and game.seed is not None:
            self._log.begin(index, game.seed, reversed(steps_of(past.trail)), self._shown(index))


def lockstep_of(core: Core) -> RepeatableCore:
    if not isinstance(core, RepeatableCore):
        raise ConfigurationError('in real time nothing can be repeated; make the environment with clock="lockstep"')
    return core


def _usable(snapshot: Snapshot, game: Game) -> Kept | None:
    """Return what the remote of a game keeps of a snapshot."""
    return snapshot.kept if snapshot.kept is not None and snapshot.kept.lane is game.lane else None
