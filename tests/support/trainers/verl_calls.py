"""The calls of two rollouts, by verl's own agent loop and registry of tools. Run by verl's own interpreter."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from verl.experimental.agent_loop.tool_agent_loop import AgentData, ToolAgentLoop
from verl.experimental.agent_loop.tool_parser import FunctionCall
from verl.tools.tool_registry import initialize_tools_from_config

sys.path.insert(0, str(Path(__file__).parents[3] / "examples/trainers"))


def tools() -> list[Any]:
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("tools: [{class_name: verl_tool.ScreenTool, config: {type: native, remotes: 'local:2'}}]")
        file.flush()
        return initialize_tools_from_config(file.name)


async def main(places: list[dict[str, int]]) -> None:
    """Click at each place in a rollout of its own, after a call that is nonsense; print the answers."""
    loop = ToolAgentLoop.__new__(ToolAgentLoop)
    loop.tools = {tool.name: tool for tool in tools()}
    loop.max_tool_response_length, loop.tool_response_truncate_side = 1000, "left"

    async def rollout(place: dict[str, int]) -> list[Any]:
        kwargs = {"computer": {"create_kwargs": {"seed": 1}}}
        data = AgentData([], [], [], [], None, {}, "1", kwargs)
        answers: list[Any] = []
        for name, arguments in (("fly", {}), ("click", place)):
            call = FunctionCall(name="computer", arguments=json.dumps({"name": name, "arguments": arguments}))
            response, reward, _ = await loop._call_tool(call, kwargs, data)
            answers.append([response.text, [image.size for image in response.image or ()], reward])
        return answers

    print(json.dumps(await asyncio.gather(*map(rollout, places))))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
