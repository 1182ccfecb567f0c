"""The way in: handmade servers that won't have it."""

import pytest
from pluriverse.rfb.errors import BadHandshake
from pluriverse.vnc import VncOptions, connect, wait_for_frames
from pluriverse.vnc.options import Implementation
from support.sockets import listening
from support.vnc_servers import Peer, one_colour, server

pytestmark = pytest.mark.usefixtures("nothing_left")

DEADLINE_S = 60.0


def test_what_is_no_vnc_server_is_told() -> None:
    no_greeting = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    with listening(lambda connected: connected.sendall(no_greeting)) as port, pytest.raises(BadHandshake):
        connect("127.0.0.1", port)


def test_what_comes_with_the_end_of_the_handshake_is_not_lost(implementation: Implementation) -> None:
    def script(peer: Peer) -> None:
        # The first update is on its way before it is asked for, right behind ServerInit.
        peer.send(one_colour(64, 64, 50))
        peer.wait_for_request()
        while True:
            peer.message()

    with server(script) as port:
        connection = connect("127.0.0.1", port, options=VncOptions(implementation=implementation))
        assert wait_for_frames([connection], DEADLINE_S) == [0]
        frame = connection.frame()
        assert frame is not None
        assert (frame.array == 50).all()
        connection.close()
