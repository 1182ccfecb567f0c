"""Agents that can be evaluated, by their ``--agent``."""

from __future__ import annotations

from pluriverse.errors import ConfigurationError

from .agent import Agent, AgentFailed, Seen, hold
from .endpoint import EndpointAgent
from .mcp_client import McpAgent
from .python import python_agent
from .reference import RandomAgent, StillAgent
from .scripted import ScriptedAgent

__all__ = ["Agent", "AgentFailed", "Seen", "hold", "open_agent"]

KINDS = """
  random, still                any act ten times a second, and none
  scripted                     the script that the suite has for a task
  FILE.py:NAME, MODULE:NAME    Python: a function of what is seen, a class of such, or a Gymnasium policy (with predict)
  openai:MODEL                 a model behind an endpoint that speaks OpenAI's chat completions (--endpoint)
  mcp:WORDS                    a program that is told where an MCP server is, and plays through it"""


def open_agent(name: str, endpoint: str | None = None) -> Agent:
    """Return the agent of a name; each worker has one of its own.

    Raises:
        ConfigurationError: there is no such agent, or it is unavailable.
    """
    match name.partition(":"):
        case ("random", "", ""):
            return RandomAgent()
        case ("still", "", ""):
            return StillAgent()
        case ("scripted", "", ""):
            return ScriptedAgent()
        case ("openai", ":", model) if model:
            return EndpointAgent(model, endpoint)
        case ("mcp", ":", words) if words:
            return McpAgent(words)
        case (where, ":", attribute) if where and attribute:
            return python_agent(where, attribute)
        case _:
            raise ConfigurationError(f"--agent {name!r:.80}: unknown agent; expected one of:{KINDS}")
