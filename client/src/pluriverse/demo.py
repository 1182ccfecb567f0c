"""``pluriverse demo``: several games at once, a random agent, and one page that shows them."""

from __future__ import annotations

import contextlib
import html
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import urlencode

import pluriverse

from .errors import RemoteUnavailable
from .play import play_randomly
from .remotes.address import Address
from .wrappers import Joint

# With one emulated frame a step and 60 steps a second these run at the speed of the original console.
GAMES: Final = (
    "gym-core.BreakoutNoFrameskip-v3",
    "gym-core.SpaceInvadersNoFrameskip-v3",
    "gym-core.SeaquestNoFrameskip-v3",
    "gym-core.PongNoFrameskip-v3",
)

PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>pluriverse: {count} at once</title>
<style>
  body {{ margin: 0; height: 100vh; display: grid; gap: 6px; grid-template-columns: repeat({columns}, 1fr); }}
  iframe {{ border: 0; width: 100%; height: 100%; }}
</style>
{frames}
</html>
"""


def play(remotes: str, *, port: int, seconds: float | None, report: Callable[[str], None]) -> None:
    """Start a remote for each game (``remotes``: ``local:1``, ``docker:1`` or ``1``), play, and serve the page."""
    with contextlib.ExitStack() as stack:
        # In parallel: each takes seconds to start.
        with ThreadPoolExecutor(len(GAMES)) as threads:
            starting = [threads.submit(pluriverse.make, game, remotes) for game in GAMES]
        for start in starting:
            if start.exception() is None:
                stack.callback(start.result().close)
        vectors = [start.result() for start in starting]
        page = render([address for vector in vectors for address in vector.addresses])
        report(f"all of them: {stack.enter_context(served(page, port))}")
        play_randomly(Joint(vectors), seconds=seconds, fps=None, report=report)


def render(addresses: Sequence[Address]) -> str:
    """Return the page: the viewer of each remote in a frame."""
    frames: list[str] = []
    for address in addresses:
        query = urlencode({"embed": "1", **({"password": address.password} if address.password else {})})
        source = html.escape(f"{address.viewer_url}?{query}")
        frames.append(f'<iframe src="{source}" title="{html.escape(str(address))}"></iframe>')
    columns = 1 if len(frames) == 1 else 2 if len(frames) <= 4 else 4
    return PAGE.format(count=len(frames), columns=columns, frames="\n".join(frames))


@contextlib.contextmanager
def served(page: str, port: int) -> Generator[str]:
    """Serve one page on this machine, yield its address; raise ``RemoteUnavailable`` if ``port`` is taken; 0: any."""
    body = page.encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(HTTPStatus.OK if self.path == "/" else HTTPStatus.NOT_FOUND)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            # The page holds the remotes' passwords.
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body if self.path == "/" else b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class' name
            """Log nothing."""

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise RemoteUnavailable(f"the page's port {port} is taken ({error}); choose another with --port") from error
    thread = threading.Thread(target=server.serve_forever, name="pluriverse: demo page", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
