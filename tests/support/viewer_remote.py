"""The viewer's routes on a free port, with a state that a test may change: all of a remote that the page knows of."""

import contextlib
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from pluriverse_protocol.sound import PATH
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.access.tokens import parse_tokens
from pluriverse_server.daemon.http import listen
from pluriverse_server.daemon.http_auth import HttpAuth
from pluriverse_server.sound import FILE
from pluriverse_server.viewer import Viewer, ViewerSessions, feed
from pluriverse_server.viewer.hearing import send_sound
from pluriverse_server.viewer.routes import Question
from support.chromium import Chromium
from support.ports import free_port

PASSWORD: Final = "sesame"
EYE: Final = "observers-token"
LIVE: Final = "document.getElementById('link').dataset.link === 'live'"


def a_state() -> dict[str, Any]:
    return {
        "runtime": "gym-core",
        "runtime_version": "0.1.0",
        "env_id": "gym-core.Pong-v3",
        "env_state": "running",
        "episode_id": "7",
        "episode_reward": 3.0,
        "episode_seconds": 12.5,
        "fps": 60.0,
        "fps_measured": 59.94,
        "frames": 750,
        "late_frames": 2,
        "reward_lag_ms": 4.25,
        "agent_round_trip_ms": None,
        "agents": 1,
        "observers": 2,
        "last_episodes": [{"episode_id": "6", "reward": -21.0, "seconds": 61.0, "reason": "time limit"}],
        "metadata": None,
        "width": 400,
        "height": 300,
    }


@dataclass
class Remote:
    """The viewer's server. ``state`` is what its snapshots say; the sockets are where it looks for the VNC proxy.

    ``questions`` are what can be asked.
    """

    port: int
    vnc_socket: Path
    watchers_socket: Path
    sessions: ViewerSessions
    http_auth: HttpAuth
    questions: dict[str, Question]
    state: dict[str, Any] = field(default_factory=a_state)
    snapshots: int = 0

    def url(self, path: str, scheme: str = "http") -> str:
        return f"{scheme}://127.0.0.1:{self.port}/viewer/{path}"

    def snapshot(self) -> dict[str, Any]:
        self.snapshots += 1
        return {**self.state, "viewers": self.sessions.viewers, "now": time.time()}


async def opened(browser: Chromium, remote: Remote, more: str = "") -> None:
    await browser.open(remote.url(f"?password={PASSWORD}{more}"))
    await browser.wait_until(LIVE)


@contextlib.asynccontextmanager
async def serve_viewer(vnc_socket: Path) -> AsyncGenerator[Remote]:
    """A remote for as long as the context lasts; with the VNC proxy at ``vnc_socket``, and at another one beside it."""

    def snapshot() -> dict[str, Any]:
        return remote.snapshot()

    secrets = Secrets(PASSWORD, parse_tokens(f"observer eye {EYE}"))
    app, http_auth = web.Application(), HttpAuth(secrets, lambda _: False)
    questions: dict[str, Question] = {}
    sockets = vnc_socket, vnc_socket.with_name("watchers.sock")
    viewer = Viewer(http_auth, snapshot, *sockets, questions)
    viewer.add_to(app)

    async def hear(request: web.Request) -> web.StreamResponse:
        websocket = feed.new_websocket()
        await websocket.prepare(request)
        await send_sound(websocket, vnc_socket.with_name(FILE))
        return websocket

    app.router.add_get(PATH, hear)
    remote = Remote(free_port(), *sockets, sessions=viewer.sessions, http_auth=http_auth, questions=questions)
    runner = await listen(app, http_auth, "127.0.0.1", remote.port)
    try:
        yield remote
    finally:
        await runner.cleanup()
