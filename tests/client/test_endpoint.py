import base64

import pytest
from pluriverse.endpoint import Endpoint
from pluriverse.tls import TlsOptions


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        (Endpoint("far.example", 15900), "ws://far.example:15900/vnc"),
        (Endpoint("::1", 80, path="/remote-3/"), "ws://[::1]:80/remote-3/vnc"),
        (Endpoint("far.example", 443, tls=TlsOptions()), "wss://far.example:443/vnc"),
    ],
)
def test_paths_are_below_what_an_ingress_puts_before_them(endpoint: Endpoint, url: str) -> None:
    assert endpoint.url("ws", "/vnc") == url


def test_password_is_sent_as_username_and_shown_nowhere() -> None:
    endpoint = Endpoint("far.example", 15900, "secret12")
    assert base64.b64decode(endpoint.headers()["Authorization"].removeprefix("Basic ")) == b"secret12:"
    assert Endpoint("far.example", 15900).headers() == {}
    assert "secret12" not in f"{endpoint} {endpoint!r} {endpoint.url('http')}"
