"""Brings a person's hands, a window and a remote together, and records what they do."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import Event

from pluriverse.recording.recorder import Recorder
from pluriverse.remotes import RemoteManager
from pluriverse.rewarder.result import Result

from .game import Clock, Game, Moment, open_game
from .window import PlayWindow

# Lags can be read at this rate.
SAY_S: Final = 0.25


def play(
    env_id: str | None,
    remotes: int | str | RemoteManager,
    *,
    clock: Clock = "realtime",
    fps: float | None = None,
    seed: int | None = None,
    record: Path | None = None,
    seconds: float | None = None,
    report: Callable[[str], None],
) -> None:
    """Let a person play until they close the window, or for ``seconds``; ``record`` is a new file, ``*.plrec``."""
    with contextlib.ExitStack() as stack:
        game = open_game(env_id, remotes, clock=clock, fps=fps, seed=seed, exact=record is not None)
        stack.callback(game.close)
        described = game.described
        recorder = None
        if record is not None:
            recorder = Recorder(record, described, game.began)
            # Also where the remote or the person breaks it off.
            stack.callback(recorder.close)
        title = f"{described.env_id}, played by a person"
        window = PlayWindow(title, described.box, described.spaces or Spaces())
        stack.callback(window.close)
        session = _Session(game, window, _Score(described.env_id, clock, recorder))
        until = None if seconds is None else time.monotonic() + seconds
        with contextlib.suppress(KeyboardInterrupt):
            while window.is_open and (until is None or time.monotonic() < until):
                session.look()
        report(session.score.summary())
    if record is not None:
        report(f"recorded in {record}; to make a data set: pluriverse export {record} --minari NAME/human-v0")


class _Session:
    """One look after the other: what the person did, what came of the remote, what the window shows."""

    def __init__(self, game: Game, window: PlayWindow, score: _Score) -> None:
        self.score = score
        self._game = game
        self._window = window
        # Whether the last events reached no episode: the next one gets the held keys.
        self._missed = True
        self._say_at = 0.0

    def look(self) -> None:
        plays = self._window.look()
        if self._game.is_due(plays=plays):
            self._step()
        if time.monotonic() >= self._say_at:
            self._say_at = time.monotonic() + SAY_S
            self._window.say(self.score.line(plays=plays))

    def _step(self) -> None:
        hands = self._window.hands
        events = hands.take()
        if self._missed:
            events = hands.presses()
        moment = self._game.step(events)
        self._missed = not moment.acted
        self.score.note(moment, events if moment.acted else [])
        if moment.screen is not None:
            self._window.show(moment.screen)


class _Score:
    """What the person has earned, how late they see and act, and the recording of it."""

    def __init__(self, env_id: str, clock: Clock, recorder: Recorder | None) -> None:
        self._env_id = env_id
        self._clock = clock
        self._recorder = recorder
        self._running: int | None = None
        self._reward = 0.0
        self._total = 0.0
        self._ended = 0
        self._frames = 0
        self._since = time.monotonic()
        self._seen_late: float | None = None
        self._acted_late: float | None = None
        self._trouble = ""

    def note(self, moment: Moment, events: list[Event]) -> None:
        """Take in what came, and the events that went out."""
        recorder = self._recorder
        if recorder is not None:
            recorder.inputs(moment.acted_at, events)
            if moment.screen is not None:
                recorder.picture(moment.at, moment.screen)
        episode = self._running
        if episode is not None and moment.reward:
            self._reward += moment.reward
            self._total += moment.reward
            if recorder is not None:
                recorder.reward(moment.at, episode, moment.reward)
        if episode is not None and moment.ended is not None:
            self._ended += 1
            if recorder is not None:
                end = moment.ended
                recorder.end(moment.at, episode, self._reward, terminated=end.terminated, reason=end.reason)
            self._running = None
        elif moment.ended is None and moment.runs is not None and moment.runs != episode:
            self._running, self._reward = moment.runs, 0.0
            if recorder is not None:
                recorder.begin(moment.at, moment.runs, moment.seed)
        self._frames += moment.screen is not None
        self._note_lags(moment.result)

    def line(self, *, plays: bool) -> str:
        """Return the text below the picture."""
        now = time.monotonic()
        rate = self._frames / max(1e-9, now - self._since)
        self._frames, self._since = 0, now
        parts = [
            f"episode {self._running}" if self._running is not None else "an episode is beginning",
            f"reward {self._reward:+g}",
            "real time" if self._clock == "realtime" else "lockstep",
            f"{rate:.0f} pictures/s",
        ]
        if self._seen_late is not None:
            parts.append(f"picture {1000 * self._seen_late:.0f} ms late")
        if self._acted_late is not None:
            parts.append(f"keys {1000 * self._acted_late:.0f} ms late")
        if self._recorder is not None:
            parts.append("recording")
        if self._trouble:
            parts.append(self._trouble)
        elif not plays:
            parts.append("click here to play" + ("" if self._clock == "realtime" else "; paused"))
        return " | ".join(parts)

    def summary(self) -> str:
        return f"{self._env_id}: {self._ended} episodes ended, reward {self._total:+g}"

    def _note_lags(self, result: Result) -> None:
        if result.lags.observation is not None:
            self._seen_late = sum(result.lags.observation) / 2
        if result.lags.action is not None:
            self._acted_late = sum(result.lags.action) / 2
        self._trouble = result.error or ("reconnecting" if result.reconnecting else "")
