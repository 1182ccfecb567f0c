"""A v0 agent for tests: sends what it is told, keeps all that it hears."""

import asyncio
import base64
import contextlib
import json
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

from pluriverse_protocol import decode_from_server, seats
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

DEADLINE_S = 60.0

Message = dict[str, Any]


class Agent:
    """One connection to a remote's rewarder port."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[Message] = []
        self._next_message_id = 0

    @property
    def seat(self) -> str | None:
        assert self.socket.response is not None
        return self.socket.response.headers.get(seats.SEAT)

    @property
    def last_episode(self) -> str:
        """The last that was heard of."""
        return [m["headers"]["episode_id"] for m in self.heard if "episode_id" in m["headers"]][-1]

    def cut(self) -> None:
        """Break the line, without a word."""
        self.socket.transport.abort()

    async def send(self, method: str, body: Message, *, episode_id: str | None = None, **headers: Any) -> Any:
        """Send a message; returns its ``message_id``."""
        message_id = self._next_message_id
        self._next_message_id += 1
        all_headers: Message = {"message_id": message_id, "sent_at": time.time(), **headers}
        if episode_id is not None:
            all_headers["episode_id"] = episode_id
        await self.socket.send(json.dumps({"method": method, "headers": all_headers, "body": body}))
        return all_headers["message_id"]

    async def reset(self, env_id: str, *, leaving: str = "0", **body: Any) -> Any:
        return await self.send("v0.env.reset", {"env_id": env_id, **body}, episode_id=leaving)

    async def press(self, *keysyms: int) -> None:
        events = [["KeyEvent", keysym, down] for down in (True, False) for keysym in keysyms]
        await self.send("v0.agent.action", {"action": events})

    async def hear(self) -> Message:
        """The next message; every one must be what the codec takes for a server's."""
        text = await asyncio.wait_for(self.socket.recv(), DEADLINE_S)
        decode_from_server(text)
        message = json.loads(text)
        self.heard.append(message)
        return message

    async def hear_until(self, condition: Callable[[Message], bool]) -> Message:
        async with asyncio.timeout(DEADLINE_S):
            while True:
                message = await self.hear()
                if condition(message):
                    return message

    async def hear_method(self, method: str, **body: Any) -> Message:
        """The next message of ``method`` whose body has these values."""
        return await self.hear_until(
            lambda message: message["method"] == method and body.items() <= message["body"].items()
        )

    async def hear_reward(self) -> Message:
        """The body of the next message that pays something or ends the episode."""
        heard = await self.hear_until(
            lambda m: m["method"] == "v0.env.reward" and bool(m["body"]["reward"] or m["body"]["done"])
        )
        return heard["body"]

    async def hear_reply(self, message_id: Any) -> Message:
        return await self.hear_until(lambda message: message["headers"].get("parent_message_id") == message_id)

    async def hear_end(self) -> int | None:
        """Everything until the server hangs up; returns the close code."""
        try:
            async with asyncio.timeout(DEADLINE_S):
                while True:
                    await self.hear()
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None

    async def assert_alive(self) -> None:
        reply = await self.hear_reply(await self.send("v0.control.ping", {}))
        assert reply["method"] == "v0.reply.control.ping"

    def methods(self) -> list[str]:
        return [message["method"] for message in self.heard]


def credentials(password: str) -> str:
    """The Authorization header as old agents send it: the password in the username field."""
    return "Basic " + base64.b64encode(f"{password}:".encode()).decode()


@contextlib.asynccontextmanager
async def connected(
    port: int,
    password: str | None,
    *,
    observer: bool = False,
    path: str = "/",
    token: str | None = None,
    last_number: int | None = None,
    take_over: bool = False,
    **options: Any,
) -> AsyncGenerator[Agent]:
    """An agent on 127.0.0.1:``port``, hung up at the end; with ``token`` its seat is kept when its line breaks."""
    headers: dict[str, str] = {}
    if token is not None:
        headers[seats.TOKEN] = token
    if last_number is not None:
        headers[seats.LAST_NUMBER] = str(last_number)
    if take_over:
        headers[seats.TAKE_OVER] = "true"
    if password is not None:
        headers["Authorization"] = credentials(password)
    if observer:
        headers["openai-observer"] = "true"
    async with connect(
        f"ws://127.0.0.1:{port}{path}",
        additional_headers=headers,
        max_size=None,
        compression=None,
        close_timeout=1,
        # Nobody answers a ping while another test has the event loop.
        ping_interval=None,
        **options,
    ) as socket:
        yield Agent(socket)
