"""One environment as a computer: a screen to look at, and hands that act at their times, in either clock."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, PointerEvent, RelativePointerEvent, SubmitEvent
from pluriverse_protocol.rfb.geometry import Box

from pluriverse import steady, validation
from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import Core
from pluriverse.adapters.pictures import Pixels
from pluriverse.env.connections import Clock
from pluriverse.errors import ActionError, ResetNeeded
from pluriverse.remotes import RemoteManager
from pluriverse.rewarder.result import Result
from pluriverse.vnc.keys import key_name

from .acts import MAX_BATCH, Act, ActFor, Look, Step, Submit, Where
from .answer import NOT_EXECUTED, Answer, ignoring
from .images import Format, Image, shown
from .marks import draw, draw_pointer
from .script import MASKS, Hand
from .tree import Tree, middle
from .view import View

# Models see no more than this, most of them.
WIDTH: Final = 1280
HEIGHT: Final = 800

# How long the end that was asked for may take to come: the grade is worked out meanwhile.
SUBMIT_S: Final = 10.0

# Beyond these frames, of what was seen while something was done some are left out, evenly.
MAX_FRAMES: Final = 60


@dataclass(frozen=True, slots=True)
class Frame:
    """What was seen while something was done, ``at_ms`` after its beginning by this machine's clock or game time."""

    at_ms: float
    image: Image


class Computer:
    """The screen, keys and pointer of one environment.

    Pictures are of the environment's part of the screen, made smaller to fit ``width`` by ``height``; points are pixels
    of such a picture. In real time the environment goes on between two calls, in lockstep it stands still.
    """

    def __init__(
        self,
        env_id: str | None,
        remotes: int | str | RemoteManager = 1,
        *,
        width: int = WIDTH,
        height: int = HEIGHT,
        format: Format = "png",  # noqa: A002 - what Pillow calls it
        clock: Clock | None = "realtime",
        pointer: bool = False,
        **options: Any,
    ) -> None:
        """Start or find the remote; the options are those of ``pluriverse.make``.

        ``clock`` None: lockstep where there is one.
        ``pointer``: draw an arrow into the pictures where the pointer was put last; no remote shows one.

        Raises:
            ConfigurationError: an option is wrong, or something is missing on this machine.
            RemoteUnavailable: the remote could not be started or reached.
            RemoteFailed: no episode began.
        """
        validation.choice("format", format, ("png", "jpeg"))
        width = validation.integer("width", width, 1, validation.MAX_SIDE)
        height = validation.integer("height", height, 1, validation.MAX_SIDE)
        self.format: Format = format
        self._draws_pointer = validation.flag("pointer", pointer)
        made: Any = {"clock": clock, "actions": "events", "whole_screens": True, "begins": False}
        self._core: Core = Core(env_id, remotes, **made, **options)
        self._size = width, height
        self.given_up: threading.Event | None = None
        """Set by another thread while something is done, it breaks that off: CancelledError is raised of it."""
        self.ignored: list[str] = []
        """The names of the keys that were pressed by the last call and that the environment doesn't use."""
        self._start()

    @property
    def clock(self) -> Clock:
        return self._core.env.asked.clock

    @property
    def described(self) -> Any:
        """The remote's description of the environment."""
        return self._core.described

    @property
    def box(self) -> Box:
        """The environment's part of the screen: x, y, width and height in its pixels."""
        return self._core.pictures.box

    @property
    def frame_ms(self) -> float:
        """The milliseconds of a frame."""
        return 1000 / self._core.fps

    @property
    def total_reward(self) -> float:
        """The sum of the episode's rewards until the last frame that was waited for."""
        return self._total

    @property
    def text(self) -> str:
        """The environment's latest text, such as the task."""
        return self._core.result(0).text

    @property
    def over(self) -> bool:
        """Whether the episode is over, or none has begun."""
        return self._core.phase(0) is not Phase.READY

    @property
    def time_left_s(self) -> float | None:
        """The seconds that the episode has left at most, of the environment's time; None: no limit is known."""
        limit = self.described.time_limit
        if limit is None:
            return None
        return 0.0 if self._core.result(0).over else max(0.0, limit - self.passed_s)

    @property
    def passed_s(self) -> float:
        """The seconds of the environment's time that the episode has lasted."""
        result = self._core.result(0)
        if self.clock == "lockstep":
            return result.elapsed * self.frame_ms / 1000
        return 0.0 if result.running_since is None else steady.now() - result.running_since[1]

    @property
    def held(self) -> list[str]:
        """The names of the keys and buttons that are held between two calls."""
        mask = self._hand.pointer.buttonmask
        buttons = [f"{button} button" for button, bit in MASKS.items() if mask & bit]
        return [*map(key_name, self._keys), *buttons]

    def begin(
        self,
        seed: int | None = None,
        *,
        env: str | None = None,
        options: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
    ) -> Answer:
        """Begin an episode, and wait for its first frame; the pointer is in the middle.

        It is one of another environment of the remote's runtime, ``env``, with ``options`` of its own, or by another
        ``clock``, and so are all that follow; None: as before, but another environment's options have their defaults.

        Raises:
            ConfigurationError: the remote doesn't take this seed, environment, option or clock.
            RemoteFailed: none began.
        """
        same = (env or self.described.env_id, options, clock or self.clock) == (self.described.env_id, None, self.clock)
        # What a slot plays isn't described.
        if same and not self._core.joins and (env is None or not self._core.is_beside):
            self._core.reset(0, seed)
        else:
            self._core.change(env, options, clock, seed)
        self._core.receive_all()
        self._start()
        self._core.owes = False
        if self.clock == "realtime" and not self.over:
            # Where the episode before has left it may be on what looks different then.
            self.send([self._hand.pointer])
        return self._answer()

    def beside(self, n: int) -> list[Computer]:
        """Return ``n`` more computers in slots of the same remote that are free, whose episodes have yet to begin.

        They end with this one, or when it begins another environment; one thread uses them all.

        Raises:
            ConfigurationError: it is in real time, the remote isn't exact, or has too few slots.
            Misuse: this one has yet to begin an episode.
        """
        return [self._beside() for _ in range(n)]

    def _beside(self) -> Computer:
        computer = copy.copy(self)
        computer._core = self._core.beside(1)
        computer.ignored, computer.given_up = [], None
        computer._start()
        return computer

    def do(self, act: Act) -> Answer:
        """Do something, wait until it is done, and return the screen and the reward.

        Raises:
            ActionError: it can't be done; nothing was sent.
            ResetNeeded: the episode is over, or none has begun.
            RemoteFailed: the remote broke.
        """
        if isinstance(act, Where):
            x, y = self.view.to_picture((self._hand.pointer.x, self._hand.pointer.y))
            return self._answer(f"X={x},Y={y}")
        if isinstance(act, Look):
            return self._answer(image=self.look(act.region))
        if isinstance(act, Step):
            self.send([], act.frames)
            return self._answer()
        if isinstance(act, Submit):
            self._submit()
            return self._answer()
        before = self._hand.pointer
        script = self._hand.plan(act)
        try:
            self._play(script.frames(self.frame_ms))
        except ResetNeeded:
            self._hand.pointer = before
            raise
        return self._answer(ignoring(self.ignored))

    def submit(self) -> Answer:
        """Say that it is done: the episode ends, and the answer has its grade.

        Raises:
            ActionError: the environment ends by itself.
            ResetNeeded: the episode is over, or none has begun.
            RemoteFailed: the remote broke.
        """
        return self.do(Submit())

    def _submit(self) -> None:
        if not self.actions.submit:
            raise ActionError("this environment ends by itself: nothing is submitted")
        self.send([SubmitEvent()])
        deadline = time.monotonic() + SUBMIT_S
        while not self.over and time.monotonic() < deadline:
            self.send([])

    def do_all(self, acts: Iterable[Callable[[], Act]]) -> list[Answer]:
        """Read and execute calls in order, and stop after a failure, whose answer has the reason."""
        acts = list(acts)
        if len(acts) > MAX_BATCH:
            refused = Answer(f"{len(acts)} actions; expected at most {MAX_BATCH} at once", failed=True)
            return [refused] * len(acts)
        answers: list[Answer] = []
        failed = False
        for read in acts:
            if failed:
                answers.append(Answer(NOT_EXECUTED, failed=True))
                continue
            try:
                answers.append(self.do(read()))
            except (ActionError, ResetNeeded) as error:
                failed = True
                answers.append(Answer(str(error), failed=True))
        return answers

    def act_for(self, events: Sequence[tuple[float, Event]], ms: float, *, frames: int = 1) -> list[Frame]:
        """Do ``events``, each at its milliseconds, in ``ms`` milliseconds; return ``frames`` of what was seen.

        The last frame is always among them. Pointer events are in pixels of the picture.

        Raises:
            ActionError: an event can't be done, is later than the end, or they are too many; nothing was sent.
            ResetNeeded: the episode is over, or none has begun.
            RemoteFailed: the remote broke.
        """
        if not 1 <= frames <= MAX_FRAMES:
            raise ActionError(f"{frames} frames; expected 1 to {MAX_FRAMES}")
        batches = self._hand.plan(ActFor(tuple(events), ms)).frames(self.frame_ms)
        wanted = {(number + 1) * len(batches) // frames for number in range(frames)}
        seen: list[Frame] = []
        began = time.monotonic()

        def keep(number: int) -> None:
            if number in wanted or self.over:
                passed = 1000 * (time.monotonic() - began) if self.clock == "realtime" else number * self.frame_ms
                seen.append(Frame(passed, self.seen()))

        self._play(batches, keep)
        return seen

    def act(self, action: Any, frames: int = 1) -> None:
        """Act in the environment's own space, as ``actions`` has it, and wait for ``frames`` frames.

        Raises:
            ActionError: it is not an action; nothing was sent.
            ResetNeeded: the episode is over, or none has begun.
            RemoteFailed: the remote broke.
        """
        self.send(self._encoder.events(action), frames)

    def refresh(self) -> None:
        """In real time, wait for the next frame: what was seen last may be old.

        Raises:
            RemoteFailed: the remote broke.
        """
        if self.clock == "realtime" and not self.over:
            self._play([()])

    def send(self, events: Sequence[Event], frames: int = 1) -> None:
        """Send events, and wait for some frames.

        Raises:
            ResetNeeded: the episode is over, or none has begun.
            RemoteFailed: the remote broke.
        """
        self._play([events, *[()] * (frames - 1)])

    def look(
        self,
        region: tuple[int, int, int, int] | None = None,
        *,
        format: Format | None = None,  # noqa: A002 - what Pillow calls it
        marks: bool = False,
    ) -> Image:
        """Return a picture of what is on the screen now, or of a region (left, top, right, bottom) of it, enlarged.

        ``marks``: with a numbered box around all that is acted on; the tree that they are of is then ``last_tree``.

        Raises:
            ActionError: the region isn't within the picture.
            Misuse: marks are wanted, and the remote has no tree.
            RemoteFailed: the remote broke.
        """
        view = self._view_of(region)
        # Before the picture, which is to be the newer one.
        tree = self.tree() if marks else None
        self.refresh()
        return self._picture(view, format, tree)

    def tree(self) -> Tree:
        """Return what is on the screen, in pixels of the picture. Acts may name its marks until the next one is read.

        Raises:
            Misuse: the remote lacks the capability "tree", or no episode runs.
            RemoteFailed: the remote broke.
        """
        reply = self._core.tree(0)
        self.last_tree = tree = Tree.seen(reply.nodes, self.view, reply.left_out)
        self._hand.marks = {number: middle(box) for number, box in tree.marks.items()}
        return tree

    def pixels(self) -> Pixels:
        """Return the environment's part of the screen in the last frame: uint8 (height, width, 3), RGB."""
        return self._core.picture(0)

    def seen(self) -> Image:
        """Return a picture of the last frame that was waited for."""
        return self._picture(self.view, None)

    def status(self) -> Result:
        """Return how the episode stands now; its reward is the sum since the last status.

        Raises:
            RemoteFailed: the remote broke.
        """
        self.refresh()
        return self.standing()

    def take_passed_s(self) -> float:
        """Return how many seconds of the environment's time have passed since this was last asked in this episode."""
        before, self._passed_s = self._passed_s, self.passed_s
        return max(0.0, self._passed_s - before)

    def standing(self) -> Result:
        """Return how the episode stood at the last frame that was waited for."""
        reward, self._reward = self._reward, 0.0
        return self._core.result(0)._replace(reward=reward)

    def close(self) -> None:
        """Disconnect, and remove the remote if it was started; may be called repeatedly."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        self.view: View = View.fitted(self.box, *self._size)
        self.actions = ActionMap(self.described.spaces, self.box)
        """The environment's own actions."""
        self._hand = Hand(self.view, lockstep=self.clock == "lockstep")
        self.last_tree: Tree | None = None
        """What was last read of what is on the screen, in this episode."""
        self._pointer = self._hand.pointer.x, self._hand.pointer.y
        self._keys: dict[int, None] = {}
        self._encoder = self.actions.encoder()
        self._reward = self._unanswered = self._total = self._passed_s = 0.0

    def _answer(self, message: str = "", image: Image | None = None) -> Answer:
        reward, self._unanswered = self._unanswered, 0.0
        result = self._core.result(0)
        image = image or self._picture(self.view, None)
        return Answer(message, False, image, result.text, reward, result.terminated, result.truncated)

    def _view_of(self, region: tuple[int, int, int, int] | None) -> View:
        if region is None:
            return self.view
        return View.fitted(self.view.part(region), self.view.width, self.view.height, enlarge=True)

    def _picture(self, view: View, format: Format | None, tree: Tree | None = None) -> Image:  # noqa: A002 - what Pillow calls it
        picture = shown(self._core.screen(0), view)
        if self._draws_pointer and view.shows(self._pointer):
            picture = draw_pointer(picture, *view.to_picture(self._pointer))
        if tree is not None:
            picture = draw(picture, {number: view.to_picture_box(box) for number, box in tree.marks.items()})
        return Image(picture, format or self.format)

    def _play(self, frames: Sequence[Sequence[Event]], see: Callable[[int], None] | None = None) -> None:
        """Send the events of each frame, and wait for the frame, until the episode is over."""
        self.ignored = []
        for number, events in enumerate(frames, 1):
            if self.given_up is not None and self.given_up.is_set():
                self._let_go(frames[: number - 1])
                raise CancelledError
            self._frame(events)
            if see is not None:
                see(number)
            if self.over:
                return

    def _let_go(self, frames: Sequence[Sequence[Event]]) -> None:
        """Release what these frames have left pressed, and all buttons of the pointer."""
        down = {event.keysym: event.down for events in frames for event in events if isinstance(event, KeyEvent)}
        tilted = {event.name: event.value for events in frames for event in events if isinstance(event, JoystickEvent)}
        keys = [KeyEvent(keysym, False) for keysym, is_down in down.items() if is_down]
        pads = [JoystickEvent(name, 0.0) for name, value in tilted.items() if value]
        self._hand.pointer = pointer = PointerEvent(*self._pointer, 0)
        moves = any(isinstance(event, RelativePointerEvent) for events in frames for event in events)
        self._frame([*keys, *pads, RelativePointerEvent(0, 0, 0) if moves else pointer])

    def _frame(self, events: Sequence[Event]) -> None:
        """Send the events of one frame, and wait for it."""
        if self._core.owes:
            # What it waited for was interrupted, as by Ctrl-C.
            self._take()
            if self.over:
                return
        if self.over or self._core.whole.broken:
            what = "a call was interrupted" if self._core.whole.broken else "the episode is over, or none has begun"
            raise ResetNeeded(f"{what}; begin another first")
        self._core.send({0: list(events)})
        self.ignored += (name for name in self._core.ignored(0) if name not in self.ignored)
        for event in events:
            if isinstance(event, PointerEvent):
                self._pointer = event.x, event.y
            elif isinstance(event, KeyEvent) and event.down:
                self._keys[event.keysym] = None
            elif isinstance(event, KeyEvent):
                self._keys.pop(event.keysym, None)
        self._take()

    def _take(self) -> None:
        self._core.receive_all()
        reward = self._core.result(0).reward
        self._reward += reward
        self._unanswered += reward
        self._total += reward
        self._core.owes = False
