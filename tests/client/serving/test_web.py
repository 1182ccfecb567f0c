"""Where applications are served."""

from __future__ import annotations

import socket

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.serving.web import parse_where, serve


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
