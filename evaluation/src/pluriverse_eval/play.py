"""An episode of a task: a computer that stops when its time is up, acts late as asked, and measures how late."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from pluriverse.adapters.computer import Computer, Image, Tree
from pluriverse.adapters.info import Ended, ended
from pluriverse.adapters.pictures import Pixels
from pluriverse.errors import PluriverseError, ResetNeeded
from pluriverse.recording.recorder import Recorder
from pluriverse.rewarder.result import Result
from pluriverse_protocol.events import Event
from pluriverse_protocol.reports import EVIDENCE

from .modes import Mode
from .suite import Task

# An agent that waits for frames is never this late.
IDLE_FRAMES: Final = 2

How = Literal["running", "terminated", "truncated", "budget"]

# Sleeping ends late; the last of a wait is spent awake.
AWAKE_S: Final = 0.001


class Play(Computer):
    """The computer that an agent plays a task on, one episode after the other.

    The budget is of game time: of the environment's frames in lockstep, and else of the clock on the wall. In real time
    frames are received while the agent thinks, too, so that nothing is missed of what is earned and recorded.
    """

    def __init__(self, task: Task, mode: Mode, remotes: str, **options: Any) -> None:
        """Start or find the remote; the ``options`` are those of ``Computer``."""
        super().__init__(task.env, remotes, clock=mode.clock, **options)
        self.task = task
        self.mode = mode
        self.seed = 0
        self._recorder: Recorder | None = None
        # Of what the agent's thread and the one that watches both use.
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._forget()
        self._watcher = threading.Thread(target=self._watch, name="watches a play", daemon=True)
        if self.clock == "realtime":
            self._watcher.start()

    @property
    def ms(self) -> float:
        """The game time since the episode began, in milliseconds."""
        if self.clock == "lockstep":
            return self._frames * self.frame_ms
        return 1000 * (time.monotonic() - self._began_at)

    @property
    def played_s(self) -> float:
        """The game time from the episode's beginning to its last frame, in seconds."""
        return min(self._over_ms / 1000, self.task.seconds)

    @property
    def ended(self) -> How:
        """How the episode stands: ``running``; ``terminated`` or ``truncated`` by the environment; or ``budget``."""
        # In the middle of a frame it isn't known.
        with self._lock:
            if super().over:
                return "terminated" if self._core.result(0).terminated else "truncated"
            return "budget" if self.ms >= 1000 * self.task.seconds else "running"

    @property
    def lost(self) -> bool:
        """Whether the episode was cut short by anything but a limit: the remote or the program broke, or was reset."""
        return ended(self._core.result(0)) in (Ended.LOST, Ended.RESET, Ended.OTHER)

    @property
    def over(self) -> bool:
        """Whether the episode is over, by the environment or for its time, or none has begun."""
        return self.ended != "running"

    @property
    def time_left_s(self) -> float:
        """The seconds that the episode has left at most, of the environment's time or of the task's."""
        left_s, limit_s = max(0.0, self.task.seconds - self.ms / 1000), super().time_left_s
        return left_s if limit_s is None else min(left_s, limit_s)

    @property
    def reactions_ms(self) -> Sequence[float]:
        """The game time between what the agent saw last and what it did, of each of its acts, in milliseconds."""
        return self._reactions_ms

    def start(self, seed: int, mode: Mode, record: Path | None = None) -> None:
        """Begin an episode in a mode of the same clock, and record it to a new file."""
        with self._lock:
            self.finish()
            self.begin(seed, options={EVIDENCE: True} if EVIDENCE in (self.described.options or ()) else None)
            self.seed, self.mode = seed, mode
            self._forget()
            if record is not None:
                self._recorder = Recorder(record, self.described, 0.0 if self.clock == "lockstep" else time.time())
                self._recorder.begin(0.0, 1, seed)
                self._recorder.picture(0.0, self._core.screen(0))

    def finish(self) -> None:
        """Take what was earned last, and end the recording; may be called repeatedly."""
        with self._lock:
            recorder, self._recorder = self._recorder, None
        if recorder is not None:
            terminated, evidence = self.ended == "terminated", self._core.result(0).info.get(EVIDENCE)
            with contextlib.closing(recorder):
                recorder.end(
                    self.ms / 1000, 1, self.total_reward, terminated=terminated, reason=self.ended, evidence=evidence
                )

    def close(self) -> None:
        """Disconnect, and remove the remote if it was started; may be called repeatedly."""
        self._closing.set()
        if self._watcher.ident is not None:
            self._watcher.join()
        try:
            self.finish()
        finally:
            super().close()

    def standing(self) -> Result:
        """Return how the episode stood at the last frame that was waited for."""
        with self._lock:
            return super().standing()

    def pixels(self) -> Pixels:
        """Return the environment's part of the screen in the last frame: uint8 (height, width, 3), RGB."""
        self._see()
        return super().pixels()

    def seen(self) -> Image:
        """Return a picture of the last frame that was waited for."""
        self._see()
        return super().seen()

    def look(self, *arguments: Any, **options: Any) -> Image:
        image = super().look(*arguments, **options)
        self._see()
        return image

    def tree(self) -> Tree:
        with self._lock:
            tree = super().tree()
        self._see()
        return tree

    def _forget(self) -> None:
        self._began_at = self._frame_at = time.monotonic()
        self._frames = 0
        # When what the agent looked at last had come, and after how many frames; None: it has acted on that.
        self._seen: tuple[float, int] | None = None
        self._reactions_ms: list[float] = []
        self._over_ms = 0.0

    def _see(self) -> None:
        self._seen = self._frame_at, self._frames

    def _play(self, frames: Sequence[Sequence[Event]], see: Callable[[int], None] | None = None) -> None:
        with self._lock:
            if any(frames) and self._seen is not None:
                (at, count), self._seen = self._seen, None
                self._delay()
                self._require_running()
                passed_ms = (self._frames - count) * self.frame_ms
                self._reactions_ms.append(passed_ms if self.clock == "lockstep" else 1000 * (time.monotonic() - at))
            if frames:
                self._require_running()
            super()._play(frames, see)

    def _delay(self) -> None:
        """Let the mode's time pass, in frames and what is left of one."""
        if self.clock == "lockstep":
            for _ in range(round(self.mode.delay_ms / self.frame_ms)):
                self._frame(())
            return
        until = time.monotonic() + self.mode.delay_ms / 1000
        while until - time.monotonic() > self.frame_ms / 1000:
            self._frame(())
        time.sleep(max(0.0, until - time.monotonic() - AWAKE_S))
        while time.monotonic() < until:
            pass

    def _require_running(self) -> None:
        if self.over:
            raise ResetNeeded(f"the episode is over: {self.ended}")

    def _watch(self) -> None:
        frame_s = self.frame_ms / 1000
        while not self._closing.wait(frame_s):
            # The agent's next call reports which broke.
            with self._lock, contextlib.suppress(PluriverseError):
                if not self.over and time.monotonic() - self._frame_at > IDLE_FRAMES * frame_s:
                    self._frame(())

    def _frame(self, events: Sequence[Event]) -> None:
        if self.over:
            # The budget may end between two frames of an act.
            return
        earned = self.total_reward
        super()._frame(events)
        self._frames += 1
        self._frame_at = time.monotonic()
        self._over_ms = self.ms
        if self._recorder is not None:
            at = self.ms / 1000
            self._recorder.inputs(at, events)
            self._recorder.picture(at, self._core.screen(0))
            if self.total_reward != earned:
                self._recorder.reward(at, 1, self.total_reward - earned)
