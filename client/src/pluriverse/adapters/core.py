"""The core of all interfaces: acts on some environments, and waits for the first ones to answer."""

from __future__ import annotations

import copy
import math
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Literal, Self

from pluriverse_protocol import sound
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import Event
from pluriverse_protocol.kinds import CLOCKS
from pluriverse_protocol.limits import DRAWN_SEED_BITS, MAX_SLOTS, MAX_SNAPSHOT_NAME_CHARS, MAX_STEP_FRAMES
from pluriverse_protocol.messages import Describe, TreeReply

import pluriverse
from pluriverse import validation
from pluriverse.env.connections import Clock
from pluriverse.env.vector import ConfigureOptions, VectorEnv
from pluriverse.errors import Closed, ConfigurationError, Misuse, RemoteFailed, ResetNeeded, UnknownOption, did_you_mean
from pluriverse.remotes import RemoteManager, waiting
from pluriverse.rewarder.result import Result
from pluriverse.rfb.picture import PictureSpec
from pluriverse.vnc import VncOptions

from .actions import KINDS, ActionMap, Kind
from .backend import Answers, Backend, Phase, Whole, require_ready
from .lockstep import Lockstep
from .pictures import PictureOptions, Pictures, Pixels
from .real_time import LOOK_S, RealTime
from .run_log import RunHeader, RunLog
from .snapshots import Snapshot

# A remote that broke is replaced within seconds, or a minute on a slow machine; longer, and it won't come.
RECEIVE_S: Final = 120.0


class Core:
    """``n`` copies of one environment, each with its own episodes and steps.

    ``reset`` and ``send`` ask some of them; ``receive`` waits until a number of them have answered, whichever they
    are; ``result`` is the last answer of one.

    In real time, a step is answered by the newest frame that the agent has not seen: at once if it came while the agent
    was thinking, else when it comes. The environments never stop meanwhile. In lockstep they stand still between two
    steps; a step is ``frame_skip`` frames of the environment's own time, and answered when they are drawn and rewarded.

    A wait that an exception interrupts, such as that of Ctrl-C, loses nothing: what is waited for still comes. What is
    interrupted elsewhere is known of no environment any more, and all need a ``reset``.
    """

    def __init__(
        self,
        env_id: str | None,
        remotes: int | str | RemoteManager = 1,
        *,
        clock: Clock | None = "realtime",
        slots: int | None = None,
        record: str | os.PathLike[str] | None = None,
        actions: Kind | Literal["auto"] = "auto",
        pictures: PictureOptions | None = None,
        frame_skip: int = 1,
        max_episode_steps: int | None = None,
        fps: float | None = None,
        whole_screens: bool = False,
        audio: bool = False,
        begins: bool = True,
        **options: Any,
    ) -> None:
        """Start or find the remotes, and wait for an episode; the options are those of ``pluriverse.make``.

        ``clock`` None: lockstep where there is one. ``slots``: how many of the environments each remote holds, in
        lockstep; None: one. ``record``: a new file for what is needed to play a run in lockstep again, and to compare
        it. ``whole_screens``: keep the screens in full size and colour, as rendering every step needs. Otherwise the
        VNC driver makes the pictures, and doesn't decode what they don't show; in lockstep remotes make them, if they
        can. ``audio``: what is played in each step comes with it. ``begins`` False: wait for the one that the remote
        has begun itself, if that is of this environment; ``change`` begins the first.
        """
        if clock is not None:
            validation.choice("clock", clock, CLOCKS)
        slots = 1 if slots is None else validation.integer("slots", slots, 1, MAX_SLOTS)
        if clock == "realtime" and record is not None:
            raise ConfigurationError('record needs clock="lockstep"; in real time use pluriverse-server record')
        if clock == "realtime" and slots != 1:
            raise ConfigurationError("in real time a remote holds one environment; slots need clock='lockstep'")
        frame_skip = validation.integer("frame_skip", frame_skip, 1, MAX_STEP_FRAMES)
        if max_episode_steps is not None:
            max_episode_steps = validation.integer("max_episode_steps", max_episode_steps, 1)
        validation.choice("actions", actions, ("auto", *KINDS))
        whole_screens = validation.flag("whole_screens", whole_screens)
        audio = validation.flag("audio", audio)
        begins = validation.flag("begins", begins)
        pictures = PictureOptions() if pictures is None else validation.instance("pictures", pictures, PictureOptions)
        given = options.pop("vnc", None)
        vnc = VncOptions() if given is None else validation.instance("vnc", given, VncOptions)
        for name in options.keys() - ConfigureOptions.__annotations__.keys():
            known = [
                *ConfigureOptions.__annotations__,
                *(Core.__init__.__kwdefaults__ or ()),
                "remotes",
                "size",
                "grey",
                "crop",
            ]
            raise UnknownOption(f"unexpected keyword argument {name!r}{did_you_mean(name, dict.fromkeys(known))}")
        if not validation.flag("vision", options.pop("vision", True)) or vnc.picture != PictureSpec():
            raise ConfigurationError(
                "the interfaces need the unchanged screen; for smaller or grey pictures pass size and grey"
            )
        self._beside: set[Core] = set()
        # Of one that is beside another, all those that are.
        self._among: set[Core] | None = None
        self.owes: bool = False
        """Whether the answers to the last call are still to be given, for those who ask and wait in one call."""
        self._answers = Answers()
        self.whole: Whole = self._answers.whole
        self._clock: Clock | None = clock
        self._asked = pictures, actions, vnc, slots
        self._made: dict[str, Any] = {
            "frame_skip": frame_skip,
            "max_episode_steps": max_episode_steps,
            "audio": audio,
            "whole_screens": whole_screens,
        }
        self.joins: bool = not begins and fps is None and record is None
        """Whether the episode that was waited for is one that the remote has begun itself, and can't be played."""
        # Screens are opened once it is known what the environment draws on.
        self.env: VectorEnv = pluriverse.make(
            env_id, remotes, fps=fps, vision=False, clock=clock or "lockstep", **options
        )
        try:
            with waiting(f"waiting for the first frame of {env_id or 'an episode'}"):
                self._adapt(self._join(clock) if self.joins else self._begin(None, None, clock, None))
            self._owner = self.env.owner
            self._records = record is not None
            if record is not None:
                described = self.described
                made = described.env_id, described.runtime_version, frame_skip, described.fps
                values = dict(options.get("env_options") or {})
                header = RunHeader(*made, values, pictures.crop, pictures.size, pictures.grey)
                self.require_exact("recorded as actions").record(RunLog(record, header))
        except BaseException:
            self.env.close()
            raise

    def _adapt(self, described: Describe) -> None:
        """Be what plays the environment of a description."""
        asked, actions, vnc, slots = self._asked
        audio, frame_skip = self._made["audio"], self._made["frame_skip"]
        self.described: Describe = described
        self.spaces: Spaces | None = described.spaces
        self.fps: float = described.fps
        self.audio_shape: tuple[int, int] | None = _audio_shape(described, frame_skip) if audio else None
        """The shape of what is played in a step: int16 (frames, 2), left and right; None: it wasn't asked for."""
        asked.require_within(*described.size)
        made = self.env, described, self._answers, asked
        if self.env.asked.clock == "lockstep":
            self._backend: Backend = Lockstep(*made, slots=slots, **self._made)
        else:
            self._backend = RealTime(*made, vnc=vnc, **self._made)
        self._games = self._backend.games
        self.pictures: Pictures = self._backend.pictures
        self.actions: ActionMap = ActionMap(self.spaces, self.pictures.box, actions)
        self._encoders = [self.actions.encoder() for _ in range(self.n)]

    @property
    def n(self) -> int:
        return len(self._games)

    @property
    def exact(self) -> bool:
        """Whether the same seed and actions give the same frames and rewards; described by the remote, in lockstep."""
        return self._backend.exact

    def phase(self, index: int) -> Phase:
        self._owner.require()
        return self._games[index].phase

    def result(self, index: int) -> Result:
        """Return the last answer."""
        if not self._owner.is_here:
            self._owner.require()
        return self._games[index].result

    def results(self) -> list[Result]:
        """Return the last answers of all."""
        self._owner.require()
        return [game.result for game in self._games]

    def ended(self) -> list[int]:
        """Return those whose episodes are over."""
        self._owner.require()
        return [index for index, game in enumerate(self._games) if game.phase is Phase.ENDED]

    def ignored(self, index: int) -> Sequence[str]:
        """Return the names of the keys of the last action that the environment doesn't use."""
        return self._encoders[index].ignored

    def picture(self, index: int) -> Pixels:
        """Return the picture of the last answer: uint8 of shape ``pictures.shape``."""
        return self.pictures.make(self.result(index).picture)

    def screen(self, index: int) -> Pixels:
        """Return the whole screen, uint8 RGB (height, width, 3): the last answer's if ``whole_screens``, else now.

        In lockstep it is black around the picture, and there is none without ``whole_screens``.
        """
        self._require()
        return self._backend.screen(index)

    def reset(self, index: int, seed: int | None = None, *, join: bool = False) -> None:
        """Ask for a new episode; the answer is its first frame. May be called at any time.

        ``join``: if the remote ended the last episode itself, take the one that it began then; ``seed`` must be None.
        """
        self._require()
        seed = validation.seed(seed)
        answers = self._answers
        if self.whole.broken:
            answers.clear()
            self._backend.forget()
            self.whole.broken = False
        with self.whole:
            if index in answers.ready:
                answers.ready.remove(index)
            self._encoders[index].forget()
            self._backend.begin(index, seed, join=join)
            answers.waiting[index] = None
            self.owes = True

    def change(
        self,
        env_id: str | None,
        env_options: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        seed: int | None = None,
        *,
        alike: bool = False,
    ) -> None:
        """Ask for an episode of another environment of the remote's runtime, as ``VectorEnv.ask`` has it; blocks.

        In a slot it has the spaces and pictures of the one before, whose description stays, and is awaited later.

        ``clock`` None: as before, or as it was made. The answer is its first frame. What describes the environment is
        then of the other; forks end, and so do snapshots that the remote keeps without a name. ``alike``: refuse what
        has other spaces or pictures. After a refusal another ``reset`` is needed.

        Raises:
            ConfigurationError: the remote refuses it, or it isn't ``alike``.
            Misuse: this has several environments, or is recorded.
            RemoteFailed: none began.
        """
        self._require()
        if self.n > 1 or self._records:
            raise Misuse("only one environment by itself, which isn't recorded, can become another")
        if self._among is not None and isinstance(self._backend, Lockstep):
            if clock == "realtime":
                raise ConfigurationError("slots are in lockstep")
            self._backend.choose(0, env_id, env_options)
            self.reset(0, seed)
            return
        before, described = self.env.asked, self.described
        clock = clock or self._clock
        seed = validation.seed(seed)
        seed = secrets.randbits(DRAWN_SEED_BITS) if seed is None else seed
        self._answers.clear()
        self._backend.forget()
        try:
            other = self._begin(env_id, env_options, clock, seed)
            self.joins = False
            if alike:
                _require_alike(described, other)
            self.close_beside()
            self._backend.close()
            self._adapt(other)
            if self.env.asked.clock == "lockstep":
                self.env.close_screens()
        except BaseException:
            self.env.asked = before
            raise
        self._clock, self.whole.broken = clock, False
        self._backend.expect(0, seed)
        self._answers.waiting[0] = None
        self.owes = True

    def send(self, actions: Mapping[int, Any]) -> None:
        """Act on some environments; each will answer. If one action is invalid, nothing is sent to any."""
        self.require_whole()
        answers, games, encoders = self._answers, self._games, self._encoders
        for index in actions:
            if not 0 <= index < len(games):
                raise Misuse(f"unknown environment {index}; expected 0 to {len(games) - 1}")
            if index in answers.ready:
                raise Misuse(f"environment {index} has already answered; receive that before the next action")
            if games[index].phase is not Phase.READY:
                require_ready(games[index].phase, index)
        events: dict[int, Sequence[Event]] = {}
        try:
            for index, action in actions.items():
                events[index] = encoders[index].events(action)
            answers.waiting.update(dict.fromkeys(actions))
            self._backend.act(events)
            self.owes = True
        except BaseException as error:
            if len(events) < len(actions):
                for index in actions:
                    encoders[index].forget()
            self.whole.note(error)
            raise

    def receive(self, count: int, timeout_s: float = RECEIVE_S) -> list[int]:
        """Wait until ``count`` environments have answered, and return their indices in the order of their answers."""
        self.wait(count, timeout_s)
        return [self._answers.ready.popleft() for _ in range(count)]

    def receive_ready(self) -> list[int]:
        """Return all that have answered and weren't received, in the order of their answers; doesn't wait."""
        ready = list(self._answers.ready)
        self._answers.ready.clear()
        return ready

    def receive_all(self) -> None:
        """Wait until all that were asked have answered; raise as ``receive`` does."""
        answers = self._answers
        self.wait(len(answers.waiting) + len(answers.ready))
        answers.ready.clear()

    def wait(self, count: int, timeout_s: float = RECEIVE_S) -> None:
        """Wait as ``receive`` does, and raise as it does; it then returns at once."""
        self.require_whole()
        answers = self._answers
        asked = len(answers.waiting) + len(answers.ready)
        if count > asked:
            raise Misuse(
                f"{count} answers requested, but only {asked} environments are due; send to or reset more of them"
            )
        began = time.monotonic()
        while len(answers.ready) < count:
            left = max(began, answers.heard_at) + timeout_s - time.monotonic()
            self._backend.look(max(0.0, left))
            if left <= 0 and len(answers.ready) < count:
                away = ", ".join(map(str, answers.waiting))
                raise RemoteFailed(f"nothing came of environments {away} within {timeout_s:g} s{self._why_away()}")

    def _require(self) -> None:
        self.env.require()
        if self._among is not None and self not in self._among:
            raise Closed("this environment is closed; make another one")

    def require_whole(self) -> None:
        """Check that this may be used, and that no call was interrupted since the last ``reset``."""
        self._require()
        if self.whole.broken:
            raise ResetNeeded("a call was interrupted in the middle of an exchange; call reset() before the next step")

    def close(self) -> None:
        """Disconnect, and remove the remotes that were started; may be called repeatedly."""
        self.close_beside()
        self._backend.close()
        if self._among is None:
            self.env.close()
        else:
            self._among.discard(self)

    @property
    def is_beside(self) -> bool:
        """Whether it is in slots of another's remote."""
        return self._among is not None

    def close_beside(self) -> None:
        """Close all cores that are beside this."""
        for each in [*self._beside]:
            each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ── what is exact ───────────────────────────────────────────────────────────────────────────────────────────────

    def require_exact(self, how: str) -> Lockstep:
        """Check that the same actions give the same frames; ``how`` is what can't be done otherwise."""
        if not isinstance(self._backend, Lockstep):
            raise ConfigurationError("real time can't be replayed; make the environment with clock='lockstep'")
        if not self.exact:
            raise ConfigurationError(f"{self.described.env_id} isn't exact in lockstep here and can't be {how}")
        return self._backend

    def replay(self, index: int, actions: Iterable[Any], seed: int) -> Iterator[Result]:
        """Play an episode again from its start; yield its first answer, and that of each action until it is over."""
        self.require_exact("played again")
        return self._replay(index, actions, seed)

    def beside(self, n: int) -> Core:
        """Return a core of ``n`` more environments, made as these, in slots of the first remote that are free.

        They end with this core.

        Raises:
            ConfigurationError: it is in real time, the remote isn't exact, or has too few slots.
            Misuse: it has yet to begin an episode.
        """
        lockstep = self.require_exact("forked")
        if self.joins:
            raise Misuse("no episode of its own has begun; begin one before others beside it")
        beside = copy.copy(self)
        beside.owes, beside._answers, beside._beside, beside._among = False, Answers(), set(), self._beside
        beside.whole = beside._answers.whole
        beside._backend = lockstep.beside(n, beside._answers)
        beside._games = beside._backend.games
        beside._encoders = [self.actions.encoder() for _ in range(n)]
        self._beside.add(beside)
        return beside

    def tree(self, index: int) -> TreeReply:
        """Return what is on the screen of one environment; blocks, and raises as ``VectorEnv.tree`` does."""
        if self._among is not None and isinstance(self._backend, Lockstep):
            self.require_whole()
            return self._backend.tree(index)
        return self.env.tree(index)

    def snapshot(self, index: int, name: str | None = None) -> Snapshot:
        """Return the present moment of an environment, for ``restore``.

        With a ``name`` the remote keeps it under that until it is released, in the place of one of that name.

        Raises:
            ConfigurationError: it is in real time, or the remote isn't exact.
            ResetNeeded: there is no episode.
            Misuse: it has yet to answer, or be received; or neither keeps the remote a snapshot, nor can its episode be
                played again; or the remote keeps none that could have a name.
        """
        if name is not None:
            name = validation.name("name", name, MAX_SNAPSHOT_NAME_CHARS)
        lockstep = self.require_exact("gone back to")
        self.require_whole()
        require_ready(self.phase(index), index)
        if index in self._answers.ready:
            raise Misuse(f"environment {index} has answered; receive that before a snapshot")
        return lockstep.snapshot(index, copy.deepcopy(self._encoders[index]), name)

    def release(self, index: int, name: str) -> None:
        """Have the remote of an environment that is ready keep the snapshot of a name no more."""
        name = validation.name("name", name, MAX_SNAPSHOT_NAME_CHARS)
        lockstep = self.require_exact("gone back to")
        self.require_whole()
        require_ready(self.phase(index), index)
        lockstep.release(index, name)

    def restore(self, index: int, snapshot: Snapshot | str) -> None:
        """Ask to go on from a snapshot, of this core or another; the answer is the moment's frame, and earns nothing.

        One of which only its name is given has the steps and the text of its moment forgotten, and holds no keys.

        Where its remote doesn't keep it, or is another, the steps of the episode are played again. An answer that is
        ``lost`` has the reason in its info if the result differs.
        """
        lockstep = self.require_exact("gone back to")
        self.require_whole()
        if isinstance(snapshot, str):
            snapshot = lockstep.named(index, snapshot, self.actions.encoder())
        lockstep.require_restorable(snapshot)
        if index in self._answers.waiting or index in self._answers.ready:
            raise Misuse(f"environment {index} has yet to answer; receive that before it goes back")
        with self.whole:
            self._answers.waiting[index] = None
            self._encoders[index] = copy.deepcopy(snapshot.encoder)
            lockstep.restore(index, snapshot)
            self.owes = True

    def restore_all(self, snapshots: Sequence[Snapshot | str]) -> None:
        """Take the first environments to a snapshot each, and wait until all are there."""
        for index, snapshot in enumerate(snapshots):
            self.restore(index, snapshot)
        self.receive(len(snapshots))
        for index in range(len(snapshots)):
            if self.result(index).lost:
                raise RemoteFailed(f"environment {index} did not go back: {self.result(index).error}")

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

    def _begin(
        self, env_id: str | None, env_options: Mapping[str, Any] | None, clock: Clock | None, seed: int | None
    ) -> Describe:
        """Begin episodes, with ``clock`` None in lockstep where there is one; return the first one's description."""
        if clock is None:
            try:
                return self._begin(env_id, env_options, "lockstep", seed)
            except ConfigurationError:
                clock = "realtime"
        self.env.ask(env_id, env_options, clock=clock)
        for index in range(self.env.n):
            self.env.reset_one(index, seed=seed)
        return self._wait_for_episode()

    def _join(self, clock: Clock | None) -> Describe:
        """Return the description of the episode that the first remote plays, or of one that is begun in its place."""
        asked, deadline = self.env.asked, time.monotonic() + RECEIVE_S
        while time.monotonic() < deadline:
            described = self.env.described(0)
            if described is not None and (asked.env_id or described.env_id, asked.options) != (described.env_id, {}):
                break
            if described is not None and described.env_state == "running":
                clocks: list[Any] = ["realtime", *(described.clocks or ())]
                wanted = clock or clocks[-1]
                if wanted not in clocks:
                    break
                self.env.ask(clock=wanted)
                return described
            self.env.require_usable(0)
            self.env.changed([0], LOOK_S)
        return self._begin(None, None, clock, None)

    def _wait_for_episode(self) -> Describe:
        """Return the first remote's description once the episode that was asked for runs; what came of it stays."""
        deadline = time.monotonic() + RECEIVE_S
        while time.monotonic() < deadline:
            result, described = self.env.poll([0], {0})[0], self.env.described(0)
            if not result.masked_observation and described is not None:
                if self.env.asked.clock not in ("realtime", *(described.clocks or ())):
                    raise ConfigurationError(f"{described.env_id} of {self.env} supports real time only")
                return described
            if result.disconnected:
                # It is replaced as its end is taken.
                self.env.poll([0])
            self.env.require_usable(0)
            self.env.changed([0], LOOK_S)
        raise RemoteFailed(f"no episode of {self.env} began within {RECEIVE_S:g} s{self._why_away()}")

    def _why_away(self) -> str:
        return "".join(f"; {reason}" for reason in self.env.require().away.values())


def _require_alike(one: Describe, other: Describe) -> None:
    if (one.spaces, one.size, one.box, one.fps) != (other.spaces, other.size, other.box, other.fps):
        raise ConfigurationError(
            f"{other.env_id} has other actions, observations, pictures or frames per second than {one.env_id}; make "
            "another environment for it"
        )


def _audio_shape(described: Describe, frame_skip: int) -> tuple[int, int]:
    """Return the shape of what is played in a step; where steps differ by a frame, of the longest."""
    if not described.audio:
        raise ConfigurationError(f"the remote of {described.env_id} has no sound to send")
    frames = math.ceil(round(described.audio * frame_skip / described.fps, 3))
    if frames > sound.MAX_STEP_FRAMES:
        raise ConfigurationError(f"audio of {frames} frames a step; expected at most {sound.MAX_STEP_FRAMES}")
    return frames, sound.CHANNELS
