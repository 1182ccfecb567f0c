"""The first hour of somebody who lets a language model play, as docs/models.md has it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from support.leftovers import Leftovers
from support.remotes import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PLURIVERSE = str(Path(sys.executable).with_name("pluriverse"))
MODELS = (ROOT / "docs/models.md").read_text()
TASK = "wob.mini.ClickTest-v0"


class Newcomer:
    """A model that reads what it is told; what programs read is kept in ``facts``."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.facts: dict[str, Any] = {}

    async def call(self, name: str, **arguments: Any) -> str:
        answer: Any = await self._client.call_tool(name, arguments)
        assert not answer.is_error, answer.content
        told = answer.content[-1].text
        self.facts = answer.structured_content or {}
        assert not self.facts or json.dumps(self.facts) not in told
        assert all(round(number, 3) == number for number in floats(self.facts)), self.facts
        assert not re.search(r"\.\d{4}", told), told
        return told


def floats(facts: Any) -> Iterator[float]:
    if isinstance(facts, float):
        yield facts
    elif isinstance(facts, dict | list):
        fields = cast("dict[str, Any] | list[Any]", facts)
        for each in fields.values() if isinstance(fields, dict) else fields:
            yield from floats(each)


def configured() -> StdioServerParameters:
    """What the document tells to write into a host's configuration."""
    (block, *_) = re.findall(r"(?s)```json\n(.*?)```", MODELS)
    args = json.loads(block)["mcpServers"]["pluriverse"]["args"]
    return StdioServerParameters(command=PLURIVERSE, args=[*args, "--remotes", "local:1"])


async def test_a_model_solves_a_task_of_the_web_in_five_calls() -> None:
    leftovers = Leftovers()
    async with Client(stdio_client(configured())) as client:
        model = Newcomer(client)
        assert TASK in (await model.call("list_environments", containing="ClickTest")).splitlines()
        begun = await model.call("begin_episode", environment=TASK, seed=1)
        handle = model.facts["handle"]
        *told, time, then = begun.splitlines()
        assert told[:2] == ["Task: Click the button.", "Reward: 0 since the last answer, 0 in all."]
        assert told[2:] == ["0 frames passed, 0 s."]
        assert time == "The episode is paused while you think, with at most 10.0 s left of its own time."
        assert re.fullmatch(rf"Next: click, .* with handle {handle}\.", then)
        seen = await model.call("look", handle=handle, marks=True, tree=True)
        mark = re.search(r'\[(\d+)\] button "Click Me!"', seen)
        assert mark is not None
        solved = await model.call("click", handle=handle, mark=int(mark[1]))
        assert "The episode is over: the environment ended it" in solved
        assert model.facts["terminated"]
        assert 0 < model.facts["reward"] == model.facts["total_reward"] <= 1
        await model.call("release", handle=handle)
    leftovers.assert_none(60)


def test_the_documents_loops_play() -> None:
    samples = [block for block in re.findall(r"(?s)```python\n(.*?)```", MODELS) if 'Computer("' in block]
    said: list[str] = []
    for sample in samples:
        played = subprocess.run(
            [sys.executable, "-c", sample], cwd=ROOT, check=True, timeout=120, capture_output=True, text=True
        )
        said.append(played.stdout)
    looked, together, called = said
    assert re.fullmatch(r'(?s)Click the button\. \d.*\[1\] button "Click Me!" \(26,110,46,46\)\n0\.\d+ True\n', looked)
    assert len(re.findall(r"\(0\.0, 'data:image/png;base64,[^']*', '[^']*\] button \"Click Me!\"", together)) == 2
    assert re.fullmatch(r"\[0\.\d+, 0\.0\]\n", called)
