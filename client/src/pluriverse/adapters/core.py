"""The core of all interfaces: acts on some environments, and waits for the first ones to answer."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Literal, Self

import numpy as np
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import Event
from pluriverse_protocol.limits import MAX_STEP_FRAMES
from pluriverse_protocol.messages import Describe

import pluriverse
from pluriverse import validation
from pluriverse.env.actions import Action
from pluriverse.env.vector import VectorEnv
from pluriverse.errors import ActionError, ConfigurationError, Misuse, RemoteFailed, ResetNeeded
from pluriverse.remotes import RemoteManager
from pluriverse.rewarder.result import Result
from pluriverse.rfb.picture import PictureSpec
from pluriverse.vnc import VncConnection, VncOptions, wait_for_frames

from .actions import KINDS, ActionMap, Kind
from .pictures import PictureOptions, Pictures, Pixels
from .player import LOOK_S, Phase, Player, require_ready

# A remote that broke is replaced within seconds, or a minute on a slow machine; longer, and it won't come.
RECEIVE_S: Final = 120.0

NO_ACTION: Final = Action()


# Errors after which nothing was done.
NOT_DONE: Final = (ActionError, Misuse, ResetNeeded)


class Whole:
    """A context for what is done whole or not at all; ``broken`` if it broke off in the middle."""

    __slots__ = ("broken",)

    def __init__(self) -> None:
        self.broken: bool = False

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not issubclass(kind, NOT_DONE):
            self.broken = True


class Core:
    """``n`` copies of one environment, each with its own episodes and steps.

    ``reset`` and ``send`` ask some of them; ``receive`` waits until a number of them have answered, whichever they
    are; ``result`` is the last answer of one. A step is answered by the newest frame that the agent has not seen: at
    once if it came while the agent was thinking, else when it comes. The environments never stop meanwhile.

    A wait that an exception interrupts, such as that of Ctrl-C, loses nothing: what is waited for still comes. What is
    interrupted elsewhere is known of no environment any more, and all need a ``reset``.
    """

    def __init__(
        self,
        env_id: str | None,
        remotes: int | str | RemoteManager = 1,
        *,
        actions: Kind | Literal["auto"] = "auto",
        pictures: PictureOptions | None = None,
        frame_skip: int = 1,
        max_episode_steps: int | None = None,
        fps: float | None = None,
        whole_screens: bool = False,
        **options: Any,
    ) -> None:
        """Start or find the remotes, and wait for an episode; the options are those of ``pluriverse.make``.

        ``whole_screens``: keep the screens in full size and colour, as rendering every step needs. Otherwise the VNC
        driver makes the pictures, and doesn't decode what they don't show.
        """
        frame_skip = validation.integer("frame_skip", frame_skip, 1, MAX_STEP_FRAMES)
        if max_episode_steps is not None:
            max_episode_steps = validation.integer("max_episode_steps", max_episode_steps, 1)
        validation.choice("actions", actions, ("auto", *KINDS))
        whole_screens = validation.flag("whole_screens", whole_screens)
        pictures = PictureOptions() if pictures is None else validation.instance("pictures", pictures, PictureOptions)
        given = options.pop("vnc", None)
        vnc = VncOptions() if given is None else validation.instance("vnc", given, VncOptions)
        if not validation.flag("vision", options.pop("vision", True)) or vnc.picture != PictureSpec():
            raise ConfigurationError(
                "the interfaces need the screen as it is; smaller and grey pictures are size and grey"
            )
        self.owes: bool = False
        """Whether the answers to the last call are still to be given, for those who ask and wait in one call."""
        self.whole: Whole = Whole()
        # Screens are opened once it is known what the environment draws on.
        self.env: VectorEnv = pluriverse.make(env_id, remotes, fps=fps, vision=False, **options)
        try:
            self._choose_clock()
            self.described: Describe = self._wait_for_episode()
            self.spaces: Spaces | None = self.described.spaces
            width, height = self.described.width or 1024, self.described.height or 768
            pictures.require_within(width, height)
            box = self.described.picture or (0, 0, width, height)
            self.pictures: Pictures = Pictures(pictures, box, ready=not whole_screens)
            self.actions: ActionMap = ActionMap(self.spaces, self.pictures.box, actions)
            self.fps: float = self.described.fps
            self._encoders = [self.actions.encoder() for _ in range(self.n)]
            self._ready: deque[int] = deque()
            # In the order in which they were asked, so that the one that waits longest is looked at first.
            self._waiting: dict[int, None] = {}
            # When something came that answers nothing yet, but shows that an answer is on its way.
            self._heard_at = 0.0
            blank = self._open_screens(vnc, pictures, (height, width), whole=whole_screens)
        except BaseException:
            self.env.close()
            raise
        self._viewers: dict[int, VncConnection] = {}
        self._results = [Result(blank) for _ in range(self.n)]
        self._begin_players(blank, frame_skip, max_episode_steps)

    @property
    def n(self) -> int:
        return self.env.n

    @property
    def exact(self) -> bool:
        """Whether the same seed and actions give the same frames and rewards."""
        return False

    def phase(self, index: int) -> Phase:
        self.env.require_own()
        return self._players[index].phase

    def result(self, index: int) -> Result:
        self.env.require_own()
        return self._results[index]

    def picture(self, index: int) -> Pixels:
        """Return the picture of the last answer: uint8 of shape ``pictures.shape``."""
        return self.pictures.make(self.result(index).picture)

    def screen(self, index: int) -> Pixels:
        """Return the whole screen, uint8 RGB (height, width, 3): the last answer's if ``whole_screens``, else now."""
        self.env.require_open()
        if not self.pictures.ready:
            return self._results[index].picture
        viewer = self._viewers.get(index)
        if viewer is None or viewer.error is not None:
            if viewer is not None:
                viewer.close()
            viewer = self._viewers[index] = self.env.open_viewer(index)
        if viewer.frame() is None:
            wait_for_frames([viewer], RECEIVE_S)
        frame = viewer.frame()
        if frame is None:
            raise RemoteFailed(f"the screen of environment {index} shows nothing: {viewer.error}")
        return frame.array

    def reset(self, index: int, seed: int | None = None, *, join: bool = False) -> None:
        """Ask for a new episode; the answer is its first frame. May be called at any time.

        ``join``: if the remote ended the last episode itself, take the one that it began then; ``seed`` must be None.
        """
        self.env.require_open()
        seed = validation.seed(seed)
        if self.whole.broken:
            self._ready.clear()
            self._waiting.clear()
            self._forget_episodes()
            self.whole.broken = False
        with self.whole:
            if index in self._ready:
                self._ready.remove(index)
            self._begin(index, seed, join=join)
            self._waiting[index] = None
            self.owes = True

    def send(self, actions: Mapping[int, Any]) -> None:
        """Act on some environments; each will answer. If one action is invalid, nothing is sent to any."""
        self.require_whole()
        for index in actions:
            if not 0 <= index < self.n:
                raise Misuse(f"there is no environment {index}; expected 0 to {self.n - 1}")
            if index in self._ready:
                raise Misuse(f"environment {index} has answered already; receive that before the next action")
            require_ready(self.phase(index), index)
        with self.whole:
            try:
                events = {index: self._encoders[index].events(action) for index, action in actions.items()}
            except BaseException:
                for index in actions:
                    self._encoders[index].release()
                raise
            for index in actions:
                self._waiting[index] = None
            self._act(events)
            self.owes = True

    def receive(self, count: int, timeout_s: float = RECEIVE_S) -> list[int]:
        """Wait until ``count`` environments have answered, and return their indices in the order of their answers."""
        self.wait(count, timeout_s)
        return [self._ready.popleft() for _ in range(count)]

    def receive_all(self) -> None:
        """Wait until all that were asked have answered; raise as ``receive`` does."""
        self.receive(len(self._ready) + len(self._waiting))

    def wait(self, count: int, timeout_s: float = RECEIVE_S) -> None:
        """Wait as ``receive`` does, and raise as it does; it then returns at once."""
        self.require_whole()
        asked = len(self._ready) + len(self._waiting)
        if count > asked:
            raise Misuse(f"{count} answers are wanted of the {asked} environments asked; send to or reset more of them")
        began = time.monotonic()
        while len(self._ready) < count:
            left = max(began, self._heard_at) + timeout_s - time.monotonic()
            self._look(max(0.0, left))
            if left <= 0 and len(self._ready) < count:
                away = ", ".join(map(str, self._waiting))
                raise RemoteFailed(f"nothing came of environments {away} within {timeout_s:g} s")

    def require_whole(self) -> None:
        """Check that this may be used, and that no call was interrupted since the last ``reset``."""
        self.env.require_open()
        if self.whole.broken:
            raise ResetNeeded("a call was interrupted in the middle of an exchange; call reset() before the next step")

    def close(self) -> None:
        """Disconnect, and remove the remotes that were started; may be called repeatedly."""
        for viewer in self._viewers.values():
            viewer.close()
        self.env.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _wait_for_episode(self) -> Describe:
        """Begin episodes; return the first remote's description once its episode runs."""
        self.env.reset()
        deadline = time.monotonic() + RECEIVE_S
        while time.monotonic() < deadline:
            result = self.env.step_some({0: NO_ACTION})[0]
            described = self.env.described(0)
            if not result.masked_observation and described is not None:
                return described
            self.env.require_wellbehaved(0)
            self.env.wait(LOOK_S, [0])
        raise RemoteFailed(f"no episode of {self.env} began within {RECEIVE_S:g} s")

    def _answer(self, index: int, result: Result) -> None:
        self._results[index] = result
        del self._waiting[index]
        self._ready.append(index)

    # ── real time ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _choose_clock(self) -> None:
        """Say which kind of time episodes are to be in, before the first."""

    def _open_screens(self, vnc: VncOptions, options: PictureOptions, size: tuple[int, int], *, whole: bool) -> Pixels:
        if self.spaces is not None and self.spaces.step is not None:
            raise ConfigurationError(
                f"{self.described.env_id} waits for its agent; make it with clock='lockstep', or play it with "
                "pluriverse.wrappers.GymCoreSync"
            )
        self.env.open_screens(vnc if whole else self.pictures.asked_of(vnc))
        return np.zeros((*size, 3) if whole else self.pictures.shape, np.uint8)

    def _begin_players(self, blank: Pixels, frame_skip: int, max_episode_steps: int | None) -> None:
        self._players = [
            Player(blank, fps=self.fps, frame_skip=frame_skip, max_episode_steps=max_episode_steps)
            for _ in range(self.n)
        ]

    def _forget_episodes(self) -> None:
        """Know nothing of the episodes: each environment waits for its reset."""
        for player in self._players:
            player.phase = Phase.NEW

    def _begin(self, index: int, seed: int | None, *, join: bool) -> None:
        player = self._players[index]
        self.env.send_events(index, self._encoders[index].release())
        if not (join and player.remote_ended_episode):
            self.env.truncate(index, seed=seed)
        player.reset()

    def _act(self, events: Mapping[int, Sequence[Event]]) -> None:
        now = time.monotonic()
        for index in events:
            self._players[index].act(now)
        self._take({index: Action(tuple(each)) for index, each in events.items()})

    def _look(self, timeout_s: float) -> None:
        """Wait until something came, or it is time to look, for ``timeout_s`` seconds at most; take it in."""
        waiting = list(self._waiting)
        due_at = min([self._players[index].due_at for index in waiting])
        changed = set(self.env.changed(waiting, max(0.0, min(timeout_s, due_at - time.monotonic()))))
        now = time.monotonic()
        due = [index for index in waiting if index in changed or self._players[index].due_at <= now]
        if due:
            with self.whole:
                self._take(dict.fromkeys(due, NO_ACTION))

    def _take(self, actions: Mapping[int, Action]) -> None:
        looks = self.env.step_some(actions)
        now = time.monotonic()
        for index, look in looks.items():
            answer = self._players[index].take(look, now)
            if answer is not None:
                self._answer(index, answer)
            elif self._players[index].phase is Phase.RESETTING:
                self.env.require_wellbehaved(index)
