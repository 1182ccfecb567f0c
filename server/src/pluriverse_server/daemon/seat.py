"""The seat of an agent that named itself by a token, and may come back after its line broke. Pure.

Unacknowledged messages are kept, within limits; messages for an agent that is away wait in the
queue, which merges rewards and drops old observations as for a slow reader. Numbers count what the agent has had, so
that resent messages are numbered from there.
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from pluriverse_protocol import MessageId
from pluriverse_protocol.limits import MAX_KEPT_BYTES, MAX_KEPT_MESSAGES
from pluriverse_protocol.messages import Describe, Observation, Reward, Text

from .send_queue import QueuedMessage, SendQueue

# What an agent must not miss. Replies to pings are of no use later, and a reset that wasn't answered is asked again.
KEPT: Final = (Describe, Reward, Text, Observation)


class _Sent(NamedTuple):
    number: int
    queued: QueuedMessage
    size: int


class Seat:
    """One agent's: its queue, and what was sent from it last."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.send_queue = SendQueue()
        # The last reset that was granted, and the episode that it began: asked again, it isn't done again.
        self.granted: tuple[MessageId, int] | None = None
        self._sent: deque[_Sent] = deque()
        self._bytes = 0
        self._number = 0
        self._forgotten = 0

    def next_number(self, queued: QueuedMessage) -> int | None:
        """Return the number of a message that is about to be sent; None if it isn't kept."""
        return self._number + 1 if isinstance(queued.message, KEPT) else None

    def keep(self, queued: QueuedMessage, size: int) -> None:
        """Keep a message that is being sent under ``next_number``, ``size`` characters long."""
        self._number += 1
        self._sent.append(_Sent(self._number, queued, size))
        self._bytes += size
        while len(self._sent) > MAX_KEPT_MESSAGES or self._bytes > MAX_KEPT_BYTES:
            self._forget_one()

    def acknowledge(self, last_number: int) -> None:
        """Note that the agent has all messages up to this one."""
        while self._sent and self._sent[0].number <= last_number:
            self._bytes -= self._sent.popleft().size

    def resume(self, last_number: int) -> bool:
        """Queue again what came after ``last_number``, before what waits; return False if that isn't known any more."""
        if not self._forgotten <= last_number <= self._number:
            return False
        self.acknowledge(last_number)
        again = [sent.queued for sent in self._sent]
        while (queued := self.send_queue.get()) is not None:
            if isinstance(queued.message, KEPT):
                again.append(queued)
        self._sent.clear()
        self._bytes = 0
        self._number = last_number
        # Not the same queue: the connection before may still be about to take from it.
        self.send_queue = SendQueue()
        for queued in again:
            self.send_queue.put(queued)
        return True

    def _forget_one(self) -> None:
        """Forget the oldest observation or text; without one, everything up to the oldest reward."""
        for index, sent in enumerate(self._sent):
            if isinstance(sent.queued.message, Observation | Text):
                del self._sent[index]
                self._bytes -= sent.size
                return
        oldest = self._sent.popleft()
        self._bytes -= oldest.size
        self._forgotten = oldest.number
