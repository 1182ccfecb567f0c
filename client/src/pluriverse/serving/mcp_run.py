"""Runs the server of the Model Context Protocol, on standard input and output or over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import anyio
from mcp.server.transport_security import TransportSecuritySettings

from . import mcp_sdk
from .computers import Computers
from .mcp_server import Server
from .web import guarded, serve

Greet = Callable[[], object]

# The tool reports oversized requests in words; beyond this there is only an error.
MAX_REQUEST_BYTES: Final = 16 * 1024 * 1024


def run_stdio(server: Server, computers: Computers) -> None:
    """Serve one client on standard input and output, until it hangs up."""
    try:
        server.server.run("stdio")
    finally:
        computers.close_all()


def run_http(server: Server, computers: Computers, where: tuple[str, int], token: str, greet: Greet) -> None:
    """Serve clients with ``token`` at http://HOST:PORT/mcp, until Ctrl-C."""
    try:
        serve(http_app(server, where[0], token), *where, greet)
    finally:
        computers.close_all()


def http_app(server: Server, host: str, token: str) -> Any:
    """Return the ASGI application; each request stands for itself."""
    app = mcp_sdk.http_app(
        server.server,
        stateless_http=True,
        json_response=True,
        host=host,
        max_request_body_size=MAX_REQUEST_BYTES,
        # It is checked here, as for OpenEnv.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return guarded(_cancelled_with_its_client(app), host, token)


def _cancelled_with_its_client(app: Any) -> Any:
    """Cancel what a client has asked for when it hangs up; where the answer is JSON the SDK waits for its end."""

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        messages, heard = anyio.create_memory_object_stream[Any](0)
        async with anyio.create_task_group() as tasks, messages, heard:

            async def listen() -> None:
                while (message := await receive())["type"] != "http.disconnect":
                    await messages.send(message)
                tasks.cancel_scope.cancel()

            tasks.start_soon(listen)
            await app(scope, heard.receive, send)
            tasks.cancel_scope.cancel()

    return watched
