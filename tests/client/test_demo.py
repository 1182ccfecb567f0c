import re
import urllib.error
import urllib.request

import pytest
from pluriverse.demo import GAMES, play, render, served
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes.address import Address
from support.leftovers import Leftovers

pytestmark = [pytest.mark.slow, pytest.mark.display]


def fetch(address: str) -> str:
    with urllib.request.urlopen(address, timeout=10) as answer:  # noqa: S310 - our own page
        return answer.read().decode()


def test_page_has_a_frame_for_each_remote_with_its_password() -> None:
    page = render([Address("127.0.0.1", 5900, 15900, "a&b"), Address("127.0.0.1", 5901, 15901, None)])
    sources = re.findall(r'<iframe src="([^"]+)"', page)
    assert sources == [
        "http://127.0.0.1:15900/viewer/?embed=1&amp;password=a%26b",
        "http://127.0.0.1:15901/viewer/?embed=1",
    ]


def test_page_is_served_on_the_loopback_interface_and_nothing_else_is() -> None:
    with served("<p>hello", 0) as address:
        assert address.startswith("http://127.0.0.1:")
        assert fetch(address) == "<p>hello"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetch(f"{address}other")


def test_port_that_is_taken_is_told_with_the_option() -> None:
    with served("", 0) as address:
        port = int(address.rstrip("/").rpartition(":")[2])
        with pytest.raises(RemoteUnavailable, match="--port"):
            served("", port).__enter__()


def test_demo_plays_all_games_shows_them_and_leaves_nothing() -> None:
    leftovers = Leftovers()
    said: list[str] = []
    pages: list[str] = []

    def report(line: str) -> None:
        said.append(line)
        if line.startswith("all of them: "):
            pages.append(fetch(line.removeprefix("all of them: ")))

    play("local:1", port=0, seconds=3.0, report=report)
    (page,) = pages
    assert page.count("<iframe") == len(GAMES)
    assert any(f"{len(GAMES)}/{len(GAMES)} remotes" in line for line in said), said
    leftovers.assert_none()
