"""An environment of verifiers: the model sees a program's screen, and answers with a call, until the episode is over.

prime env push --path examples/trainers/verifiers_screen       # to the hub, or here:
pip install "pluriverse[mcp]" verifiers examples/trainers/verifiers_screen
vf-eval verifiers_screen --model MODEL --client.base-url http://localhost:8000/v1
"""

import json
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from pluriverse.adapters.computer import Answer, AsyncComputer
from pluriverse.adapters.computer.calls import read
from pluriverse.errors import PluriverseError

__all__ = ["ScreenEnv", "ScreenTaskset"]

ASKS = """You see the screen of a program. Answer with one call as JSON and nothing else, such as
{"name": "click", "arguments": {"x": 40, "y": 90}} or {"name": "type_text", "arguments": {"text": "hello"}}."""
# The model alone, without a shell.
PLAYER = {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}, "max_turns": 20}


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
            yield vf.Task[ScreenData](ScreenData(env_id=self.config.env_id, seed=seed), self.config.task)


class ScreenEnvConfig(vf.EnvConfig):
    """Who plays."""

    player: vf.AgentConfig = vf.AgentConfig.model_validate(PLAYER)


class ScreenEnv(vf.Env[ScreenEnvConfig]):
    """The program answers each call with its screen."""

    async def run(self, task: vf.Task[ScreenData], agents: vf.Agents) -> None:
        """Play one episode, on a remote of its own that waits while the model thinks."""
        async with AsyncComputer(task.data.env_id, "local:1", clock="lockstep") as screen:
            answer, said = await screen.begin(task.data.seed), ASKS
            async with agents.player.interaction(task) as interaction:
                segment = await interaction.turn(turn(answer, said))
                while not (segment.terminated or screen.computer.over):
                    try:
                        answer = await screen.do(read(json.loads(segment.last_reply)))
                        said = answer.message
                    except (ValueError, PluriverseError) as error:  # for the model to read
                        said = str(error)
                    if not screen.computer.over:
                        segment = await interaction.turn(turn(answer, said))
            interaction.trace.record_reward("earned", screen.computer.total_reward)


def turn(answer: Answer, said: str) -> list[Any]:
    """Return what the model is shown and told."""
    assert answer.image is not None
    picture = {"type": "image_url", "image_url": {"url": answer.image.data_url()}}
    return [vf.UserMessage(content=[picture, {"type": "text", "text": f"{answer.text}\n{said}"}])]
