"""The example of a page of one's own, with sites of this machine in the place of those that it names."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest
from support.pages import page_remote, short_folder

pytestmark = [pytest.mark.slow, pytest.mark.browser]

EXAMPLE: Final = Path(__file__).parents[3] / "runtimes/internet/examples/page/runtime.toml"

# Three stripes of links, each across the page.
LINKS: Final = """<!doctype html><title>links</title><body style="margin:0">
<a style="display:block;height:100px" href="http://127.0.0.1:{elsewhere}/">elsewhere</a>
<a style="display:block;height:100px" href="/again">here</a>
<a style="display:block;height:100px" href="http://127.0.0.1:{wanted}/">wanted</a>
"""


class Site(ThreadingHTTPServer):
    """Shows one page at every path, and keeps what was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page = "<!doctype html><title>a page</title>"
        self.asked: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        site = self.server
        assert isinstance(site, Site)
        site.asked.append(self.path)
        page = site.page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        pass


@contextmanager
def site() -> Generator[Site]:
    with Site() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


async def test_following_the_link_pays_and_leaving_for_elsewhere_is_blocked() -> None:
    with site() as start, site() as wanted, site() as elsewhere, short_folder() as folder:
        start.page = LINKS.format(wanted=wanted.server_port, elsewhere=elsewhere.server_port)
        text = EXAMPLE.read_text()
        for ours, theirs in (
            (f"http://127.0.0.1:{start.server_port}/", "https://example.com/"),
            (f"http://127.0.0.1:{wanted.server_port}", "https://www.iana.org"),
            (f"location.port === '{wanted.server_port}'", "location.hostname.endsWith('iana.org')"),
        ):
            assert theirs in text
            text = text.replace(theirs, ours)
        (folder / "runtime.toml").write_text(text)
        async with page_remote(folder) as remote:
            assert remote.agent.heard[-1]["body"]["spaces"]["pointer"] is True
            await remote.click(20, 50)
            await remote.click(20, 150)
            # The page that follows has the links again.
            while "/again" not in start.asked:
                await remote.agent.assert_alive()
            assert elsewhere.asked == []
            # What is clicked while a page comes may be lost.
            while not (ends := [message["body"] for message in remote.agent.heard if message["body"].get("done")]):
                await remote.click(20, 250)
                await asyncio.sleep(0.5)
                await remote.agent.assert_alive()
            last = ends[0]
            assert "/" in wanted.asked
            assert (last["reward"], last["terminated"]) == (1.0, True)
            assert last["info"]["reason"] == "the link was followed"
            assert elsewhere.asked == []
