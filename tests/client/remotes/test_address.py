from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.errors import ConfigurationError
from pluriverse.remotes.address import Address, parse_addresses

hosts = st.from_regex(r"\A[a-z0-9][a-z0-9.-]{0,20}\Z") | st.just("::1")
ports = st.integers(1, 65535)
addresses = st.builds(Address, hosts, ports, ports)


@given(st.lists(addresses, min_size=1, max_size=4))
def test_addresses_are_read_as_they_are_written(addresses: list[Address]) -> None:
    assert parse_addresses("vnc://" + ",".join(map(str, addresses))) == addresses


@given(st.text())
def test_whatever_is_given_is_read_or_refused(url: str) -> None:
    for prefix in ("", "vnc://"):
        try:
            parse_addresses(prefix + url)
        except ConfigurationError:
            continue


def test_ports_have_defaults() -> None:
    assert parse_addresses("vnc://a,b:1,c+2,d:3+4") == [
        Address("a", 5900, 15900),
        Address("b", 1, 15900),
        Address("c", 5900, 2),
        Address("d", 3, 4),
    ]


def test_password_is_everyones_or_each_ones_own() -> None:
    first, second = parse_addresses("vnc://p%40ss@a,b?password=all%2Cours")
    assert (first.password, second.password) == ("p@ss", "all,ours")
    assert parse_addresses("vnc://a", "default")[0].password == "default"
    assert parse_addresses("vnc://a?password=", "default")[0].password is None


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a:5900",
        "http://a",
        "vnc://",
        "vnc://a/path",
        "vnc://a?secret=1",
        "vnc://a:0+1",
        "vnc://a:1+65536",
        "vnc://a,,b",
    ],
)
def test_what_cannot_be_read_is_refused_with_what_was_expected(url: str) -> None:
    with pytest.raises(ConfigurationError, match="expected"):
        parse_addresses(url)


def test_passwords_are_in_no_message() -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_addresses("vnc://hidden@a:b:c/x?password=hidden2")
    assert "hidden" not in str(caught.value)
    assert "hidden" not in repr(parse_addresses("vnc://a?password=hidden"))
