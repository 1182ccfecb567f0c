"""All connections of one remote: which one is the agent, and what is sent to all of them."""

from __future__ import annotations

import asyncio
import hmac
import logging
import math
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pluriverse_protocol.limits import MAX_WATCHED_TREES_PER_S, SEAT_KEPT_S
from pluriverse_protocol.messages import ServerMessage

from pluriverse_server.access import audit
from pluriverse_server.access.tokens import LONG_CHARS, Token
from pluriverse_server.tasks import start_task

from .requests import Requests
from .seat import Seat
from .send_queue import QueuedMessage

if TYPE_CHECKING:
    from .connection import Connection

log = logging.getLogger(__name__)

# One agent, and observers: dashboards, recorders, health checks. Beyond this a remote would serve watchers, not agents.
MAX_CONNECTIONS: Final = 64

# How often connections are pinged and their time limits checked.
PATROL_S: Final = 1.0

# The same in lockstep, where an agent may think for minutes, and all the rest stands still.
SELDOM_PATROL_S: Final = 5.0

ANOTHER_AGENT: Final = (
    "another agent plays it, and a remote has one agent at a time; watch it with observer=True (the header "
    "openai-observer: true) or in the viewer, take another remote, or take it over with take_over=True"
)
TAKEN_OVER: Final = "another agent has taken this remote over"

# How long connections have to take the last message of a remote that stops.
FAREWELL_S: Final = 0.5


class Sessions:
    def __init__(self, requests: Requests) -> None:
        self.requests = requests
        self.connections: set[Connection] = set()
        self.agent: Connection | None = None
        # The agent's, if it has a token. With no agent it is one that may come back, until the loop's time given here.
        self._seat: Seat | None = None
        self._seat_holder: Token | None = None
        self._seat_kept_until = 0.0
        self.merged_rewards = 0
        self.dropped_observations = 0
        self._patrol_task: asyncio.Task[None] | None = None
        self._watched_tree_at = -math.inf

    def start(self) -> None:
        self._patrol_task = start_task(self._patrol(), "connections")

    async def stop(self, reason: str) -> None:
        if self._patrol_task is not None:
            self._patrol_task.cancel()
        leaving = [asyncio.create_task(connection.close(reason)) for connection in self.connections]
        if leaving:
            await asyncio.wait(leaving, timeout=FAREWELL_S)

    @property
    def full(self) -> bool:
        return len(self.connections) >= MAX_CONNECTIONS

    @property
    def occupied(self) -> bool:
        return self.agent is not None or self._seat is not None

    @property
    def observers(self) -> int:
        return len(self.connections) - (self.agent is not None)

    @property
    def agent_round_trip_s(self) -> float | None:
        trips = self.agent.round_trips_s if self.agent else ()
        return statistics.median(trips) if trips else None

    def broadcast(self, message: ServerMessage, episode_id: int) -> float:
        """Send ``message`` on every connection; return its ``sent_at`` in UNIX seconds."""
        sent_at = time.time()
        queued = QueuedMessage(message, sent_at, episode_id)
        for connection in self.connections:
            connection.put(queued)
        if self.agent is None and self._seat is not None:
            self._seat.send_queue.put(queued)
        return sent_at

    def resume(self, token: str, last_number: int | None, who: Token) -> Seat | None:
        """Return the seat of the agent that comes back with its ``token``, to go on after message ``last_number``.

        Its old connection is cut. None: it has to start over, without a number or seat, or because it missed too much.
        """
        seat = self._seat
        if seat is None or seat.token != token or who != self._seat_holder:
            return None
        if self.agent is not None:
            log.info("the agent reconnected before its last connection broke")
            self._leave(self.agent)
            self.agent.cut()
            self.agent = None
            self.requests.agent_left()
        if last_number is None or not seat.resume(last_number):
            self._vacate()
            return None
        self._keep_seat(asyncio.get_running_loop().time())
        return seat

    def claim_agent(self, connection: Connection) -> str | None:
        """Make ``connection`` the agent's; return why it can't be, if so. An agent that is away loses its seat."""
        if self.agent is connection:
            return None
        if connection not in self.connections or (self.agent is not None and not connection.takes_over):
            return ANOTHER_AGENT
        comes_back = connection.seat is not None and connection.seat is self._seat
        if not comes_back and (refusal := self.requests.why_not(connection.who)) is not None:
            return refusal
        if self.agent is not None:
            before, self.agent = self.agent, None
            self._leave(before)
            before.hang_up(TAKEN_OVER)
            self.requests.agent_left()
            self._vacate()
        if not comes_back:
            self._give_seat_up("another agent connected")
            audit.note("agent connected", connection.who, connection.peer)
        self.agent = connection
        self._seat = connection.seat
        self._seat_holder = connection.who
        log.info("an agent connected from %s", connection.peer)
        return None

    def may_watch_tree(self) -> bool:
        """Return whether an observer may have a tree now, which counts as given; the limit is for all observers."""
        now = asyncio.get_running_loop().time()
        if now - self._watched_tree_at < 1 / MAX_WATCHED_TREES_PER_S:
            return False
        self._watched_tree_at = now
        return True

    def has_seat(self, token: str | None) -> bool:
        """Return whether this is the token of the agent's seat, and too long to be guessed."""
        seat = self._seat
        if token is None or seat is None or len(token) < LONG_CHARS:
            return False
        return hmac.compare_digest(token.encode(errors="replace"), seat.token.encode(errors="replace"))

    def is_agent(self, token: str | None, peer: str, who: Token) -> bool:
        """Return whether who asks is the agent: by its seat's token, or where it has none by its address."""
        if self.agent is None or self.agent.who != who:
            return False
        return token == self._seat.token if self._seat is not None else peer == self.agent.peer

    def add(self, connection: Connection) -> None:
        """Send everything to ``connection`` from now on, the environment's description first.

        An agent with a token takes its seat now, others with their first message. One that comes back hears what it
        missed instead of the description, and one that is refused hears why.
        """
        comes_back = connection.seat is not None and connection.seat is self._seat
        self.connections.add(connection)
        if connection.seat is not None and (refusal := self.claim_agent(connection)) is not None:
            connection.hang_up(refusal)
        elif not comes_back and (described := self.requests.description()) is not None:
            connection.put(QueuedMessage(described[0], time.time(), described[1]))

    def expel(self, leaves: Callable[[Token], bool], reason: str) -> None:
        """Hang up with ``reason`` on all whose token ``leaves`` names, and keep no seat for them."""
        for connection in list(self.connections):
            if leaves(connection.who):
                connection.hang_up(reason)
        if self.agent is None and self._seat_holder is not None and leaves(self._seat_holder):
            self._give_seat_up(reason)

    def remove(self, connection: Connection) -> None:
        """Forget ``connection``, which has ended; the seat of an agent whose line broke is kept for a while."""
        if connection not in self.connections:
            return
        self._leave(connection)
        if self.agent is not connection:
            return
        self.agent = None
        self.requests.agent_left()
        if connection.seat is None or connection.parted:
            self._vacate()
            log.info("the agent disconnected")
        else:
            self._keep_seat(connection.heard_at)
            log.info("the agent's connection broke; its seat is kept for %g s", SEAT_KEPT_S)

    def _leave(self, connection: Connection) -> None:
        self.connections.discard(connection)
        self.merged_rewards += connection.send_queue.merged_rewards
        self.dropped_observations += connection.send_queue.dropped_observations

    def _keep_seat(self, heard_at: float) -> None:
        self._seat_kept_until = heard_at + SEAT_KEPT_S

    def _give_seat_up(self, why: str) -> None:
        if self._seat is not None:
            self._vacate()
            log.info("the agent has not reconnected: %s", why)

    def _vacate(self) -> None:
        self._seat = self._seat_holder = None
        self.requests.agent_ended()

    async def _patrol(self) -> None:
        while True:
            await asyncio.sleep(SELDOM_PATROL_S if self.requests.in_lockstep else PATROL_S)
            now = asyncio.get_running_loop().time()
            for connection in list(self.connections):
                connection.check(now)
            if self.agent is None and self._seat is not None:
                if now > self._seat_kept_until:
                    self._give_seat_up(f"no message for {SEAT_KEPT_S:g} s")
                elif self._seat.send_queue.overflowing:
                    self._give_seat_up("it missed too many messages")
