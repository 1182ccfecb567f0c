"""Both drivers against handmade servers, of which every byte is known."""

import contextlib
import os
import struct
import threading
import time
from collections.abc import Callable, Generator

import numpy as np
import pytest
from pluriverse.rfb import Region, RfbProtocolError
from pluriverse.rfb.errors import BadHandshake
from pluriverse.vnc import Frame, VncConnection, VncOptions, connect, wait_for_frames
from pluriverse.vnc.options import Implementation
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.rfb.messages import fence
from pluriverse_protocol.rfb.numbers import ClientMessage, FenceFlag
from support.rfb_encoders import rectangle, update
from support.sockets import DEADLINE_S, listening
from support.vnc_servers import Peer, one_colour, server, wait_for_error

pytestmark = pytest.mark.usefixtures("nothing_left")

WIDTH, HEIGHT = 64, 64
END_OF_CONTINUOUS_UPDATES = b"\x96"

Connect = Callable[..., VncConnection]


@contextlib.contextmanager
def connecting(implementation: Implementation) -> Generator[Connect]:
    """A way to connect to a server of one's own that runs a script; all end with the context, connections first."""
    with contextlib.ExitStack() as stack:

        def make(script: Callable[[Peer], None], **options: object) -> VncConnection:
            wanted = VncOptions(implementation=implementation, **options)  # pyright: ignore[reportArgumentType]
            port = stack.enter_context(server(script))
            return stack.enter_context(contextlib.closing(connect("127.0.0.1", port, options=wanted)))

        yield make


@pytest.fixture
def connects(implementation: Implementation) -> Generator[Connect]:
    with connecting(implementation) as connects:
        yield connects


@pytest.fixture
def connects_natively() -> Generator[Connect]:
    """Connects with the native driver, for what only that one does."""
    pytest.importorskip("pluriverse.rfb._native", reason="the native part was not built")
    with connecting("native") as connects:
        yield connects


def next_frame(connection: VncConnection) -> Frame:
    assert wait_for_frames([connection], DEADLINE_S) == [0], connection.error
    frame = connection.frame()
    assert frame is not None
    return frame


def paint_each_request(peer: Peer) -> None:
    """Answers each request with the screen in one more grey."""
    colour = 0
    while True:
        peer.wait_for_request()
        colour = (colour + 1) % 256
        peer.send(one_colour(WIDTH, HEIGHT, colour))


def paint_once(peer: Peer, colour: int = 7) -> None:
    """Answers the first request only, and reads on until the client hangs up."""
    peer.wait_for_request()
    peer.send(one_colour(WIDTH, HEIGHT, colour))
    read_only(peer)


def read_only(peer: Peer) -> None:
    while True:
        peer.message()


def test_what_is_no_vnc_server_is_told() -> None:
    no_greeting = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    with listening(lambda connected: connected.sendall(no_greeting)) as port, pytest.raises(BadHandshake):
        connect("127.0.0.1", port)


def test_frame_is_none_until_the_first_update_then_shows_it(connects: Connect) -> None:
    go = threading.Event()

    def script(peer: Peer) -> None:
        peer.wait_for_request()
        go.wait(DEADLINE_S)
        peer.send(one_colour(WIDTH, HEIGHT, 200))
        peer.wait_for_request()

    before = time.time()
    connection = connects(script)
    assert (connection.width, connection.height) == (WIDTH, HEIGHT)
    assert connection.frame() is None
    assert not connection.fresh
    assert wait_for_frames([connection], 0.0) == []
    go.set()
    frame = next_frame(connection)
    assert frame.array.shape == (HEIGHT, WIDTH, 3)
    assert frame.array.dtype == np.uint8
    assert (frame.array == 200).all()
    assert (frame.updates, frame.pixels) == (1, WIDTH * HEIGHT)
    assert before <= frame.at <= time.time()
    assert connection.frame() is frame


def test_what_comes_with_the_end_of_the_handshake_is_not_lost(connects: Connect) -> None:
    def script(peer: Peer) -> None:
        # The first update is on its way before it is asked for, right behind ServerInit.
        peer.send(one_colour(WIDTH, HEIGHT, 50))
        read_only(peer)

    assert (next_frame(connects(script)).array == 50).all()


def test_frames_are_never_torn_and_stay_as_they_are(connects: Connect) -> None:
    connection = connects(paint_each_request)
    kept: list[tuple[Frame, int]] = []
    for _ in range(200):
        frame = next_frame(connection)
        colour = int(frame.array[0, 0, 0])
        assert (frame.array == colour).all()
        kept.append((frame, colour))
    assert all((frame.array == colour).all() for frame, colour in kept)
    assert [frame.updates for frame, _ in kept] == sorted({frame.updates for frame, _ in kept})


def test_with_regions_only_the_rectangle_around_them_is_asked_for(connects: Connect) -> None:
    seen: list[tuple[int, int, int, int]] = []

    def script(peer: Peer) -> None:
        seen.append(peer.wait_for_request()[1])
        peer.send(one_colour(WIDTH, HEIGHT, 1))
        peer.wait_for_request()

    connection = connects(script, regions=[Region(8, 4, 10, 10), Region(30, 40, 100, 10)])
    next_frame(connection)
    assert seen == [(8, 4, WIDTH - 8, 46)]


def test_fences_are_answered_with_the_flags_that_are_known(connects: Connect) -> None:
    answers: list[bytes] = []

    def script(peer: Peer) -> None:
        peer.send(fence(FenceFlag.REQUEST | 0x7F, b"payload") + fence(1, b"no request"))
        answers.append(peer.wait_for(ClientMessage.FENCE))

    connection = connects(script)
    wait_for_error(connection)
    assert answers == [b"\0\0\0" + struct.pack(">IB", 7, 7) + b"payload"]


def test_native_driver_turns_on_continuous_updates_and_asks_no_more(connects_natively: Connect) -> None:
    enabled: list[bytes] = []

    def script(peer: Peer) -> None:
        peer.send(END_OF_CONTINUOUS_UPDATES)
        enabled.append(peer.wait_for(ClientMessage.ENABLE_CONTINUOUS_UPDATES))
        for colour in range(1, 101):
            peer.send(one_colour(WIDTH, HEIGHT, colour))
        assert peer.message()[0] == 4

    connection = connects_natively(script)
    while (frame := next_frame(connection)).updates < 100:
        assert (frame.array == frame.updates).all()
    connection.send_events([KeyEvent(1, False)])
    wait_for_error(connection)
    assert enabled == [struct.pack(">BHHHH", 1, 0, 0, WIDTH, HEIGHT)]


def test_frames_follow_the_size_of_the_screen(connects: Connect) -> None:
    asked: list[tuple[bool, tuple[int, int, int, int]]] = []
    shrink = threading.Event()

    def script(peer: Peer) -> None:
        peer.wait_for_request()
        peer.send(one_colour(WIDTH, HEIGHT, 5))
        peer.wait_for_request()
        shrink.wait(DEADLINE_S)
        peer.send(update(rectangle(0, 0, 32, 16, -223)))
        while (request := peer.wait_for_request())[0]:
            pass
        asked.append(request)
        peer.send(one_colour(32, 16, 6))
        read_only(peer)

    connection = connects(script)
    first = next_frame(connection)
    shrink.set()
    second = next_frame(connection)
    assert second.array.shape == (16, 32, 3)
    assert (second.array == 6).all()
    assert (connection.width, connection.height) == (32, 16)
    assert (first.array == 5).all()
    assert asked == [(False, (0, 0, 32, 16))]


def test_keys_and_pointer_arrive_and_what_is_held_is_let_go_at_close(implementation: Implementation) -> None:
    got: list[tuple[int, bytes]] = []

    def script(peer: Peer) -> None:
        while True:
            got.append(peer.message())

    with server(script) as port:
        connection = connect("127.0.0.1", port, options=VncOptions(implementation=implementation))
        connection.send_events([KeyEvent(0xFFE1, True), KeyEvent(0x41, True), KeyEvent(0x42, True)])
        connection.send_events([KeyEvent(0x42, False), PointerEvent(3, 4, 1)])
        connection.close()
        connection.close()
    inputs = [(kind, body) for kind, body in got if kind in (4, 5)]
    key, pointer = struct.Struct(">BxxI").pack, struct.Struct(">BHH").pack
    assert inputs == [
        (4, key(1, 0xFFE1)), (4, key(1, 0x41)), (4, key(1, 0x42)), (4, key(0, 0x42)), (5, pointer(1, 3, 4)),
        (4, key(0, 0x41)), (4, key(0, 0xFFE1)), (5, pointer(0, 3, 4)),
    ]  # fmt: skip


def test_a_server_that_breaks_off_within_a_frame_leaves_the_last_whole_one(connects: Connect) -> None:
    def script(peer: Peer) -> None:
        peer.wait_for_request()
        peer.send(one_colour(WIDTH, HEIGHT, 3))
        peer.wait_for_request()
        peer.send(one_colour(WIDTH, HEIGHT, 4)[:-10])

    connection = connects(script)
    frame = next_frame(connection)
    assert isinstance(wait_for_error(connection), ConnectionError)
    assert connection.frame() is frame
    assert (frame.array == 3).all()


def test_garbage_is_a_typed_error(connects: Connect) -> None:
    def script(peer: Peer) -> None:
        peer.send(b"\xee")

    error = wait_for_error(connects(script))
    assert isinstance(error, RfbProtocolError)
    assert "238" in str(error)


@pytest.mark.parametrize(
    ("sent", "why"),
    [(b"", "silent for"), (b"\0\0\0\1\0\0", "not finished an update in")],
    ids=["between messages", "within a message"],
)
def test_a_silent_server_is_given_up(connects: Connect, sent: bytes, why: str) -> None:
    def script(peer: Peer) -> None:
        peer.send(sent)
        read_only(peer)

    error = wait_for_error(connects(script, silence_s=0.4))
    assert isinstance(error, TimeoutError)
    assert why in str(error)


def test_a_server_that_sends_an_update_byte_by_byte_is_given_up(connects: Connect) -> None:
    def script(peer: Peer) -> None:
        for byte in one_colour(WIDTH, HEIGHT, 3):
            peer.send(bytes([byte]))
            time.sleep(0.02)

    error = wait_for_error(connects(script, silence_s=0.4))
    assert isinstance(error, TimeoutError)
    assert "not finished an update in" in str(error)


def test_updates_one_right_after_another_are_no_stall(connects: Connect) -> None:
    painted = one_colour(WIDTH, HEIGHT, 3)
    cut = len(painted) // 2

    def script(peer: Peer) -> None:
        peer.send(painted[:cut])
        for _ in range(20):
            time.sleep(0.05)
            peer.send(painted[cut:] + painted[:cut])

    connection = connects(script, silence_s=0.4)
    error = wait_for_error(connection)
    assert isinstance(error, ConnectionError)
    frame = connection.frame()
    assert frame is not None
    assert frame.updates == 20


def test_a_still_screen_is_no_silence_as_it_answers_when_asked_for_a_pixel(connects: Connect) -> None:
    probes: list[tuple[int, int, int, int]] = []

    def script(peer: Peer) -> None:
        peer.wait_for_request()
        peer.send(one_colour(WIDTH, HEIGHT, 3))
        while len(probes) < 4:
            incremental, place = peer.wait_for_request()
            if not incremental:
                probes.append(place)
                peer.send(update(rectangle(0, 0, 1, 1, 0, bytes([3, 3, 3, 0]))))

    connection = connects(script, silence_s=1.0)
    assert isinstance(wait_for_error(connection), ConnectionError)
    assert probes == [(0, 0, 1, 1)] * 4


def test_a_server_that_never_reads_is_given_up(connects: Connect) -> None:
    over = threading.Event()

    def script(peer: Peer) -> None:
        del peer
        over.wait(DEADLINE_S)

    connection = connects(script)
    flood = [KeyEvent(1, True)] * 10_000
    for _ in range(1000):
        connection.send_events(flood)
        if connection.error is not None:
            break
    assert isinstance(connection.error, TimeoutError)
    over.set()


def test_one_connection_dies_alone(connects: Connect) -> None:
    die = threading.Event()

    def mortal(peer: Peer) -> None:
        peer.wait_for_request()
        die.wait(DEADLINE_S)

    connections = [connects(script) for script in (paint_each_request, mortal, paint_each_request)]
    for _ in range(5):
        next_frame(connections[0])
    die.set()
    wait_for_error(connections[1])
    for _ in range(5):
        next_frame(connections[0])
        next_frame(connections[2])
    assert [connection.error is None for connection in connections] == [True, False, True]


def test_waiting_names_all_that_have_a_frame(connects: Connect) -> None:
    connections = [connects(script) for script in (paint_once, read_only, paint_once)]
    for index in (0, 2):
        assert wait_for_frames([connections[index]], DEADLINE_S) == [0]
    assert wait_for_frames(connections, DEADLINE_S) == [0, 2]
    connections[0].frame()
    assert wait_for_frames(connections, DEADLINE_S) == [2]


def test_native_driver_needs_no_more_threads_for_more_connections(connects_natively: Connect) -> None:

    def own_threads() -> int:
        return len(os.listdir("/proc/self/task")) - threading.active_count()  # noqa: PTH208 - as cheap as can be

    before = own_threads()
    for _ in range(12):
        connects_natively(paint_once)
    assert 1 <= own_threads() - before <= 4


@pytest.mark.usefixtures("connects_natively")
def test_a_native_connection_that_is_forgotten_hangs_up() -> None:
    with server(paint_each_request) as port:
        connection = connect("127.0.0.1", port, options=VncOptions(implementation="native"))
        next_frame(connection)
        del connection


@pytest.mark.usefixtures("connects_natively")
def test_a_forked_child_is_told_and_can_connect_anew() -> None:
    native = VncOptions(implementation="native")
    with server(paint_each_request) as port:
        connection = connect("127.0.0.1", port, options=native)
        next_frame(connection)
        child = os.fork()
        if child == 0:
            own = connect("127.0.0.1", port, options=native)
            works = wait_for_frames([own], DEADLINE_S) == [0] and own.frame() is not None
            told = isinstance(connection.error, ConnectionError) and "fork" in str(connection.error)
            own.close()
            connection.close()
            os._exit(0 if works and told else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        for _ in range(3):
            next_frame(connection)
        connection.close()
