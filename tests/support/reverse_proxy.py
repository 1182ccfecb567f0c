"""A reverse proxy as an ingress is one: it forwards what is below a prefix, HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator

from support.relay import Relay, beside, relaying_by

NOTHING = (
    b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 21\r\n"
    b"Connection: close\r\n\r\nthere is nothing here"
)


class Proxy(Relay):
    """Carries one request a connection. ``paths`` are those that it was asked for, with the prefix."""

    def __init__(self, target: int, prefix: str) -> None:
        super().__init__(target)
        self.prefix = prefix
        self.paths: list[str] = []

    async def begin(self, near: asyncio.StreamReader, back: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        """Hand on the head of a request without the prefix, or answer that there is nothing there."""
        first, *lines = (await near.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines(keepends=True)
        method, path, version = first.split(" ")
        self.paths.append(path.partition("?")[0])
        if not path.startswith(f"{self.prefix}/"):
            back.write(NOTHING)
            back.close()
            far.close()
            return
        if not any(line.lower().startswith("upgrade:") for line in lines):
            lines = ["Connection: close\r\n", *(line for line in lines if not line.lower().startswith("connection:"))]
        far.write(f"{method} {path.removeprefix(self.prefix)} {version}{''.join(lines)}".encode("latin-1"))


@contextlib.contextmanager
def proxying(target: int, prefix: str) -> Generator[Proxy]:
    """A proxy before a port of this machine; ``prefix`` has no slash at its end."""
    with beside(relaying_by(lambda: Proxy(target, prefix))) as (proxy,):
        yield proxy
