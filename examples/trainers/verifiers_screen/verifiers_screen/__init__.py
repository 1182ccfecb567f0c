"""An environment of verifiers: the model sees a program's screen, and answers with a call, until the episode is over.

prime env push --path examples/trainers/verifiers_screen       # to the hub, or here:
pip install "pluriverse[mcp]" verifiers examples/trainers/verifiers_screen
vf-eval verifiers_screen --env.agent.runtime.type subprocess --model MODEL --client.base-url http://localhost:8000/v1
"""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import verifiers.v1 as vf
from pluriverse.adapters.computer import AsyncComputer
from pluriverse.adapters.computer.calls import read
from pluriverse.errors import PluriverseError
from pluriverse.remotes import share

__all__ = ["ScreenHarness", "ScreenTaskset"]

ASKS = """You see the screen of a program. Answer with one call as JSON and nothing else, such as
{"name": "click", "arguments": {"x": 40, "y": 90}} or {"name": "type_text", "arguments": {"text": "hello"}}."""


class ScreenData(vf.TaskData):
    """An episode: an environment and a seed."""

    env_id: str
    seed: int


class ScreenConfig(vf.TasksetConfig):
    """Which environment, and how many seeds of it."""

    env_id: str = "wob.mini.ClickTest-v0"
    num_tasks: int = 100


class ScreenTaskset(vf.Taskset[vf.Task[ScreenData], ScreenConfig]):
    """The seeds of an environment."""

    def load(self) -> Iterator[vf.Task[ScreenData]]:
        """Yield the tasks."""
        for seed in range(self.config.num_tasks):
            data = ScreenData(prompt=ASKS, env_id=self.config.env_id, seed=seed)
            yield vf.Task[ScreenData](data, self.config.task)


class ScreenHarness(vf.Harness[vf.HarnessConfig]):
    """Eight remotes, of which each episode takes one; it waits while the model thinks."""

    EXECUTES_CODE, NEEDS_CONTAINER = False, False
    starting, shared = asyncio.Lock(), None

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, mcp_urls: Any, data: ScreenData
    ) -> vf.ProgramResult:
        """Play one episode."""
        async with self.starting:
            ScreenHarness.shared = self.shared or await asyncio.to_thread(share, "local:8", data.env_id)
        headers, url, messages = {"Authorization": f"Bearer {secret}"}, f"{endpoint}/chat/completions", []
        remote = AsyncComputer(data.env_id, self.shared.url, clock="lockstep", start_timeout_s=3600)
        async with remote as screen, httpx.AsyncClient(headers=headers, timeout=600) as model:
            answer, said = await screen.begin(data.seed), data.prompt
            while not screen.computer.over and len(messages) < 40:
                picture = {"type": "image_url", "image_url": {"url": answer.image.data_url()}}
                messages += [{"role": "user", "content": [picture, {"type": "text", "text": f"{answer.text}\n{said}"}]}]
                reply = await model.post(url, json={"model": ctx.model, "messages": messages})
                if reply.is_error:
                    return vf.ProgramResult(1, "", reply.text)
                messages += [reply.json()["choices"][0]["message"]]
                try:
                    answer = await screen.do(read(json.loads(messages[-1]["content"])))
                    said = answer.message
                except (TypeError, ValueError, PluriverseError) as error:  # for the model to read
                    said = str(error)
                trace.record_reward("earned", screen.computer.total_reward)
        return vf.ProgramResult(0, "", "")
