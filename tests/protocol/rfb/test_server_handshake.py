import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.rfb.errors import AuthenticationFailed, BadHandshake
from pluriverse_protocol.rfb.handshake import Handshake, ServerInit
from pluriverse_protocol.rfb.pixel_format import BGRX
from pluriverse_protocol.rfb.security import answer_challenge
from pluriverse_protocol.rfb.server_handshake import ServerHandshake, server_init

CHALLENGE = bytes(range(16))
DESKTOP = ServerInit(640, 480, BGRX, "pluriverse café")
VERSIONS = [(3, 3), (3, 7), (3, 8)]


def feed(side: Handshake | ServerHandshake, data: bytes, pieces: list[int]) -> bytes:
    """What one side answers to all of this, cut into pieces."""
    said = b""
    while data:
        cut = pieces.pop() if pieces else len(data)
        said += side.feed(data[:cut])
        data = data[cut:]
    return said


def shake_hands(
    version: tuple[int, int], password: str | None, given: str | None, pieces: list[int]
) -> tuple[Handshake, ServerHandshake]:
    """Both sides, once neither has anything more to say."""
    server = ServerHandshake(CHALLENGE if password is not None else None)
    client = Handshake(password=given)
    # The client answers what it is offered with the latest version that it knows.
    to_client = b"RFB %03d.%03d\n" % version
    while to_client:
        to_server = feed(client, to_client, pieces)
        to_client = feed(server, to_server, pieces)
        if server.answer is not None:
            assert password is not None
            right = server.answer == answer_challenge(password, CHALLENGE)
            to_client += server.accept() if right else server.refuse("the password is wrong")
        if server.done:
            client.feed(server_init(DESKTOP))
            break
    return client, server


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("password", [None, "secret"])
@given(pieces=st.lists(st.integers(1, 20)))
def test_client_is_let_in(version: tuple[int, int], password: str | None, pieces: list[int]) -> None:
    client, server = shake_hands(version, password, password, pieces)
    assert server.done
    assert client.done == DESKTOP
    assert client.version == version


@pytest.mark.parametrize("version", VERSIONS)
def test_client_with_a_wrong_password_is_told(version: tuple[int, int]) -> None:
    with pytest.raises(AuthenticationFailed, match="the password is wrong"):
        shake_hands(version, "secret", "guess", [])


@pytest.mark.parametrize("said", [b"GET / HTTP/1", b"RFB 003.008\n\x01", b"RFB 003.008\n\x13"])
def test_client_that_speaks_something_else_is_refused(said: bytes) -> None:
    with pytest.raises(BadHandshake):
        ServerHandshake(CHALLENGE).feed(said)
