"""One index of the vector: sends its remote what the agent does, and looks at what has come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, PointerEvent, RelativePointerEvent, SubmitEvent
from pluriverse_protocol.messages import Describe
from pluriverse_protocol.metadata import Metadata

from pluriverse import steady
from pluriverse.diagnostics import Diagnostics, reward_lags
from pluriverse.rewarder.connection import RewarderConnection
from pluriverse.rewarder.result import Lags, Result
from pluriverse.vnc import Frame, VncConnection
from pluriverse.vnc.connection import InputEvent, InputState

from .connections import RemoteConnection

# A remote says that an episode runs once its first frame is on the screen, which is then still on its way to us. Where
# the picture has no painted clock, this is how long it is taken to need: several frames of any VNC server.
SETTLE_S: Final = 0.1

# An environment that describes a space of structured observations sends the first right after it says that the episode
# runs; one that sends none for so long is taken to have none yet.
FIRST_OBSERVATION_S: Final = 1.0

_AWAY: Final = Result(disconnected=True, masked_action=True, masked_observation=True)


class Slot:
    """The state of one index between steps. Used only by the thread that steps."""

    def __init__(self, *, probe_keysym: int | None) -> None:
        """``probe_keysym`` is pressed to measure the lag of actions; None: never."""
        self.vision: NDArray[np.uint8] | None = None
        self._probe = () if probe_keysym is None else (KeyEvent(probe_keysym, True), KeyEvent(probe_keysym, False))
        self._connection: RemoteConnection | None = None
        self._begin()

    def act(
        self, connection: RemoteConnection | None, events: Sequence[Event], now: float, *, peek: bool = False
    ) -> None:
        """Send events, or drop them while no episode runs, as the next look reports. ``now`` is UNIX seconds."""
        self._follow(connection)
        self._masked_action = connection is None or not self._runs(connection.rewarder, peek)
        if connection is None or self._masked_action:
            return
        inputs: list[InputEvent] = []
        unseen: list[Event] = []
        for event in events:
            if isinstance(event, KeyEvent | PointerEvent):
                inputs.append(event)
                continue
            unseen.append(event)
            if isinstance(event, JoystickEvent):
                self._unseen[event.name] = event if event.value else None
            elif not isinstance(event, SubmitEvent):
                self._unseen[""] = RelativePointerEvent(0, 0, event.buttonmask) if event.buttonmask else None
        screen = self._screen
        if others := events if screen is None else unseen:
            connection.rewarder.act(others)
        if screen is None:
            self._held.note(inputs)
            return
        if self._diagnostics.probe_due(now):
            inputs += self._probe
        if inputs:
            screen.send_events(inputs)

    def poll(
        self, connection: RemoteConnection | None, now: float, *, peek: bool = False, reconnecting: bool = False
    ) -> Result:
        """Take what has come, or only ``peek`` at it; the caller has seen to ``connection.error``."""
        self._follow(connection)
        if connection is None:
            return _AWAY
        popped = connection.rewarder.peek() if peek else self._pop(connection.rewarder)
        masked_action, self._masked_action = self._masked_action, None
        changes: dict[str, Any] = {}
        lags = self._look(connection, popped, now, changes)
        arrived = not popped.masked_action and self._arrived(connection, popped, now)
        texts, self._texts = (self._texts, ()) if arrived else ((), self._texts)
        return popped._replace(
            vision=self.vision,
            texts=texts,
            observation=popped.observation if arrived else None,
            masked_observation=not arrived,
            masked_action=popped.masked_action if masked_action is None else masked_action,
            reconnecting=reconnecting,
            local_time=None if popped.local_time is None else popped.local_time + steady.CLOCK.step,
            lags=lags,
            **changes,
        )

    def release(self, connection: RemoteConnection | None) -> None:
        """Let go of all keys and buttons, also while no episode runs."""
        self._follow(connection)
        self._unseen = {}
        if self._screen is not None and (held := self._screen.held.releases()):
            self._screen.send_events(held)

    def failed(self, connection: RemoteConnection, error: Exception) -> Result:
        """Return the last result of a broken connection: what was earned, and a truncated end."""
        popped = connection.rewarder.pop()
        self._connection = None
        self._begin()
        return Result(
            reward=popped.reward,
            done=True,
            terminated=popped.terminated,
            truncated=not popped.terminated,
            error=str(error),
            masked_action=True,
            masked_observation=True,
            info=popped.info,
            reward_count=popped.reward_count,
            completed_id=popped.completed_id if popped.done else popped.episode_id,
        )

    def _begin(self) -> None:
        """Forget everything about the last connection."""
        self.vision = None
        self._diagnostics = Diagnostics(probes=bool(self._probe))
        self._described: Describe | None = None
        self._screen: VncConnection | None = None
        self._updates = self._pixels = 0
        self._block: Metadata | None = None
        self._seen_episode: int | None = None
        self._texts: tuple[str, ...] = ()
        self._frame: Frame | None = None
        # Without a screen: what was sent to the rewarder. A screen knows itself what was sent to it.
        self._held = InputState()
        # What VNC doesn't know of is held, by its name; the remote releases it where an episode begins.
        self._unseen: dict[str, JoystickEvent | RelativePointerEvent | None] = {}
        self._mended = 0
        # What there is while the rewarder has no more news than this; None: it may have.
        self._idle: Result | None = None
        self._news = 0
        # Whether the last action was dropped; None: there was none since the last look.
        self._masked_action: bool | None = None

    def _follow(self, connection: RemoteConnection | None) -> None:
        if connection is not self._connection:
            self._connection = connection
            self._begin()
        if connection is None:
            return
        # After reconnecting, the keys that the agent holds have to be pressed again.
        screen, before = connection.screen, self._screen
        if screen is not before:
            self._screen, self._updates, self._pixels = screen, 0, 0
            if screen is not None and before is not None and (held := before.held.presses()):
                screen.send_events(held)
        if connection.mended != self._mended:
            self._mended = connection.mended
            self._diagnostics.forget_probe()
            unseen = [event for event in self._unseen.values() if event is not None]
            if held := [*(self._held.presses() if screen is None else ()), *unseen]:
                connection.rewarder.act(held)

    def _runs(self, rewarder: RewarderConnection, peek: bool) -> bool:
        """Return whether an episode would take an action."""
        if peek or self._idle is None or self._news != rewarder.news:
            return rewarder.runs(peek=peek)
        return not self._idle.masked_action

    def _pop(self, rewarder: RewarderConnection) -> Result:
        """Take what the rewarder has sent; most looks bring a frame alone."""
        # Read first: what comes meanwhile is looked at again.
        news = rewarder.news
        if self._idle is not None and self._news == news:
            return self._idle
        popped = rewarder.pop()
        self._news, self._idle = news, None if popped.done else popped.idle()
        if popped.done:
            self._diagnostics.forget_probe()
            self._texts = popped.texts
        else:
            self._texts += popped.texts
        return popped

    def _look(self, connection: RemoteConnection, popped: Result, now: float, changes: dict[str, Any]) -> Lags:
        """Look at the screen; put what is known of it into ``changes``, and return how late it and the rewards are."""
        rewarder, diagnostics = connection.rewarder, self._diagnostics
        clock_skew = observation_lag = action_lag = reward_lag = message_lag = None
        skew = rewarder.clock.skew(now)
        if skew is not None and popped.remote_time is not None:
            earned = popped.reward != 0 or popped.done
            reward_lag, message_lag = reward_lags(
                popped.info, popped.remote_time, skew, now, earned=earned, received_at=popped.local_time
            )
        frame = self._screen.frame() if self._screen is not None else None
        # Until a restored connection brings a picture, the old one's last is the newest.
        if frame is not None:
            updates, pixels = frame.updates - self._updates, frame.pixels - self._pixels
            changes.update(updates=updates, pixels=pixels, image_local_time=frame.at)
            self._frame, self.vision = frame, frame.array
            self._updates, self._pixels = frame.updates, frame.pixels
            if rewarder.described is not self._described:
                self._described = rewarder.described
                diagnostics.described(None if self._described is None else self._described.metadata_encoding)
            if updates or self._block is None:
                self._block = diagnostics.read(frame.array, skew, now, frame.block)
            if self._block is not None and skew is not None:
                changes["image_remote_time"] = self._block.clock / 1000
                step = steady.CLOCK.step
                clock_skew = skew.low + step, skew.high + step
                observation_lag, action_lag = diagnostics.lags(self._block, skew, now)
        return Lags(clock_skew, observation_lag, action_lag, reward_lag, message_lag)

    def _arrived(self, connection: RemoteConnection, popped: Result, now: float) -> bool:
        """Return whether what is to be seen belongs to this episode, and not still to the one before."""
        episode_id = popped.episode_id if popped.peek is None else popped.peek[0]
        if self._seen_episode == episode_id:
            return True
        if popped.running_since is None:
            return False
        sent_at, received_at = popped.running_since
        described = connection.rewarder.described
        spaces = described.spaces if described is not None else None
        owed = spaces is not None and spaces.observation is not None and popped.observation is None
        if owed and now - received_at < FIRST_OBSERVATION_S:
            return False
        if self._screen is not None:
            if self._frame is None:
                return False
            # The painted clock is cut to whole milliseconds.
            painted_later = self._block is not None and self._block.clock + 1 > sent_at * 1000
            if not painted_later and now - received_at < SETTLE_S:
                return False
        self._seen_episode = episode_id
        return True
