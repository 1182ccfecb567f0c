"""The example of a page of one's own, with sites of this machine in the place of those that it names."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from support.pages import page_remote, short_folder
from support.sockets import answering

pytestmark = [pytest.mark.slow, pytest.mark.browser]

EXAMPLE: Final = Path(__file__).parents[3] / "runtimes/internet/examples/page/runtime.toml"

# Three stripes of links, each across the page.
LINKS: Final = """<!doctype html><title>links</title><body style="margin:0">
<a style="display:block;height:100px" href="{elsewhere}/">elsewhere</a>
<a style="display:block;height:100px" href="/again">here</a>
<a style="display:block;height:100px" href="{wanted}/">wanted</a>
"""


@dataclass
class Site:
    """Shows one page at every path, and keeps what was asked for."""

    page: str = "<!doctype html><title>a page</title>"
    asked: list[str] = field(default_factory=list[str])
    address: str = ""

    def answer(self, path: str, _body: bytes) -> tuple[int, bytes]:
        self.asked.append(path)
        return 200, self.page.encode()


@contextmanager
def site() -> Generator[Site]:
    made = Site()
    with answering(made.answer, "text/html") as made.address:
        yield made


async def test_following_the_link_pays_and_leaving_for_elsewhere_is_blocked() -> None:
    with site() as start, site() as wanted, site() as elsewhere, short_folder() as folder:
        start.page = LINKS.format(wanted=wanted.address, elsewhere=elsewhere.address)
        text = EXAMPLE.read_text()
        for ours, theirs in (
            (f"{start.address}/", "https://example.com/"),
            (wanted.address, "https://www.iana.org"),
            (f"location.origin === '{wanted.address}'", "location.hostname.endsWith('iana.org')"),
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
