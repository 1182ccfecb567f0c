"""An environment of SkyRL: the model reads a program's screen in words, and answers with a call.

    pip install "pluriverse[mcp]" skyrl-gym
    register(id="screen", entry_point="skyrl_env:ScreenEnv")  # in the script that starts SkyRL's trainer

Rows of the dataset have env_class "screen", a prompt, and an extra "seed". SkyRL's messages are text, without pictures:
pages and programs of toolkits describe their screens (docs/models.md, trees and marks).
"""

import json
from typing import Any

from pluriverse.adapters.computer import Computer
from pluriverse.adapters.computer.calls import read
from pluriverse.errors import PluriverseError
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput, ConversationType

TASK = "wob.mini.ClickTest-v0"

ASKS = """You read the screen of a program; [n] is the number of an element. Answer with one call as JSON and
nothing else, such as {"name": "click", "arguments": {"mark": 1}} or {"name": "wait", "arguments": {"seconds": 1}}."""


class ScreenEnv(BaseTextEnv):
    """One episode, on a remote of its own, which waits while the model thinks."""

    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.max_turns = 10
        self._seed = (extras or {}).get("seed", 0)
        self._computer = Computer(TASK, "local:1", clock="lockstep")

    def init(self, prompt: ConversationType) -> tuple[ConversationType, dict[str, Any]]:
        """Begin the episode; its first screen comes behind the prompt."""
        self._computer.begin(self._seed)
        return [*prompt, self._screen(ASKS)], {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Do what the model asked for."""
        self.turns += 1
        before, said = self._computer.total_reward, ""
        try:
            said = self._computer.do(read(json.loads(action))).message
        except (ValueError, PluriverseError) as error:  # for the model to read
            said = str(error)
        done = self._computer.over or self.turns >= self.max_turns
        observations = [] if done else [self._screen(said)]
        reward = self._computer.total_reward - before
        return BaseTextEnvStepOutput(observations=observations, reward=reward, done=done, metadata={})

    def close(self) -> None:
        """Remove the remote."""
        self._computer.close()

    def _screen(self, said: str) -> dict[str, str]:
        return {"role": "user", "content": f"{said}\n{self._computer.text}\n{self._computer.tree().text()}"}
