"""A tool of verl's agent loop: the model clicks and types, and sees a picture after each act.

    pip install "pluriverse[mcp]" verl
    # in actor_rollout_ref.rollout: multi_turn.tool_config_path=tools.yaml agent.default_agent_loop=tool_agent

where tools.yaml is:

    tools:
      - class_name: verl_tool.ScreenTool
        config: {type: native}

A row's extra_info.tools_kwargs is {"computer": {"create_kwargs": {"seed": 1}}}; the rows of a group begin the same.
"""

import asyncio
import weakref
from typing import Any
from uuid import uuid4

from pluriverse.adapters.computer import Computer
from pluriverse.adapters.computer.calls import ACTING, read
from pluriverse.errors import PluriverseError
from verl.tools.base_tool import BaseTool
from verl.tools.schemas import OpenAIFunctionToolSchema, ToolResponse

TASK = "wob.mini.ClickTest-v0"

ASKS = 'Act on the screen, such as click {"x": 40, "y": 90}, type_text {"text": "hello"}, wait {"seconds": 1}'
NAME = {"type": "string", "enum": [act.__name__ for act in ACTING], "description": "which act"}
PROPERTIES = {"name": NAME, "arguments": {"type": "object", "description": "its arguments"}}
PARAMETERS = {"type": "object", "properties": PROPERTIES, "required": ["name"]}
FUNCTION = {"name": "computer", "description": ASKS, "parameters": PARAMETERS}


class ScreenTool(BaseTool):
    """One remote for each rollout; it waits while the model thinks, and is removed with the rollout."""

    def __init__(self, config: dict[str, Any], tool_schema: Any) -> None:
        schema = OpenAIFunctionToolSchema.model_validate({"type": "function", "function": FUNCTION})
        super().__init__(config, tool_schema or schema)
        self._seeds: dict[str, int] = {}
        # verl makes and releases an instance for each call; only its data of the rollout outlasts them.
        self._computers: weakref.WeakKeyDictionary[Any, Computer] = weakref.WeakKeyDictionary()

    async def create(self, instance_id: str | None = None, **kwargs: Any) -> tuple[str, ToolResponse]:
        """Note the seed of a call's rollout."""
        instance_id = instance_id or str(uuid4())
        self._seeds[instance_id] = kwargs.get("create_kwargs", {}).get("seed", 0)
        return instance_id, ToolResponse()

    async def execute(self, instance_id: str, parameters: dict[str, Any], **kwargs: Any) -> Any:
        """Act, and answer with a picture and what it earned."""
        return await asyncio.to_thread(self._act, self._seeds[instance_id], parameters, kwargs["agent_data"])

    async def release(self, instance_id: str, **kwargs: Any) -> None:
        """Forget the call."""
        del self._seeds[instance_id]

    def _act(self, seed: int, parameters: dict[str, Any], rollout: Any) -> tuple[ToolResponse, float, dict[str, Any]]:
        computer = self._computers.get(rollout)
        if computer is None:
            computer = self._computers[rollout] = Computer(TASK, "local:1", clock="lockstep")
            weakref.finalize(rollout, computer.close)
            computer.begin(seed)
        try:
            answer = computer.do(read(parameters))
        except PluriverseError as error:  # for the model to read
            return ToolResponse(text=str(error)), 0.0, {}
        assert answer.image is not None
        text = "The episode is over." if answer.over else answer.text
        return ToolResponse(text=text, image=[answer.image.pil()]), answer.reward, {}
