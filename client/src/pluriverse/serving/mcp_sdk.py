"""What a server needs of the SDK of the Model Context Protocol, whose two majors trainers pin one or the other of.

The names are the second's.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

IS_FIRST = importlib.metadata.version("mcp").startswith("1.")

if TYPE_CHECKING or not IS_FIRST:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.tools import Tool
    from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent, ToolAnnotations
else:
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.server.fastmcp.exceptions import ToolError
    from mcp.server.fastmcp.tools import Tool
    from mcp.types import CallToolResult, ContentBlock, ImageContent, TextContent, ToolAnnotations

__all__ = [
    "CallToolResult",
    "ContentBlock",
    "ImageContent",
    "TextContent",
    "Tool",
    "ToolAnnotations",
    "ToolError",
    "http_app",
    "make_server",
]


def make_server(name: str, version: str, instructions: str, tools: Sequence[Tool]) -> MCPServer[Any]:
    """Return a server that logs nothing but warnings."""
    options: dict[str, Any] = {"instructions": instructions, "log_level": "WARNING", "tools": list(tools)}
    if not IS_FIRST:
        return MCPServer(name, version=version, **options)
    server: Any = MCPServer(name, **options)
    server._mcp_server.version = version
    return server


def http_app(server: MCPServer[Any], **settings: Any) -> Any:
    """Return the server's ASGI application; ``settings`` are those of ``MCPServer.streamable_http_app``."""
    if not IS_FIRST:
        return server.streamable_http_app(**settings)
    for name, value in settings.items():
        setattr(server.settings, name, value)
    return server.streamable_http_app()
