"""What waits to be sent on one connection. Pure.

A reader that is slower than the program costs bounded memory and loses nothing that counts: waiting rewards of one
episode are merged, the oldest observations and texts are dropped, descriptions of state and last rewards stay.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Final

from pluriverse_protocol.messages import Observation, Reward, ServerMessage, Text

from pluriverse_server.episode import add_finite

# Up to here everything waits as it is: a second of a 60 fps environment that sends reward and observation each frame.
MERGE_ABOVE: Final = 128

# Structured observations may be large; what waits beyond this is old news in a real-time environment.
MAX_OBSERVATIONS: Final = 64

# What can be neither merged nor dropped: three messages an episode. A reader so far behind is hung up on.
MAX_WAITING: Final = 4096


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message with the headers that it has before it is sent. ``queued_at`` is in UNIX seconds."""

    message: ServerMessage
    queued_at: float
    episode_id: int | None = None
    parent_message_id: int | str | None = None
    parent_runtime: float | None = None
    received_at: float | None = None


class SendQueue:
    """A queue in order of arrival, bounded as the module says."""

    def __init__(self) -> None:
        self._queue: deque[Waiting] = deque()
        self._observations = 0
        self.dropped_observations = 0
        self.merged_rewards = 0

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def overflowing(self) -> bool:
        """Whether the reader is so far behind that it can't be served."""
        return len(self._queue) > MAX_WAITING

    def put(self, waiting: Waiting) -> None:
        """Add a message at the end, merged into what waits there if the reader is behind."""
        if len(self._queue) >= MERGE_ABOVE and self._merge(waiting):
            return
        self._queue.append(waiting)
        if isinstance(waiting.message, Observation | Text):
            self._observations += 1
            if self._observations > MAX_OBSERVATIONS:
                self._drop_oldest_observation()

    def get(self) -> Waiting | None:
        """Take the first message; None if none waits."""
        if not self._queue:
            return None
        waiting = self._queue.popleft()
        if isinstance(waiting.message, Observation | Text):
            self._observations -= 1
        return waiting

    def _merge(self, later: Waiting) -> bool:
        """Merge a reward into the reward last queued for the same episode, if nothing but observations came since."""
        if not isinstance(later.message, Reward):
            return False
        for index in range(len(self._queue) - 1, -1, -1):
            earlier = self._queue[index]
            if isinstance(earlier.message, Observation | Text):
                continue
            if not isinstance(earlier.message, Reward) or earlier.episode_id != later.episode_id:
                return False
            total = add_finite(earlier.message.reward, later.message.reward)
            self._queue[index] = replace(
                later,
                message=replace(later.message, reward=total, info={**earlier.message.info, **later.message.info}),
            )
            self.merged_rewards += 1
            return True
        return False

    def _drop_oldest_observation(self) -> None:
        for index, waiting in enumerate(self._queue):
            if isinstance(waiting.message, Observation | Text):
                del self._queue[index]
                self._observations -= 1
                self.dropped_observations += 1
                return
