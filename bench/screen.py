"""A screen as our remotes have it, in a process of its own: its VNC proxy doesn't share an interpreter with the client.

Says where it is in one line of JSON, and ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Final, cast

from pluriverse_server.display import Backend, ScreenOptions, make_screen
from support.ports import free_port

WIDTH: Final = 1024
HEIGHT: Final = 768


async def serve(backend: Backend, folder: Path) -> None:
    """Show a screen without a password until the input ends."""
    options = ScreenOptions(WIDTH, HEIGHT, free_port(), "127.0.0.1", None, backend, folder, "bench")
    screen = make_screen(options)
    await screen.start()
    try:
        where = {
            "vnc_port": options.vnc_port,
            "vnc_socket": str(screen.vnc_proxy.vnc_socket),
            "environment": screen.environment,
            "servers": list(screen.pids.values()),
            "vnc_proxy": os.getpid(),
        }
        print(json.dumps(where), flush=True)
        await asyncio.to_thread(sys.stdin.read)
    finally:
        await screen.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        asyncio.run(serve(cast("Backend", sys.argv[1]), Path(folder)))
