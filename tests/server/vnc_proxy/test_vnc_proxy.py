import asyncio
import contextlib
import json
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from pluriverse_protocol.control_frames import POLICY_VIOLATION, TOO_MANY
from pluriverse_protocol.rfb.errors import AuthenticationFailed, RfbError
from pluriverse_protocol.rfb.handshake import Handshake
from pluriverse_protocol.rfb.messages import framebuffer_update_request, pointer_event
from pluriverse_protocol.rfb.web_stream import WebStream
from pluriverse_server.access import audit
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.access.tokens import Role, Token, parse_tokens
from pluriverse_server.display import Screen, ScreenOptions, make_screen, screen_health
from pluriverse_server.process import StartError
from pluriverse_server.vnc_proxy import vnc_proxy
from pluriverse_server.vnc_proxy.pump import BUFFER_BYTES
from pluriverse_server.vnc_proxy.vnc_proxy import MAX_PENDING, VncProxy
from pluriverse_server.x11.connection import open_display
from support.rfb import RfbClient
from support.served import PASSWORD, TOKENS
from support.waiting import DEADLINE_S, eventually

pytestmark = pytest.mark.display

# Masked with nothing.
PING = bytes((0x89, 0x80 | 100)) + bytes(4 + 100)


@pytest.fixture
async def guarded(options: ScreenOptions) -> AsyncIterator[Screen]:
    screen = make_screen(replace(options, secrets=Secrets(PASSWORD, parse_tokens(TOKENS))))
    await screen.start()
    yield screen
    await screen.stop()


def knock(screen: Screen) -> socket.socket:
    return socket.create_connection(("127.0.0.1", screen.options.vnc_port), DEADLINE_S)


entered: list[RfbClient] = []


@pytest.fixture(autouse=True)
def clients_that_leave() -> Iterator[None]:
    yield
    while entered:
        entered.pop().close()


async def enter(screen: Screen, password: str | None = PASSWORD) -> RfbClient:
    entered.append(await asyncio.to_thread(RfbClient, "127.0.0.1", screen.options.vnc_port, password))
    return entered[-1]


async def see(client: RfbClient) -> None:
    await asyncio.to_thread(client.wait_until, lambda: True)


async def test_flood_reaches_no_vnc_server_and_agents_still_get_in(guarded: Screen) -> None:
    before = guarded.pids
    agent = await enter(guarded)
    ended = threading.Event()

    def flood() -> None:
        to = ("127.0.0.1", guarded.options.vnc_port)
        while not ended.is_set():
            with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
                for _ in range(MAX_PENDING):
                    one = stack.enter_context(socket.create_connection(to, DEADLINE_S, ("127.0.0.2", 0)))
                    one.send(b"RFB 003.008\n")

    threads = [threading.Thread(target=flood) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        await eventually(lambda: guarded.vnc_proxy.table.dropped > 3 * MAX_PENDING)
        # Whoever floods drives out himself alone.
        (await enter(guarded)).close()
    finally:
        ended.set()
        for thread in threads:
            await asyncio.to_thread(thread.join)
    assert guarded.pids == before
    await see(agent)


async def test_handshake_has_a_deadline(guarded: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vnc_proxy, "HANDSHAKE_S", 0.2)
    with knock(guarded) as one:
        assert one.recv(100) == b"RFB 003.008\n"
        assert await asyncio.to_thread(one.recv, 100) == b""


async def test_who_knows_a_long_secret_never_waits_for_those_who_guess_at_its_address(guarded: Screen) -> None:
    assert guarded.vnc_proxy.secrets is not None
    guarded.vnc_proxy.secrets.begin_lease(Token(Role.AGENT, "lease", "a-secret-that-nobody-guesses"))
    # Of this address no short secret would be read for hours.
    for _ in range(40):
        guarded.vnc_proxy.throttle.judged("127.0.0.1", right=False, now=asyncio.get_running_loop().time() + 3600)
    with pytest.raises(RfbError):
        await enter(guarded)
    (await enter(guarded, "a-secret-that-nobody-guesses")).close()


async def assert_moves(screen: Screen, client: RfbClient, x: int, *, may: bool) -> None:
    """What a client does with the pointer reaches the screen, or doesn't."""
    client.pointer(x, 10)
    if may:
        async with asyncio.timeout(DEADLINE_S):
            while await pointer_of(screen) != (x, 10):
                pass
    else:
        await see(client)
        assert await pointer_of(screen) != (x, 10)


async def pointer_of(screen: Screen) -> tuple[int, int]:
    def ask() -> tuple[int, int]:
        connection = open_display(screen.display, screen.xauthority)
        try:
            where = connection.screen().root.query_pointer()
            return where.root_x, where.root_y
        finally:
            connection.close()

    return await asyncio.to_thread(ask)


async def enter_by_web(screen: Screen, token: Token) -> tuple[socket.socket, WebStream]:
    """A client whose WebSocket the rewarder port has opened, through the handshake."""
    ours, theirs = socket.socketpair()
    ours.settimeout(DEADLINE_S)
    await screen.vnc_proxy.take(theirs, "192.0.2.1", token)
    web, handshake = WebStream(masks=True), Handshake()

    def shake_hands() -> None:
        while handshake.done is None:
            data = ours.recv(4096)
            assert data, "it hung up"
            ours.sendall(web.wrap(handshake.feed(web.feed(data))))

    try:
        await asyncio.to_thread(shake_hands)
    except BaseException:
        ours.close()
        raise
    return ours, web


async def test_role_decides_what_comes_by_the_rewarder_port(guarded: Screen) -> None:
    assert guarded.vnc_proxy.secrets is not None
    robot, eye = guarded.vnc_proxy.secrets.listed[:2]
    watching, its_web = await enter_by_web(guarded, eye)
    playing, web = await enter_by_web(guarded, robot)
    with watching, playing:
        watching.sendall(its_web.wrap(pointer_event(44, 10, 0)))
        playing.sendall(web.wrap(pointer_event(33, 10, 0)))
        async with asyncio.timeout(DEADLINE_S):
            while await pointer_of(guarded) != (33, 10):
                assert await pointer_of(guarded) != (44, 10)
        guarded.vnc_proxy.secrets.replace_listed((eye,))
        await eventually(lambda: len(guarded.vnc_proxy.clients) == 1)
    with pytest.raises(AssertionError, match="it hung up"):
        await enter_by_web(guarded, robot)


async def test_others_only_watch_while_there_is_a_lease(guarded: Screen) -> None:
    secrets = guarded.vnc_proxy.secrets
    assert secrets is not None
    robot, editor = await enter(guarded, "robots-token"), await enter(guarded, "editors-token")
    secrets.begin_lease(Token(Role.AGENT, "lease", "leases-token"))
    leased = await enter(guarded, "leases-token")
    for client, x, may in ((robot, 10, False), (editor, 20, True), (leased, 30, True)):
        await assert_moves(guarded, client, x, may=may)
    secrets.end_lease()
    # The lease's client is hung up on, the others are as before.
    await eventually(lambda: len(guarded.vnc_proxy.clients) == 2)
    await assert_moves(guarded, robot, 40, may=True)
    with pytest.raises(AuthenticationFailed, match="lease of this token has ended"):
        await enter(guarded, "leases-token")
    assert guarded.vnc_proxy.throttle.wrong == 0


async def test_client_with_input_is_audited(guarded: Screen, tmp_path: Path) -> None:
    with audit.written_to(tmp_path / "audit"):
        for token in ("robots-token", "observers-token"):
            (await enter(guarded, token)).close()
        with pytest.raises(AuthenticationFailed):
            await enter(guarded, "wrong")
    lines = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()]
    assert [(line["action"], line["who"] and line["who"]["name"], line["where"]) for line in lines] == [
        ("screen connected with input", "robot", "127.0.0.1"),
        ("wrong password", None, "127.0.0.1"),
    ]


async def test_client_that_comes_while_the_vnc_server_is_started_again_gets_in(guarded: Screen) -> None:
    os.kill(list(guarded.pids.values())[-1], signal.SIGKILL)
    await guarded.wait_for_exit()
    entering = asyncio.create_task(enter(guarded))
    await eventually(lambda: guarded.vnc_proxy.table.let_in == 1)
    await guarded.restart_dead()
    client = await entering
    await see(client)


async def test_what_is_not_rfb_is_hung_up_on(guarded: Screen) -> None:
    with knock(guarded) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.to_thread(one.recv, 100) == b"RFB 003.008\n"
            assert await asyncio.to_thread(one.recv, 100) == b""


async def test_port_that_is_taken_is_named(options: ScreenOptions) -> None:
    options.runtime_dir.mkdir(parents=True)
    port = options.vnc_port
    with socket.create_server(("127.0.0.1", port)):
        one = VncProxy(options.runtime_dir / "vnc.sock", None)
        with pytest.raises(StartError, match=f"the VNC port 127.0.0.1:{port} is taken by .*; choose another with"):
            await one.listen("127.0.0.1", port, options.runtime_dir / "a.sock", options.runtime_dir / "b.sock")
        assert not one.listens


# ── what one client does, and the others ─────────────────────────────────────────────────────────────────────────────

FULL = framebuffer_update_request(0, 0, 320, 240, incremental=False)


def server_of_watchers(screen: Screen) -> psutil.Process:
    (found,) = (
        child
        for child in psutil.Process().children()
        if child.name() == "X0tigervnc" and child.pid not in screen.pids.values()
    )
    return found


async def test_who_asks_for_more_pictures_than_its_share_is_hung_up_on_and_the_agent_plays_on(
    guarded: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vnc_proxy, "WATCHERS_PATIENCE_S", 0.5)
    agent, watcher = await enter(guarded, "robots-token"), await enter(guarded, "observers-token")
    before = guarded.pids

    def flood() -> None:
        with contextlib.suppress(OSError):
            while True:
                watcher.send(FULL * 100)

    async with asyncio.timeout(DEADLINE_S):
        await asyncio.to_thread(flood)
    await assert_moves(guarded, agent, 20, may=True)
    await see(agent)
    assert guarded.pids == before


async def test_those_who_watch_have_a_vnc_server_of_their_own_that_ends_nothing_else(guarded: Screen) -> None:
    agent, watcher = await enter(guarded, "robots-token"), await enter(guarded, "observers-token")
    theirs = server_of_watchers(guarded)
    assert theirs.nice() == 10
    waiting = asyncio.create_task(guarded.wait_for_exit())
    theirs.kill()
    with pytest.raises((RfbError, OSError)):
        await asyncio.to_thread(watcher.wait_until, lambda: False)
    await assert_moves(guarded, agent, 20, may=True)
    assert not waiting.done()
    waiting.cancel()
    again = await enter(guarded, "observers-token")
    await see(again)


async def test_vnc_server_of_those_who_watch_that_answers_no_more_is_replaced(
    guarded: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen_health, "ASK_EVERY_S", 0.05)
    monkeypatch.setattr(screen_health, "ANSWER_S", 0.1)
    watcher = await enter(guarded, "observers-token")
    theirs = server_of_watchers(guarded)
    theirs.suspend()
    await eventually(lambda: not theirs.is_running())
    watcher.close()
    watcher = await enter(guarded, "observers-token")
    await see(watcher)


async def test_who_watches_is_let_in_though_the_vnc_server_has_just_died(
    guarded: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_for_watchers = guarded.open_for_watchers
    dead = [tmp_path / "dead"] * 2  # it may die slowly

    async def opened() -> Path:
        return dead.pop() if dead else await open_for_watchers()

    monkeypatch.setattr(guarded.vnc_proxy, "_open_for_watchers", opened)
    watcher = await enter(guarded, "observers-token")
    await see(watcher)


async def test_nothing_is_pressed_by_those_who_watch_by_their_token_or_their_socket(guarded: Screen) -> None:
    await assert_moves(guarded, await enter(guarded, "observers-token"), 10, may=False)
    watcher = await asyncio.to_thread(RfbClient, guarded.watchers_socket)
    await assert_moves(guarded, watcher, 20, may=False)
    watcher.close()
    in_control = await asyncio.to_thread(RfbClient, guarded.viewer_socket)
    await assert_moves(guarded, in_control, 30, may=True)
    in_control.close()


async def test_whoever_floods_with_pings_is_hung_up_on_with_words(guarded: Screen) -> None:
    assert guarded.vnc_proxy.secrets is not None
    client, web = await enter_by_web(guarded, guarded.vnc_proxy.secrets.listed[0])
    with client:
        client.sendall(PING * 101)
        received = await asyncio.to_thread(lambda: b"".join(iter(lambda: client.recv(4096), b"")))
    web.feed(received)
    assert web.closed == TOO_MANY
    assert POLICY_VIOLATION.to_bytes(2, "big") + TOO_MANY.encode() in received
    assert not guarded.vnc_proxy.clients


async def test_pings_of_one_who_reads_nothing_are_not_kept(guarded: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    assert guarded.vnc_proxy.secrets is not None
    monkeypatch.setattr("pluriverse_protocol.control_frames.MAX_CONTROL_FRAMES_AT_ONCE", 100_000)
    client, web = await enter_by_web(guarded, guarded.vnc_proxy.secrets.listed[0])
    (half,) = guarded.vnc_proxy.clients
    with client:
        client.sendall(web.wrap(framebuffer_update_request(0, 0, 320, 240, incremental=False)))
        await asyncio.to_thread(client.sendall, PING * 50_000)
        client.sendall(web.wrap(pointer_event(33, 10, 0)))
        async with asyncio.timeout(DEADLINE_S):
            while await pointer_of(guarded) != (33, 10):
                pass
        assert half.transport.get_write_buffer_size() <= BUFFER_BYTES + 2000


async def test_clients_that_come_and_go_are_told(guarded: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    monkeypatch.setattr(guarded.vnc_proxy, "on_clients", lambda: counts.append(len(guarded.vnc_proxy.clients)))
    client = await enter(guarded)
    client.close()
    await eventually(lambda: counts == [1, 0])
