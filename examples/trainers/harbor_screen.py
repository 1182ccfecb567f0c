"""Harbor on programs with a screen: an environment, an agent that shows a model pictures, and what grades it.

    pip install "pluriverse[mcp]" harbor
    PYTHONPATH=examples/trainers harbor run --path TASK --env harbor_screen:ScreenEnvironment \
        --agent harbor_screen:ScreenAgent --verifier harbor_screen:Earned --model openai/MODEL

TASK also has environment/screen.json: {"env": "wob.mini.ClickTest-v0", "seed": 1}. Its tests/test.sh may be empty.
"""

import json
from contextlib import AsyncExitStack
from typing import Any

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.verifier.result import VerifierResult
from harbor.verifier.base import BaseVerifier
from litellm import acompletion
from pluriverse.adapters.computer import AsyncComputer, calls
from pluriverse.errors import PluriverseError

ASKS = """You see the screen of a program. Answer with one call as JSON and nothing else, such as
{"name": "click", "arguments": {"x": 40, "y": 90}} or {"name": "type_text", "arguments": {"text": "hello"}}."""


class ScreenEnvironment(BaseEnvironment):
    """One episode, on a remote of its own, which waits while the model thinks; it has no shell."""

    type = staticmethod(lambda: "screen")
    is_path_mounted = staticmethod(lambda *_: True)  # its logs are on this machine already

    def _validate_definition(self) -> None:
        self._task = json.loads((self.environment_dir / "screen.json").read_text())

    async def start(self, force_build: bool) -> None:
        """Begin the episode."""
        self._open = AsyncExitStack()
        self.screen = AsyncComputer(self._task["env"], "local:1", clock="lockstep")
        await self._open.enter_async_context(self.screen)
        self.first = await self.screen.begin(self._task["seed"])

    async def stop(self, delete: bool) -> None:
        """Remove the remote."""
        await self._open.aclose()

    async def _refuse(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("this environment has a screen, but no shell and no files")

    exec = upload_file = upload_dir = download_file = download_dir = _refuse


class ScreenAgent(BaseAgent):
    """A model that sees the screen, and answers with calls until the episode is over."""

    name, version = staticmethod(lambda: "screen"), lambda _: None

    async def setup(self, environment: BaseEnvironment) -> None:
        """Install nothing."""

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        """Play."""
        screen, answer, said, messages = environment.screen, environment.first, f"{instruction}\n{ASKS}", []
        while not screen.computer.over and len(messages) < 40:
            picture = {"type": "image_url", "image_url": {"url": answer.image.data_url()}}
            messages += [{"role": "user", "content": [picture, {"type": "text", "text": f"{answer.text}\n{said}"}]}]
            reply = (await acompletion(self.model_name, messages)).choices[0].message.content or ""
            messages += [{"role": "assistant", "content": reply}]
            try:
                answer = await screen.do(calls.read(json.loads(reply)))
                said = answer.message
            except (ValueError, PluriverseError) as error:  # for the model to read
                said = str(error)


class Earned(BaseVerifier):
    """What the episode earned, by the check of its own."""

    async def verify(self) -> VerifierResult:
        """Return it."""
        return VerifierResult(rewards={"reward": self.environment.screen.computer.total_reward})
