"""All connections of one remote: who is the agent, who watches, and what they are all told."""

from __future__ import annotations

import asyncio
import logging
import statistics
import time
from typing import TYPE_CHECKING, Final

from pluriverse_protocol.messages import ServerMessage

from .requests import Requests
from .send_queue import Waiting

if TYPE_CHECKING:
    from .connection import Connection

log = logging.getLogger(__name__)

# One agent, and observers: dashboards, recorders, health checks. Beyond this a remote would serve watchers, not agents.
MAX_CONNECTIONS: Final = 64

# How often connections are pinged and their time limits looked at.
PATROL_S: Final = 1.0

# How long connections get to take the goodbye of a remote that stops.
FAREWELL_S: Final = 0.5


class Hub:
    """The connections, and the one among them that acts."""

    def __init__(self, requests: Requests, *, idle_timeout_s: float, session_timeout_s: float) -> None:
        """Time limits are seconds, 0 for none."""
        self.requests = requests
        self.idle_timeout_s = idle_timeout_s
        self.session_timeout_s = session_timeout_s
        self.connections: set[Connection] = set()
        self.agent: Connection | None = None
        self.merged_rewards = 0
        self.dropped_observations = 0
        self._patrol_task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch over the connections."""
        self._patrol_task = asyncio.create_task(self._patrol(), name="connections")

    async def stop(self, reason: str) -> None:
        """Say goodbye to all, and hang up."""
        if self._patrol_task is not None:
            self._patrol_task.cancel()
        leaving = [asyncio.create_task(connection.close(reason)) for connection in self.connections]
        if leaving:
            await asyncio.wait(leaving, timeout=FAREWELL_S)

    @property
    def full(self) -> bool:
        """Whether there is room for no more."""
        return len(self.connections) >= MAX_CONNECTIONS

    @property
    def observers(self) -> int:
        """How many connections are not the agent's."""
        return len(self.connections) - (self.agent is not None)

    @property
    def agent_round_trip_s(self) -> float | None:
        """The median of the agent's last round trips."""
        trips = self.agent.round_trips_s if self.agent else ()
        return statistics.median(trips) if trips else None

    def broadcast(self, message: ServerMessage, episode_id: int) -> float:
        """Queue ``message`` for everyone; returns the ``sent_at`` that it carries, in UNIX seconds."""
        sent_at = time.time()
        waiting = Waiting(message, sent_at, episode_id)
        for connection in self.connections:
            connection.put(waiting)
        return sent_at

    def claim_agent(self, connection: Connection) -> bool:
        """Make ``connection`` the agent; False if there is another already."""
        if self.agent is None:
            self.agent = connection
            log.info("an agent has connected from %s", connection.peer)
        return self.agent is connection

    def add(self, connection: Connection) -> None:
        """A connection has been let in: it hears everything from now on, what the environment is first."""
        described = self.requests.description()
        if described is not None:
            connection.put(Waiting(described[0], time.time(), described[1]))
        self.connections.add(connection)

    def remove(self, connection: Connection) -> None:
        """A connection has ended."""
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
