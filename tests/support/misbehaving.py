"""A remote in a thread that keeps to the protocol up to where a test has it break it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any, Final

from pluriverse_protocol import step_channel
from support.sockets import DEADLINE_S
from support.vnc_servers import Peer, one_colour, server
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

SIDE: Final = 64
DESCRIBED: Final[dict[str, Any]] = {
    "env_id": "toy.First-v0",
    "env_state": "running",
    "fps": 60,
    "width": SIDE,
    "height": SIDE,
    "clocks": ["realtime", "lockstep"],
    "lockstep": "exact",
}
NOTHING: Final = '{"method": "v0.env.text", "headers": {"message_id": 1, "sent_at": 1}, "body": {"text": ""}}'


def message(method: str, body: Any, episode: int = 1, **headers: Any) -> str:
    """A message of a remote; ``body`` may be JSON that no encoder writes."""
    text = body if isinstance(body, str) else json.dumps(body)
    named = {"message_id": 1, "sent_at": 1.0, "episode_id": str(episode), **headers}
    return f'{{"method": "{method}", "headers": {json.dumps(named)}, "body": {text}}}'


@contextlib.contextmanager
def misbehaving(
    says: Callable[[int], str] = lambda _: NOTHING,
    *,
    update: bytes = one_colour(SIDE, SIDE, 7),
    first: bytes = b"",
) -> Generator[str]:
    """Yield the address. Each episode, by its number, begins with what it ``says``, and in lockstep with ``first``.

    ``update`` is what its screen sends.
    """

    async def speak(socket: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            await answer(socket)

    async def answer(socket: ServerConnection) -> None:
        assert socket.request is not None
        if socket.request.path.startswith(step_channel.PATH):
            await socket.send(first)
            await socket.wait_closed()
            return
        episode = 1
        await socket.send(message("v0.env.describe", DESCRIBED))
        async for text in socket:
            asked = json.loads(text)
            parent = asked["headers"]["message_id"]
            if asked["method"] == "v0.env.reset":
                episode += 1
                await socket.send(message("v0.reply.env.reset", {}, episode, parent_message_id=parent))
                await socket.send(message("v0.env.describe", DESCRIBED, episode))
                await socket.send(says(episode))
            else:
                await socket.send(message("v0.reply.control.ping", {}, parent_message_id=parent))

    def show(peer: Peer) -> None:
        while True:
            peer.wait_for_request()
            peer.send(update)

    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, int]] = Future()

    async def listen() -> None:
        over = asyncio.Event()
        async with serve(speak, "127.0.0.1", 0, ping_interval=None, close_timeout=0.1) as listening:
            port = next(iter(listening.sockets)).getsockname()[1]
            ready.set_result((asyncio.get_running_loop(), over, port))
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(listen()), daemon=True)
    thread.start()
    loop, over, port = ready.result(DEADLINE_S)
    try:
        with server(show, width=SIDE, height=SIDE) as vnc:
            yield f"vnc://127.0.0.1:{vnc}+{port}"
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(DEADLINE_S)
