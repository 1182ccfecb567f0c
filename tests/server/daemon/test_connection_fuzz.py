"""Fuzzes the daemon's message handling: whatever an agent sends, the daemon and its other connections live on."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import pytest
from support.served import serving
from websockets.exceptions import ConnectionClosed

MESSAGES = 1500

VALID = [
    {"method": "v0.control.ping", "headers": {"message_id": 1, "sent_at": 1.5}, "body": {}},
    {
        "method": "v0.env.reset",
        "headers": {"message_id": "a", "sent_at": 2, "episode_id": "0"},
        "body": {"env_id": "toy.Second-v0", "seed": 3, "fps": 30},
    },
    {
        "method": "v0.agent.action",
        "headers": {"message_id": 3, "sent_at": 3.0},
        "body": {"action": [["KeyEvent", 65361, True], ["PointerEvent", 1, 2, 0], ["JoystickAxisXEvent", 0.5]]},
    },
]
SNIPPETS = ['"', "{", "}", "[", "]", "null", "NaN", "1e999", "-1", '"\\ud800"', "\u0000", "true", "9" * 400, "😀", ","]


def mutated(rng: random.Random) -> str:
    """A valid message with some of it cut out, doubled, or replaced."""
    text = json.dumps(rng.choice(VALID))
    for _ in range(rng.randint(0, 4)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.randint(0, 12))
        text = text[:start] + rng.choice([*SNIPPETS, "", text[start:end] * 2]) + text[end:]
    return text


@pytest.mark.parametrize("seed", [1, 2])
async def test_whatever_an_agent_sends_the_daemon_lives_on(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    async with serving(tmp_path) as served, served.agent(observer=True) as neighbour:
        await served.running()
        sent = 0
        while sent < MESSAGES:
            async with served.agent() as agent:
                listening = asyncio.create_task(agent.hear_end())
                for _ in range(rng.randint(1, 300)):
                    text = mutated(rng)
                    try:
                        await agent.socket.send(text.encode(errors="replace") if rng.random() < 0.02 else text)
                    except (UnicodeEncodeError, ConnectionClosed):
                        continue
                    sent += 1
                await agent.socket.close()
                await listening
        await neighbour.assert_alive()
        assert not served.service.gave_up.done()
