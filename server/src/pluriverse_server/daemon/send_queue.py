"""The messages that wait to be sent on one connection. Pure.

A slow reader costs bounded memory and loses nothing that counts: rewards of one episode are merged, the oldest
observations and texts are dropped, descriptions of state and last rewards stay.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec import structs
from pluriverse_protocol import Headers
from pluriverse_protocol.codec import encode_body, envelop
from pluriverse_protocol.messages import Observation, Reward, ServerMessage, Text

from pluriverse_server.episode import add_finite

# Up to here everything waits as it is: a second of a 60 fps environment that sends reward and observation each frame.
MERGE_ABOVE: Final = 128

# Structured observations may be large; beyond this they are out of date in a real-time environment.
MAX_OBSERVATIONS: Final = 64

# What can be neither merged nor dropped: three messages an episode. A reader so far behind is hung up on.
MAX_WAITING: Final = 4096


@dataclass(slots=True)
class QueuedMessage:
    """A message and its headers but for the id; one object for all connections that it is sent on.

    ``queued_at`` and ``received_at`` are in UNIX seconds, ``parent_runtime`` in seconds.
    """

    message: ServerMessage
    queued_at: float
    episode_id: int | None = None
    parent_message_id: int | str | None = None
    parent_runtime: float | None = None
    received_at: float | None = None
    _body: str | None = field(default=None, init=False, repr=False, compare=False)

    def encode(self, message_id: int, number: int | None = None) -> str:
        """Return the text frame for one connection; the body is encoded once for all of them."""
        if self._body is None:
            self._body = encode_body(self.message)
        headers = Headers(
            message_id,
            self.queued_at,
            self.episode_id,
            self.parent_message_id,
            self.parent_runtime,
            self.received_at,
            number,
        )
        return envelop(self.message, self._body, headers)


class SendQueue:
    """A queue in order of arrival, bounded as the module describes."""

    def __init__(self) -> None:
        self._queue: deque[QueuedMessage] = deque()
        self._observations = 0
        self.dropped_observations = 0
        self.merged_rewards = 0

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def overflowing(self) -> bool:
        return len(self._queue) > MAX_WAITING

    def put(self, queued: QueuedMessage) -> None:
        """Add a message at the end; a reward is merged into the last one if the reader is behind."""
        if len(self._queue) >= MERGE_ABOVE and self._merge(queued):
            return
        self._queue.append(queued)
        if isinstance(queued.message, Observation | Text):
            self._observations += 1
            if self._observations > MAX_OBSERVATIONS:
                self._drop_oldest_observation()

    def get(self) -> QueuedMessage | None:
        if not self._queue:
            return None
        queued = self._queue.popleft()
        if isinstance(queued.message, Observation | Text):
            self._observations -= 1
        return queued

    def _merge(self, later: QueuedMessage) -> bool:
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
            info = {**earlier.message.info, **later.message.info}
            self._queue[index] = replace(later, message=structs.replace(later.message, reward=total, info=info))
            self.merged_rewards += 1
            return True
        return False

    def _drop_oldest_observation(self) -> None:
        for index, queued in enumerate(self._queue):
            if isinstance(queued.message, Observation | Text):
                del self._queue[index]
                self._observations -= 1
                self.dropped_observations += 1
                return
