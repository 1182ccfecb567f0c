from __future__ import annotations

import ssl
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.certificate import Certificate
from pluriverse_server.gate.tls_stream import TlsBroken, TlsStream


@cache
def certificate() -> Certificate:
    return Certificate.made(["far.example"])


class Client:
    """The other end, without I/O either; it trusts whoever it meets."""

    def __init__(self) -> None:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self.received, self.sent = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.received, self.sent)

    def shake_hands(self, server: TlsStream) -> None:
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                server.feed(self.sent.read())
                self.received.write(server.to_send())
            else:
                server.feed(self.sent.read())
                return


@given(st.binary(max_size=50_000), st.binary(max_size=50_000), st.integers(1, 20_000))
def test_both_ways_carry_what_was_sent_however_it_is_cut(up: bytes, down: bytes, size: int) -> None:
    server, client = TlsStream(certificate().context), Client()
    assert not server.established
    client.shake_hands(server)
    assert server.established
    if up:
        client.tls.write(up)
    data = client.sent.read()
    assert b"".join(server.feed(data[at : at + size]) for at in range(0, len(data), size)) == up
    client.received.write(server.to_send() + server.wrap(down))
    read = b""
    while len(read) < len(down):
        read += client.tls.read(size)
    assert read == down


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n", b"RFB 003.008\n", b"\xff" * 64])
def test_what_is_no_tls_is_refused(data: bytes) -> None:
    with pytest.raises(TlsBroken):
        TlsStream(certificate().context).feed(data)


def test_end_is_told_to_the_peer() -> None:
    server, client = TlsStream(certificate().context), Client()
    client.shake_hands(server)
    client.received.write(server.to_send() + server.close())
    assert client.tls.read(1) == b""
