import contextlib
import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pluriverse_protocol.rfb.errors import (
    AuthenticationFailed,
    BadGeometry,
    BadHandshake,
    LimitExceeded,
    NoCommonSecurity,
    RfbError,
    ServerRefused,
)
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit
from pluriverse_protocol.rfb.limits import MAX_NAME_BYTES, MAX_REASON_BYTES
from pluriverse_protocol.rfb.pixel_format import BGRX
from pluriverse_protocol.rfb.security import answer_challenge

FORMAT = struct.pack(">BB??HHHBBBxxx", 32, 24, False, True, 255, 255, 255, 16, 8, 0)
INIT = struct.pack(">HH", 1024, 768) + FORMAT + struct.pack(">I", 5) + "café".encode()
DESKTOP = ServerInit(1024, 768, BGRX, "café")
CHALLENGE = bytes(range(16))
ANSWER = answer_challenge("secret", CHALLENGE)
OK = bytes(4)
FAILED = b"\0\0\0\x01"


def reason(text: str) -> bytes:
    return struct.pack(">I", len(text)) + text.encode()


def banner(minor: int) -> bytes:
    return b"RFB 003.%03d\n" % minor


def said(handshake: Handshake, server: bytes, piece: int = 1000) -> bytes:
    """What the client says to all of this."""
    return b"".join(handshake.feed(server[at : at + piece]) for at in range(0, len(server), piece))


@pytest.mark.parametrize(
    ("password", "server", "client", "version"),
    [
        (None, banner(8) + b"\x01\x01" + OK, banner(8) + b"\x01", (3, 8)),
        (None, banner(8) + b"\x03\x10\x02\x01" + OK, banner(8) + b"\x01", (3, 8)),
        ("secret", banner(8) + b"\x02\x01\x02" + CHALLENGE + OK, banner(8) + b"\x02" + ANSWER, (3, 8)),
        ("secret", banner(8) + b"\x01\x01" + OK, banner(8) + b"\x01", (3, 8)),
        (None, banner(7) + b"\x01\x01", banner(7) + b"\x01", (3, 7)),
        ("secret", banner(7) + b"\x01\x02" + CHALLENGE + OK, banner(7) + b"\x02" + ANSWER, (3, 7)),
        (None, banner(3) + b"\0\0\0\x01", banner(3), (3, 3)),
        ("secret", banner(3) + b"\0\0\0\x02" + CHALLENGE + OK, banner(3) + ANSWER, (3, 3)),
        (None, banner(5) + b"\0\0\0\x01", banner(3), (3, 3)),
        (None, banner(889) + b"\x01\x01" + OK, banner(8) + b"\x01", (3, 8)),
        (None, b"RFB 005.000\n\x01\x01" + OK, banner(8) + b"\x01", (3, 8)),
    ],
)
def test_client_is_let_in(password: str | None, server: bytes, client: bytes, version: tuple[int, int]) -> None:
    for piece in (1, 3, 1000):
        handshake = Handshake(password=password)
        assert said(handshake, server + INIT, piece) == client + b"\x01"
        assert handshake.done == DESKTOP
        assert handshake.version == version
        assert handshake.leftover == b""


def test_what_follows_is_kept_for_the_decoder() -> None:
    handshake = Handshake(shared=False)
    assert said(handshake, banner(8) + b"\x01\x01" + OK + INIT + b"\x02\x02").endswith(b"\x00")
    handshake.feed(b"\x03")
    assert handshake.leftover == b"\x02\x02\x03"


@pytest.mark.parametrize(
    ("server", "error", "words"),
    [
        (b"SSH-2.0-OpenSSH\r\n", BadHandshake, "SSH-2.0-Open"),
        (b"RFB 003.00x\n", BadHandshake, "greets with its version"),
        (b"RFB 002.009\n", BadHandshake, "2.9"),
        (banner(8) + b"\0" + reason("Too many security failures"), ServerRefused, "Too many security failures"),
        (banner(7) + b"\0" + reason("busy"), ServerRefused, "busy"),
        (banner(3) + bytes(4) + reason("no license"), ServerRefused, "no license"),
        (banner(8) + b"\0" + struct.pack(">I", MAX_REASON_BYTES + 1), LimitExceeded, "reason"),
        (banner(8) + b"\x03\x05\x0d\x81", NoCommonSecurity, r"5 \(RealVNC RA2\), 13 .*, 129 \(RealVNC RSA-AES\)"),
        (banner(8) + b"\x01\x13", NoCommonSecurity, r"19 \(VeNCrypt\)"),
        (banner(8) + b"\x01\x63", NoCommonSecurity, r"99 \(unknown\)"),
        (banner(3) + b"\0\0\0\x1e", NoCommonSecurity, "Apple"),
        (banner(8) + b"\x01\x02" + CHALLENGE + FAILED + reason("wrong, sorry"), AuthenticationFailed, "wrong, sorry"),
        (banner(8) + b"\x01\x01" + FAILED + reason("not you"), AuthenticationFailed, "not you"),
        (banner(7) + b"\x01\x02" + CHALLENGE + FAILED, AuthenticationFailed, "password is wrong"),
        (banner(3) + b"\0\0\0\x02" + CHALLENGE + b"\0\0\0\x02", AuthenticationFailed, "too many attempts"),
        (banner(8) + b"\x01\x01" + OK + bytes(4), BadGeometry, "0x0"),
        (banner(8) + b"\x01\x01" + OK + b"\xff" * 4, BadGeometry, "65535"),
        (
            banner(8) + b"\x01\x01" + OK + INIT[:20] + struct.pack(">I", MAX_NAME_BYTES + 1),
            LimitExceeded,
            "desktop's name",
        ),
    ],
)
def test_client_that_is_not_let_in_is_told_why(server: bytes, error: type[RfbError], words: str) -> None:
    for piece in (1, 1000):
        handshake = Handshake(password="secret")
        with pytest.raises(error, match=words):
            said(handshake, server, piece)
        assert handshake.done is None
        with pytest.raises(error, match=words):
            handshake.feed(b"\0")


@pytest.mark.parametrize("server", [banner(8) + b"\x01\x02", banner(3) + b"\0\0\0\x02", banner(8) + b"\x02\x02\x05"])
def test_password_that_is_needed_but_not_given_is_named(server: bytes) -> None:
    with pytest.raises(AuthenticationFailed, match="needs a password"):
        said(Handshake(), server)


# Hanging up, and nonsense


@pytest.mark.parametrize(
    ("server", "error", "words"),
    [
        (b"", BadHandshake, "its greeting"),
        (banner(8), BadHandshake, "security types"),
        (banner(8) + b"\0\0\0", BadHandshake, "why it refuses"),
        (banner(8) + b"\x01\x02" + CHALLENGE, AuthenticationFailed, "closed the connection"),
        (banner(8) + b"\x01\x02" + CHALLENGE + FAILED, AuthenticationFailed, "without a reason"),
        (banner(8) + b"\x01\x01" + OK + INIT[:-1], BadHandshake, "its desktop"),
    ],
)
def test_server_that_hangs_up_is_told_by_where_it_did(server: bytes, error: type[RfbError], words: str) -> None:
    handshake = Handshake(password="secret")
    said(handshake, server)
    told = handshake.hung_up()
    assert isinstance(told, error)
    assert words in str(told)


@given(
    good=st.sampled_from(
        [
            banner(8) + b"\x01\x02" + CHALLENGE + OK + INIT,
            banner(3) + b"\0\0\0\x02" + CHALLENGE + OK + INIT,
            banner(8) + b"\0" + reason("no"),
        ]
    ),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=300, deadline=None)
def test_damaged_handshake_is_waited_for_or_raises_a_typed_error(good: bytes, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(good)
    for _ in range(chance.randint(1, 3)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    handshake = Handshake(password="secret")
    with contextlib.suppress(RfbError):
        said(handshake, bytes(data), chance.randint(1, 60))
    assert len(handshake.leftover) <= len(good)
