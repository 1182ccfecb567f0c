import base64
import socket

import httpx
import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.serving.web import guarded, parse_where, serve, take_token
from starlette.responses import PlainTextResponse

TOKEN = "let-me-in-to-play"
HERE = "127.0.0.1:8000"


@pytest.mark.parametrize(
    ("where", "parsed"), [("127.0.0.1:8000", ("127.0.0.1", 8000)), ("[::1]:80", ("::1", 80)), ("any:1", ("any", 1))]
)
def test_an_address_is_a_host_and_a_port(where: str, parsed: tuple[str, int]) -> None:
    assert parse_where(where) == parsed


@pytest.mark.parametrize("where", ["", "8000", ":8000", "a:", "a:0", "a:65536", "a:b", "a:-1", "http://a"])
def test_what_is_no_address_is_refused(where: str) -> None:
    with pytest.raises(ConfigurationError, match="expected HOST:PORT"):
        parse_where(where)


def test_a_port_that_is_taken_is_refused_before_anybody_is_greeted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"127.0.0.1:{port} can't be listened on"):
            serve(None, "127.0.0.1", port, pytest.fail)


async def status(host: str, path: str = "/", token: str = TOKEN, **headers: str) -> int:
    """The status with which a server at ``host`` answers."""
    guard = guarded(PlainTextResponse("hello"), host, TOKEN)
    given = {"Host": HERE, "Authorization": f"Bearer {token}", **headers}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url=f"http://{HERE}") as client:
        return (await client.get(path, headers=given)).status_code


def basic(credentials: str) -> str:
    return f"Basic {base64.b64encode(credentials.encode()).decode()}"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (f"Bearer {TOKEN}", 200),
        (basic(f"token:{TOKEN}"), 200),
        ("", 401),
        (TOKEN, 401),
        (f"Bearer {TOKEN}!", 401),
        (basic(TOKEN), 401),
        ("Basic a", 401),
    ],
)
async def test_only_who_has_the_token_is_let_in(given: str, expected: int) -> None:
    assert await status("127.0.0.1", Authorization=given) == expected


async def test_whether_the_server_lives_is_told_to_all() -> None:
    assert await status("127.0.0.1", "/health", token="none") == 200


@pytest.mark.parametrize(
    ("host", "called", "expected"),
    [
        ("127.0.0.1", "localhost:8000", 200),
        ("127.0.0.1", "192.0.2.7", 200),
        ("::1", "[::1]:8000", 200),
        ("0.0.0.0", "any.example", 200),
        ("127.0.0.1", "rebound.example:8000", 421),
        ("127.0.0.1", "[", 421),
        ("127.0.0.1", "", 421),
    ],
)
async def test_names_that_others_may_give_it_are_refused(host: str, called: str, expected: int) -> None:
    assert await status(host, Host=called) == expected


@pytest.mark.parametrize(
    ("origin", "expected"),
    [(f"http://{HERE}", 200), ("http://evil.example", 403), ("http://127.0.0.1:8001", 403), ("null", 403)],
)
async def test_pages_of_other_origins_are_refused(origin: str, expected: int) -> None:
    assert await status("127.0.0.1", Origin=origin) == expected


def test_a_token_is_given_or_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLURIVERSE_TOKEN", TOKEN)
    assert take_token() == (TOKEN, False)
    monkeypatch.delenv("PLURIVERSE_TOKEN")
    (first, is_new), (second, _) = take_token(), take_token()
    assert (len(first) >= 32, is_new, first != second) == (True, True, True)
