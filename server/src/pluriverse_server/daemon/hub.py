"""All connections of one remote: which one is the agent, and what is sent to all of them."""

from __future__ import annotations

import asyncio
import logging
import statistics
import time
from collections import deque
from typing import Final, Protocol

from pluriverse_protocol.messages import ServerMessage

from pluriverse_server.tasks import start_task

from .requests import Requests
from .send_queue import QueuedMessage, SendQueue

log = logging.getLogger(__name__)

# One agent, and observers: dashboards, recorders, health checks. Beyond this a remote would serve watchers, not agents.
MAX_CONNECTIONS: Final = 64

# How often connections are pinged and their time limits checked.
PATROL_S: Final = 1.0

# How long connections have to take the last message of a remote that stops.
FAREWELL_S: Final = 0.5


class Member(Protocol):
    """A connection, as the hub uses it: the peer's address, what waits to be sent, the last round trips in seconds."""

    peer: str
    send_queue: SendQueue
    round_trips_s: deque[float]

    def put(self, queued: QueuedMessage) -> None:
        """Send a message after those that are queued already."""
        ...

    def check(self, now: float) -> None:
        """Enforce the time limits, and ping. ``now`` is the loop's time in seconds."""
        ...

    async def close(self, reason: str) -> None:
        """Hang up, and wait until that is done."""
        ...


class Hub:
    """The connections, one of which may be the agent's."""

    def __init__(self, requests: Requests, *, idle_timeout_s: float, session_timeout_s: float) -> None:
        """Time limits are seconds, 0 for none."""
        self.requests = requests
        self.idle_timeout_s = idle_timeout_s
        self.session_timeout_s = session_timeout_s
        self.connections: set[Member] = set()
        self.agent: Member | None = None
        self.merged_rewards = 0
        self.dropped_observations = 0
        self._patrol_task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to ping the connections and enforce their time limits."""
        self._patrol_task = start_task(self._patrol(), "connections")

    async def stop(self, reason: str) -> None:
        """Send ``reason`` to all connections, and hang up."""
        if self._patrol_task is not None:
            self._patrol_task.cancel()
        leaving = [asyncio.create_task(connection.close(reason)) for connection in self.connections]
        if leaving:
            await asyncio.wait(leaving, timeout=FAREWELL_S)

    @property
    def full(self) -> bool:
        """Whether no more connections are taken."""
        return len(self.connections) >= MAX_CONNECTIONS

    @property
    def observers(self) -> int:
        """The number of connections that are not the agent's."""
        return len(self.connections) - (self.agent is not None)

    @property
    def agent_round_trip_s(self) -> float | None:
        """The median of the agent's last round trips, in seconds."""
        trips = self.agent.round_trips_s if self.agent else ()
        return statistics.median(trips) if trips else None

    def broadcast(self, message: ServerMessage, episode_id: int) -> float:
        """Send ``message`` on every connection; return its ``sent_at`` in UNIX seconds."""
        sent_at = time.time()
        queued = QueuedMessage(message, sent_at, episode_id)
        for connection in self.connections:
            connection.put(queued)
        return sent_at

    def claim_agent(self, connection: Member) -> bool:
        """Make ``connection`` the agent's; return False if another one is."""
        if self.agent is None:
            self.agent = connection
            log.info("an agent has connected from %s", connection.peer)
        return self.agent is connection

    def add(self, connection: Member) -> None:
        """Send everything to ``connection`` from now on, the environment's description first."""
        described = self.requests.description()
        if described is not None:
            connection.put(QueuedMessage(described[0], time.time(), described[1]))
        self.connections.add(connection)

    def remove(self, connection: Member) -> None:
        """Forget ``connection``, which has ended."""
        self.connections.discard(connection)
        self.merged_rewards += connection.send_queue.merged_rewards
        self.dropped_observations += connection.send_queue.dropped_observations
        if self.agent is connection:
            self.agent = None
            log.info("the agent has gone")
            self.requests.agent_left()

    async def _patrol(self) -> None:
        while True:
            await asyncio.sleep(PATROL_S)
            now = asyncio.get_running_loop().time()
            for connection in list(self.connections):
                connection.check(now)
