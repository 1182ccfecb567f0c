"""GRPO with TRL on programs with a screen: a vision model clicks and types, and sees a picture after each act.

    pip install "pluriverse[mcp]" trl jmespath
    python examples/trainers/trl_grpo.py Qwen/Qwen3-VL-2B-Instruct

Each rollout of a batch has a remote of its own; in lockstep all of them wait while the model thinks.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pluriverse.adapters.computer import Answer, Computer
from pluriverse.adapters.computer.calls import read
from pluriverse.errors import PluriverseError

TASK = "wob.mini.ClickTest-v0"
STARTING = ThreadPoolExecutor()  # TRL makes one environment after the other; they start side by side


class Screen:
    """An environment of TRL's: its public methods are the tools of the model."""

    def __init__(self) -> None:
        self._started = STARTING.submit(Computer, TASK, "local:1", clock="lockstep")

    def reset(self, seed: int = 0, **_: Any) -> list[dict[str, Any]]:
        """Begin the episode of a row of the dataset; the rollouts of a group begin the same."""
        self._computer = self._started.result()
        return seen(self._computer.begin(seed))

    def get_reward(self) -> float:
        """Return what the rollout has earned."""
        return self._computer.total_reward

    def click(self, x: int, y: int) -> list[dict[str, Any]]:
        """Click at a place of the picture.

        Args:
            x: pixels from its left edge
            y: pixels from its top edge
        """
        return self._do("click", x=x, y=y)

    def type_text(self, text: str) -> list[dict[str, Any]]:
        """Type a text into what has the focus.

        Args:
            text: what to type
        """
        return self._do("type_text", text=text)

    def _do(self, name: str, **arguments: Any) -> list[dict[str, Any]]:
        try:
            return seen(self._computer.do(read({"name": name, "arguments": arguments})))
        except PluriverseError as error:  # for the model to read
            return [{"type": "text", "text": str(error)}]


def seen(answer: Answer) -> list[dict[str, Any]]:
    """Return the parts of a message: a picture, and what is said."""
    assert answer.image is not None
    text = "The episode is over." if answer.over else answer.text
    return [{"type": "image", "image": answer.image.pil()}, {"type": "text", "text": text}]


def rows(count: int) -> Any:
    """Return a dataset of so many seeds."""
    from datasets import Dataset

    prompt = [{"role": "user", "content": "Do the task."}]
    return Dataset.from_list([{"prompt": prompt, "seed": seed} for seed in range(count)])


if __name__ == "__main__":
    from trl import GRPOConfig, GRPOTrainer

    config = GRPOConfig("grpo", num_generations=8, max_completion_length=4096, max_tool_calling_iterations=10)
    trainer = GRPOTrainer(sys.argv[1], args=config, train_dataset=rows(1000), environment_factory=Screen)
    trainer.train()
