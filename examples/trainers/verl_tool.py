"""A tool of verl's agent loop: the model clicks and types, and sees a picture after each act.

    pip install "pluriverse[mcp]" verl
    # in actor_rollout_ref.rollout: multi_turn.tool_config_path=tools.yaml agent.default_agent_loop=tool_agent

where tools.yaml is:

    tools:
      - class_name: verl_tool.ScreenTool
        config: {type: native, remotes: "local:8"}

A row's extra_info.tools_kwargs is {"computer": {"create_kwargs": {"seed": 1}}}; the rows of a group begin the same.
"""

import asyncio
import weakref
from typing import Any
from uuid import uuid4

from pluriverse.adapters.computer import AsyncComputer
from pluriverse.adapters.computer.calls import ACTING, read
from pluriverse.errors import PluriverseError
from pluriverse.remotes import share
from verl.tools.base_tool import BaseTool
from verl.tools.schemas import OpenAIFunctionToolSchema, ToolResponse

TASK = "wob.mini.ClickTest-v0"

ASKS = 'Act on the screen, such as click {"x": 40, "y": 90}, type_text {"text": "hello"}, wait {"seconds": 1}'
NAME = {"type": "string", "enum": [act.__name__ for act in ACTING], "description": "which act"}
PROPERTIES = {"name": NAME, "arguments": {"type": "object", "description": "its arguments"}}
PARAMETERS = {"type": "object", "properties": PROPERTIES, "required": ["name"]}
FUNCTION = {"name": "computer", "description": ASKS, "parameters": PARAMETERS}


class ScreenTool(BaseTool):
    """Remotes, of which each rollout takes one; it waits while the model thinks."""

    def __init__(self, config: dict[str, Any], tool_schema: Any) -> None:
        schema = OpenAIFunctionToolSchema.model_validate({"type": "function", "function": FUNCTION})
        super().__init__(config, tool_schema or schema)
        self._seeds: dict[str, int] = {}
        self._shared = share(config["remotes"], TASK)
        # verl makes and releases an instance for each call; only its data of the rollout outlasts them.
        self._screens: weakref.WeakKeyDictionary[Any, asyncio.Task[AsyncComputer]] = weakref.WeakKeyDictionary()

    async def create(self, instance_id: str | None = None, **kwargs: Any) -> tuple[str, ToolResponse]:
        """Note the seed of a call's rollout."""
        instance_id = instance_id or str(uuid4())
        self._seeds[instance_id] = kwargs.get("create_kwargs", {}).get("seed", 0)
        return instance_id, ToolResponse()

    async def execute(self, instance_id: str, parameters: dict[str, Any], **kwargs: Any) -> Any:
        """Act, and answer with a picture and what it earned."""
        rollout = kwargs["agent_data"]
        if rollout not in self._screens:
            self._screens[rollout] = asyncio.create_task(opened(self._shared.url, self._seeds[instance_id], rollout))
        screen = await self._screens[rollout]
        try:
            answer = await screen.do(read(parameters))
        except PluriverseError as error:  # for the model to read
            return ToolResponse(text=str(error)), 0.0, {}
        assert answer.image is not None
        text = "The episode is over." if answer.over else answer.text
        return ToolResponse(text=text, image=[answer.image.pil()]), answer.reward, {}

    async def release(self, instance_id: str, **kwargs: Any) -> None:
        """Forget the call."""
        del self._seeds[instance_id]


async def opened(remotes: str, seed: int, rollout: Any) -> AsyncComputer:
    """Take a remote once one is free, until there is no rollout any more, and begin the episode."""
    screen = AsyncComputer(TASK, remotes, clock="lockstep", start_timeout_s=3600)
    await screen.__aenter__()
    weakref.finalize(rollout, screen.computer.close)
    await screen.begin(seed)
    return screen
