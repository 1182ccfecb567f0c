from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.endpoint import Endpoint
from pluriverse.errors import ConfigurationError
from pluriverse.remotes.address import Address, parse_addresses
from pluriverse.tls import TlsOptions

hosts = st.from_regex(r"\A[a-z0-9][a-z0-9.-]{0,20}\Z") | st.just("::1")
ports = st.integers(1, 65535)
addresses = st.builds(Address, hosts, ports, ports)
paths = st.sampled_from(["/", "/remote-3/", "/a/b%20c/"])
trusted = st.builds(TlsOptions, st.none() | st.just(Path("/a&b/ca.pem")), st.none()) | (
    st.builds(TlsOptions, st.none(), st.from_regex(r"\A[0-9a-f]{64}\Z"))
)
one_port = st.builds(Address, hosts, st.none(), ports, path=paths, tls=st.none() | trusted)


@given(st.lists(addresses, min_size=1, max_size=4), addresses | one_port)
def test_addresses_are_read_as_they_are_written(several: list[Address], address: Address) -> None:
    assert parse_addresses("vnc://" + ",".join(map(str, several))) == several
    assert parse_addresses(address.url) == [address]


@given(st.text())
def test_whatever_is_given_is_read_or_refused(url: str) -> None:
    for prefix in ("", "vnc://", "pluriverse://", "pluriverses://", "pluriverses://a/?fingerprint="):
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


def test_one_port_is_below_the_path_of_an_ingress() -> None:
    first, second = parse_addresses("pluriverse://own@a,b:80/remote-3?password=all")
    assert (first.endpoint, second.endpoint) == (
        Endpoint("a", 15900, "own", "/remote-3/"),
        Endpoint("b", 80, "all", "/remote-3/"),
    )
    assert first.viewer_url == "http://a:15900/remote-3/viewer/"
    assert str(second) == "b:80/remote-3"


def test_tls_is_checked_by_the_systems_authorities_by_a_file_or_by_a_fingerprint() -> None:
    assert parse_addresses("pluriverses://a")[0].tls == TlsOptions()
    assert parse_addresses("pluriverses://a/?ca=b.pem")[0].tls == TlsOptions(ca_file=Path("b.pem"))
    pinned = ":".join(["AB"] * 32)
    (address,) = parse_addresses(f"pluriverses://[::1]/?fingerprint={pinned}")
    assert address.tls == TlsOptions(fingerprint="ab" * 32)
    assert address.endpoint.url("ws", "/vnc") == "wss://[::1]:15900/vnc"


def test_each_host_may_have_a_fingerprint_of_its_own() -> None:
    first, second = "a" * 64, "b" * 64
    one, another = parse_addresses(f"pluriverses://a,b/?fingerprint={first}&fingerprint={second}")
    assert one.tls is not None
    assert another.tls is not None
    assert (one.tls.fingerprint, another.tls.fingerprint) == (first, second)
    with pytest.raises(ConfigurationError, match="2 fingerprints for 3 remotes"):
        parse_addresses(f"pluriverses://a,b,c/?fingerprint={first}&fingerprint={second}")


def test_vnc_port_has_no_tls() -> None:
    with pytest.raises(ValueError, match="the VNC port 5900 has no TLS"):
        Address("a", tls=TlsOptions())


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
        "vnc://a?fingerprint=0",
        "pluriverse://a:5900+15900",
        "pluriverse://a/?ca=file",
        "pluriverse://a/b c",
        "pluriverses://a/?fingerprint=0",
    ],
)
def test_what_cannot_be_read_is_refused_with_what_was_expected(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"expected|64 digits"):
        parse_addresses(url)


def test_passwords_are_in_no_message() -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_addresses("vnc://hidden@a:b:c/x?password=hidden2")
    assert "hidden" not in str(caught.value)
    assert "hidden" not in repr(parse_addresses("vnc://a?password=hidden"))
