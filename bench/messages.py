"""CPU of the rewarder's messages: decoding a reward, and encoding a large observation for many connections."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Final

from pluriverse_protocol import Headers, decode_from_server, encode
from pluriverse_protocol.messages import Observation, Reward
from pluriverse_server.daemon.send_queue import QueuedMessage
from report import Effort, Figures, Line, Measurement, Target

# As a remote sends them at 60 fps.
REWARD: Final = encode(
    Reward(
        1.0,
        done=False,
        info={
            "rewarder.lag.observation.timestamp": 1763792541.123456,
            "rewarder.frames": 1234,
            "rewarder.late_frames": 2,
            "lives": 3,
            "stats.steps": 1,
        },
        frame_at=1763792541.123456,
    ),
    Headers(1234, 1763792541.123999, episode_id=7),
)
DECODED_AT_ONCE: Final = 200

CONNECTIONS: Final = 16
NUMBERS: Final = 52_000  # which are 1 MB of JSON


def run(effort: Effort) -> Figures:
    """Microseconds of CPU for a reward, milliseconds for an observation; what is compared takes turns."""
    generator = random.Random(0)
    observation = Observation([generator.random() for _ in range(NUMBERS)])

    def broadcast() -> None:
        queued = QueuedMessage(observation, 1763792541.123999, 7)
        for message_id in range(CONNECTIONS):
            queued.encode(message_id).encode()

    small, large = effort.of(1000, 300), effort.of(15, 5)
    reward, plain_reward = _turns(
        lambda: decode_from_server(REWARD), lambda: json.loads(REWARD), small, DECODED_AT_ONCE
    )
    shared, plain = _turns(broadcast, lambda: json.dumps(observation.observation), large, 1)
    return {
        "reward_us": 1e6 * reward,
        "reward_plain_us": 1e6 * plain_reward,
        "observation_ms": 1e3 * shared,
        "observation_plain_ms": 1e3 * plain,
    }


def _turns(one: Callable[[], object], other: Callable[[], object], rounds: int, calls: int) -> tuple[float, float]:
    """The median seconds of this thread's CPU that one call of each takes."""
    spent: tuple[list[float], list[float]] = [], []
    for _ in range(rounds):
        for function, seconds in zip((one, other), spent, strict=True):
            began = time.thread_time()
            for _ in range(calls):
                function()
            seconds.append((time.thread_time() - began) / calls)
    return statistics.median(spent[0]), statistics.median(spent[1])


MEASUREMENT: Final = Measurement(
    "messages",
    (
        Line("decoding a reward", "µs", "reward_us", Target(8), "reward_plain_us", "json.loads alone, unchecked"),
        Line(
            f"encoding an observation of 1 MB for {CONNECTIONS} connections",
            "ms",
            "observation_ms",
            None,
            "observation_plain_ms",
            "json.dumps, once",
        ),
    ),
    run,
)
