"""A resources server of NeMo Gym: the model reads a program's screen in words, and answers with a call.

    pip install nemo-gym
    cd examples/trainers/nemo_gym_screen
    gym eval run --config resources_servers/screen/screen.yaml --split validation --output rollouts.jsonl \
        --model-type vllm_model --model MODEL --model-url http://localhost:8000/v1 --model-api-key none

Rows of the dataset have a prompt and a seed. NeMo Gym's observations are text, without pictures: pages and programs of
toolkits describe their screens (docs/models.md, trees and marks).
"""

import json
from collections import Counter
from typing import Any

from nemo_gym.openai_utils import NeMoGymResponse
from pluriverse.adapters.computer import AsyncComputer
from pluriverse.adapters.computer.calls import read
from pluriverse.errors import PluriverseError
from pydantic import Field
from resources_servers.gymnasium import GymnasiumServer, extract_text

TASK = "wob.mini.ClickTest-v0"
MAX_TURNS = 10

ASKS = """You read the screen of a program; [n] is the number of an element. Answer with one call as JSON and
nothing else, such as {"name": "click", "arguments": {"mark": 1}} or {"name": "wait", "arguments": {"seconds": 1}}."""


class ScreenServer(GymnasiumServer):
    """An episode for each session, on a remote of its own, which waits while the model thinks."""

    turns: Counter[str] = Field(default_factory=Counter)

    async def reset(self, metadata: dict[str, Any], session_id: str | None = None) -> tuple[str, dict[str, Any]]:
        """Begin the episode; its first screen comes behind the prompt."""
        screen = self.session_state[session_id] = AsyncComputer(TASK, "local:1", clock="lockstep")
        await screen.__aenter__()
        await screen.begin(metadata.get("seed", 0))
        return await described(screen, ASKS), {}

    async def step(
        self, action: NeMoGymResponse, metadata: dict[str, Any], session_id: str | None = None
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Do what the model asked for."""
        screen, said = self.session_state[session_id], ""
        self.turns[session_id] += 1
        before = screen.computer.total_reward
        try:
            said = (await screen.do(read(json.loads(extract_text(action))))).message
        except (ValueError, PluriverseError) as error:  # for the model to read
            said = str(error)
        over, earned = screen.computer.over, screen.computer.total_reward - before
        observation = "" if over else await described(screen, said)
        return observation, earned, over, self.turns[session_id] >= MAX_TURNS, {}

    async def close_session(self, session_id: str | None) -> None:
        """Remove the remote."""
        self.turns.pop(session_id)
        await self.session_state.pop(session_id).__aexit__()


async def described(screen: AsyncComputer, said: str) -> str:
    """Return what the model reads."""
    return f"{said}\n{screen.computer.text}\n{(await screen.tree()).text()}"


if __name__ == "__main__":
    ScreenServer.run_webserver()
