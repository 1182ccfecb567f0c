"""One index of the vector: applies a step to its remote, and collects the outcome."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.events import JoystickEvent, KeyEvent
from pluriverse_protocol.messages import Describe
from pluriverse_protocol.metadata import Metadata

from pluriverse import steady
from pluriverse.diagnostics import Diagnostics, reward_lags
from pluriverse.rewarder.clock import Skew
from pluriverse.rewarder.reward_buffer import Popped
from pluriverse.spaces import Observation, ScreenObservation
from pluriverse.vnc import Frame, VncConnection
from pluriverse.vnc.input_state import InputEvent, InputState

from .actions import Action
from .connections import RemoteConnection
from .outcome import Outcome

# A remote says that an episode runs once its first frame is on the screen, which is then still on its way to us. Where
# the picture has no painted clock, this is how long it is taken to need: several frames of any VNC server.
SETTLE_S: Final = 0.1

# An environment that describes a space of structured observations sends the first right after it says that the episode
# runs; one that sends none for so long is taken to have none yet.
FIRST_OBSERVATION_S: Final = 1.0


class Slot:
    """The state of one index between steps. Used only by the thread that steps."""

    def __init__(self, *, probe_keysym: int | None) -> None:
        """``probe_keysym`` is pressed to measure the lag of actions; None: never."""
        self.vision: NDArray[np.uint8] | None = None
        self._probe = () if probe_keysym is None else (KeyEvent(probe_keysym, True), KeyEvent(probe_keysym, False))
        self._connection: RemoteConnection | None = None
        self._begin()

    def step(self, connection: RemoteConnection | None, action: Action, now: float) -> Outcome:
        """Send an action, and take what has come. ``now`` is UNIX seconds; the caller checks ``connection.error``."""
        if connection is not self._connection:
            self._connection = connection
            self._begin()
        if connection is None:
            return Outcome(disconnected=True, masked_action=True, masked_observation=True)
        if connection.mended != self._mended:
            self._go_on(connection)
        if action.peek:
            popped, there = connection.rewarder.peek()
            outcome = Outcome(episode_id=popped.episode_id, state=popped.state, peek=(there.episode_id, there.state))
            popped = there
        else:
            popped = connection.rewarder.pop()
            outcome = Outcome(
                reward=popped.reward,
                done=popped.done,
                terminated=popped.terminated,
                truncated=popped.truncated,
                program_info=popped.info,
                reward_count=popped.count,
                episode_id=popped.episode_id,
                state=popped.state,
            )
            self._note_episode(popped, outcome)
        outcome.reconnecting = connection.broken is not None
        if popped.current:
            self._act(connection, action, now)
        else:
            outcome.masked_action = True
        skew = connection.rewarder.skew(now)
        outcome.message_sent_at = popped.remote_time
        if popped.local_time is not None:
            outcome.message_received_at = steady.to_wall(popped.local_time)
        if skew is not None:
            earned = popped.reward != 0 or popped.done
            outcome.reward_lag, outcome.message_lag = reward_lags(
                popped.info, popped.remote_time, skew, now, earned=earned, received_at=popped.local_time
            )
        frame = self._look(connection, outcome, skew, now)
        outcome.observation = self._observe(connection, popped, frame, now)
        outcome.masked_observation = outcome.observation is None
        return outcome

    def note_held(self, events: Iterable[InputEvent]) -> None:
        """Note what events that are sent to the screen press and release."""
        self._held.note(events)

    def failed(self, connection: RemoteConnection, error: Exception) -> Outcome:
        """Return the last outcome of a broken connection: what was earned, and a truncated end."""
        popped = connection.rewarder.pop()
        self._connection = None
        self._begin()
        return Outcome(
            reward=popped.reward,
            done=True,
            terminated=popped.terminated,
            truncated=not popped.terminated,
            error=str(error),
            masked_action=True,
            masked_observation=True,
            program_info=popped.info,
            reward_count=popped.count,
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
        self._texts: list[str] = []
        self._frame: Frame | None = None
        self._held = InputState()
        self._mended = 0

    def _go_on(self, connection: RemoteConnection) -> None:
        """Go on over a line that was mended, over which what the agent holds has to be pressed again."""
        self._mended = connection.mended
        self._diagnostics.forget_probe()
        if held := self._held.presses():
            if connection.screen is not None:
                connection.screen.send_events(held)
            else:
                connection.rewarder.act(held)

    def _note_episode(self, popped: Popped, outcome: Outcome) -> None:
        if not popped.done:
            self._texts += popped.texts
            return
        self._texts = list(popped.texts)
        self._diagnostics.forget_probe()
        outcome.completed_id, outcome.completed_state = popped.completed_id, popped.completed_state
        outcome.completed_texts = popped.completed_texts
        outcome.completed_observation = popped.completed_observation

    def _act(self, connection: RemoteConnection, action: Action, now: float) -> None:
        self._held.note(event for event in action.events if not isinstance(event, JoystickEvent))
        if connection.screen is None:
            if action.events:
                connection.rewarder.act(action.events)
            return
        joystick = [event for event in action.events if isinstance(event, JoystickEvent)]
        if joystick:
            connection.rewarder.act(joystick)
        events = [event for event in action.events if not isinstance(event, JoystickEvent)]
        if self._diagnostics.probe_due(now):
            events += self._probe
        if events:
            connection.screen.send_events(events)

    def _look(self, connection: RemoteConnection, outcome: Outcome, skew: Skew | None, now: float) -> Frame | None:
        screen = connection.screen
        if screen is not self._screen:
            self._screen, self._updates, self._pixels = screen, 0, 0
        frame = screen.frame() if screen is not None else None
        if frame is None:
            # Until a mended line brings a picture, the last one of the line before is the newest there is.
            return self._frame
        self._frame = frame
        outcome.updates, outcome.pixels = frame.updates - self._updates, frame.pixels - self._pixels
        outcome.picture_at = frame.at
        self._updates, self._pixels, self.vision = frame.updates, frame.pixels, frame.array
        described = connection.rewarder.described
        if described is not self._described:
            self._described = described
            self._diagnostics.described(described.metadata_encoding if described is not None else None)
        if outcome.updates or self._block is None:
            self._block = self._diagnostics.read(frame.array, skew, now, frame.block)
        if self._block is not None and skew is not None:
            outcome.painted_at = self._block.clock / 1000
            outcome.skew = steady.to_wall(skew.low), steady.to_wall(skew.high)
            outcome.observation_lag, outcome.action_lag = self._diagnostics.lags(self._block, skew, now)
        return frame

    def _observe(self, connection: RemoteConnection, popped: Popped, frame: Frame | None, now: float) -> Observation:
        if not popped.current or not self._arrived(connection, popped, frame, now):
            return None
        observation: ScreenObservation = {"vision": frame.array if frame is not None else None, "text": self._texts}
        if popped.observation is not None:
            observation["observation"] = popped.observation.observation
        self._texts = []
        return observation

    def _arrived(self, connection: RemoteConnection, popped: Popped, frame: Frame | None, now: float) -> bool:
        """Return whether what is to be seen belongs to this episode, and not still to the one before."""
        if self._seen_episode == popped.episode_id:
            return True
        if popped.running_since is None:
            return False
        sent_at, received_at = popped.running_since
        described = connection.rewarder.described
        spaces = described.spaces if described is not None else None
        owed = spaces is not None and spaces.observation is not None and popped.observation is None
        if owed and now - received_at < FIRST_OBSERVATION_S:
            return False
        if connection.screen is not None:
            if frame is None:
                return False
            # The painted clock is cut to whole milliseconds.
            painted_later = self._block is not None and self._block.clock + 1 > sent_at * 1000
            if not painted_later and now - received_at < SETTLE_S:
                return False
        self._seen_episode = popped.episode_id
        return True
