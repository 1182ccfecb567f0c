"""One index of the vector: what a step does to its remote, and what it gets of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from pluriverse_protocol.events import JoystickEvent, KeyEvent
from pluriverse_protocol.metadata import Metadata

from pluriverse.diagnostics import Diagnostics, rewards
from pluriverse.rewarder.clock import Skew
from pluriverse.rewarder.reward_buffer import Popped
from pluriverse.spaces import Observation
from pluriverse.vnc import Frame

from .actions import Action
from .keeper import Link

# A remote says that an episode runs once its first frame is on the screen, which is then still on its way to us. Where
# the picture doesn't tell its own time, this is how long the way is taken to be: several frames of any VNC server.
SETTLE_S: Final = 0.1


@dataclass(slots=True)
class Outcome:
    """What a step gives for one index.

    ``last``: with ``done``, the texts and structured observation of the episode that ended, as observations have them.
    """

    observation: Observation = None
    reward: float = 0.0
    done: bool = False
    info: dict[str, Any] = field(default_factory=dict[str, Any])
    last: dict[str, Any] = field(default_factory=dict[str, Any])


class Slot:
    """The state of one index between steps. Used by the thread that steps alone."""

    def __init__(self, *, probe_keysym: int | None) -> None:
        """``probe_keysym`` is pressed to measure the way of actions; None: never."""
        self.vision: Any = None
        self._probe = () if probe_keysym is None else (KeyEvent(probe_keysym, True), KeyEvent(probe_keysym, False))
        self._link: Link | None = None
        self._begin()

    def step(self, link: Link | None, action: Action, now: float) -> Outcome:
        """Act and see. ``now`` is UNIX seconds. Whether the link broke, its ``error`` tells."""
        if link is not self._link:
            self._link = link
            self._begin()
        if link is None:
            return Outcome(
                info={"env_status.disconnected": True, **_status(Popped(None, None)), **_masked(), **_COUNTS}
            )
        if action.peek:
            popped, there = link.rewarder.peek()
            info: dict[str, Any] = {"peek": True, **_status(popped), **_status(there, "env_status.peek.")}
            popped = there
        else:
            popped = link.rewarder.pop()
            info = {**popped.info, **_status(popped), "stats.reward.count": popped.count}
            self._note_end(popped, info)
        self._act(link, popped, action, info, now)
        observation = self._see(link, popped, info, now)
        if action.peek:
            return Outcome(observation, info=info)
        return Outcome(observation, popped.reward, popped.done, info, _told(popped))

    def failed(self, link: Link, error: Exception) -> Outcome:
        """The last of a link that broke: what it had earned, and a truncated end."""
        popped = link.rewarder.pop()
        info = {
            **popped.info,
            **_status(Popped(None, None)),
            **_masked(),
            **_COUNTS,
            "stats.reward.count": popped.count,
        }
        completed = popped.completed_id if popped.done else popped.episode_id
        info |= {"error": str(error), "terminated": popped.terminated, "truncated": not popped.terminated}
        if completed is not None:
            info["env_status.complete.episode_id"] = str(completed)
        self._link = None
        self._begin()
        return Outcome(None, popped.reward, True, info)

    def _begin(self) -> None:
        """Another link, of which nothing is known yet."""
        self.vision = None
        self._diagnostics = Diagnostics(probes=bool(self._probe))
        self._described: object = None
        self._updates = self._pixels = 0
        self._block: Metadata | None = None
        self._seen_episode: int | None = None
        self._texts: list[str] = []

    def _note_end(self, popped: Popped, info: dict[str, Any]) -> None:
        if not popped.done:
            self._texts += popped.texts
            return
        self._texts = list(popped.texts)
        self._diagnostics.forget_probe()
        info["env_status.complete.episode_id"] = str(popped.completed_id)
        info["env_status.complete.env_state"] = popped.completed_state
        info["terminated"], info["truncated"] = popped.terminated, popped.truncated

    def _act(self, link: Link, popped: Popped, action: Action, info: dict[str, Any], now: float) -> None:
        if not popped.current:
            info["mask.masked.action"] = True
            return
        if link.screen is None:
            if action.events:
                link.rewarder.act(action.events)
            return
        joystick = [event for event in action.events if isinstance(event, JoystickEvent)]
        if joystick:
            link.rewarder.act(joystick)
        events = [event for event in action.events if not isinstance(event, JoystickEvent)]
        if self._diagnostics.probe_due(now):
            events += self._probe
        if events:
            link.screen.send_events(events)

    def _see(self, link: Link, popped: Popped, info: dict[str, Any], now: float) -> Observation:
        skew = link.rewarder.skew(now)
        if skew is not None:
            info |= rewards(info, popped.remote_time, skew, now, earned=popped.reward != 0 or popped.done)
        if popped.remote_time is not None:
            info["reward_buffer.remote_time"] = popped.remote_time
            info["reward_buffer.local_time"] = popped.local_time
        frame = self._frame(link, info, skew, now)
        if not popped.current or not self._arrived(link, popped, frame, now):
            info["mask.masked.observation"] = True
            return None
        observation: dict[str, Any] = {"vision": frame.array if frame is not None else None, "text": self._texts}
        if popped.observation is not None:
            observation["observation"] = popped.observation.observation
        self._texts = []
        return observation

    def _frame(self, link: Link, info: dict[str, Any], skew: Skew | None, now: float) -> Frame | None:
        info["stats.vnc.updates.n"] = info["stats.vnc.updates.pixels"] = 0
        frame = link.screen.frame() if link.screen is not None else None
        if frame is None:
            return None
        info["stats.vnc.updates.n"] = frame.updates - self._updates
        info["stats.vnc.updates.pixels"] = frame.pixels - self._pixels
        info["diagnostics.image_local_time"] = frame.at
        changed = frame.updates != self._updates
        self._updates, self._pixels, self.vision = frame.updates, frame.pixels, frame.array
        described = link.rewarder.described
        if described is not self._described:
            self._described = described
            self._diagnostics.described(described.metadata_encoding if described is not None else None)
        if changed or self._block is None:
            self._block = self._diagnostics.read(frame.array, skew, now)
        if self._block is not None and skew is not None:
            info |= self._diagnostics.picture(self._block, skew, now)
        return frame

    def _arrived(self, link: Link, popped: Popped, frame: Frame | None, now: float) -> bool:
        """Whether the picture is the episode's own, and not yet that of the one before."""
        if self._seen_episode == popped.episode_id:
            return True
        if link.screen is not None:
            if frame is None or popped.running_since is None:
                return False
            sent_at, received_at = popped.running_since
            # The painted clock is cut to whole milliseconds.
            painted_later = self._block is not None and self._block.clock + 1 > sent_at * 1000
            if not painted_later and now - received_at < SETTLE_S:
                return False
        self._seen_episode = popped.episode_id
        return True


_COUNTS: Final = {"stats.reward.count": 0, "stats.vnc.updates.n": 0, "stats.vnc.updates.pixels": 0}


def _status(popped: Popped, prefix: str = "env_status.") -> dict[str, Any]:
    episode_id = None if popped.episode_id is None else str(popped.episode_id)
    return {f"{prefix}episode_id": episode_id, f"{prefix}env_state": popped.state}


def _told(popped: Popped) -> dict[str, Any]:
    told: dict[str, Any] = {"text": popped.completed_texts} if popped.completed_texts else {}
    if popped.completed_observation is not None:
        told["observation"] = popped.completed_observation.observation
    return told


def _masked() -> dict[str, Any]:
    return {"mask.masked.action": True, "mask.masked.observation": True}
