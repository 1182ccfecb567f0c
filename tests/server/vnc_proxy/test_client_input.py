"""Keys on their way to a real VNC server and a window, on both displays."""

import asyncio
import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Generator

import pytest
from pluriverse_protocol.events import BUTTONS
from pluriverse_server.display import Backend, Screen
from pluriverse_server.permitted import Permitted
from pluriverse_server.x11.connection import open_display
from support.rfb import RfbClient
from support.waiting import eventually
from support.xwindow import CLICKS, Window
from Xlib import XK, X

pytestmark = pytest.mark.display

TEXT = 'aA1!@#$%^&*()_+{}|:"<>?~z'
LATIN_1 = [*range(0x20, 0x7F), *range(0xA0, 0x100)]
GREEK = [0x01000000 + ord(character) for character in "αβγδεζηθικλμνξοπρστυφχψω"]


# What the VNC proxy does, whatever the display.
once = pytest.mark.parametrize("backend", ["xvfb"], indirect=True)


@pytest.fixture(params=["xvfb", "xvnc"])
def backend(request: pytest.FixtureRequest) -> Backend:
    return request.param


@pytest.fixture
async def client(screen: Screen) -> AsyncIterator[RfbClient]:
    client = await asyncio.to_thread(RfbClient, "127.0.0.1", screen.options.vnc_port)
    with client:
        yield client


async def typed(window: Window, count: int) -> list[int]:
    return await asyncio.to_thread(lambda: [window.typed() for _ in range(count)])


async def test_every_character_arrives_though_the_client_never_presses_shift(client: RfbClient, window: Window) -> None:
    keysyms = [*map(ord, TEXT), *LATIN_1, *GREEK, 0x0101F600]
    for keysym in keysyms:
        client.press(keysym)
    assert await typed(window, len(keysyms)) == keysyms
    await asyncio.to_thread(window.wait_for_held, 0)


async def test_every_character_arrives_while_the_client_holds_shift(client: RfbClient, window: Window) -> None:
    keysyms = [*map(ord, TEXT), *LATIN_1[::5], *GREEK[::8]]
    client.key(XK.XK_Shift_R, True)
    for keysym in keysyms:
        client.press(keysym)
    assert await typed(window, len(keysyms)) == keysyms
    assert len(await asyncio.to_thread(window.wait_for_held, 1)) == 1


@contextlib.contextmanager
def halting(screen: Screen) -> Generator[None]:
    """Halt the keyboard for a moment with each key that means nothing yet, as the filter of pages does."""
    connection = open_display(screen.display, screen.xauthority)
    for keycode in range(8, 248):
        if not connection.keycode_to_keysym(keycode, 0):
            connection.screen().root.grab_key(keycode, X.AnyModifier, False, X.GrabModeAsync, X.GrabModeSync)
    connection.sync()
    ended = threading.Event()

    def replay() -> None:
        while not ended.wait(0.001):
            for _ in range(connection.pending_events()):
                event = connection.next_event()
                if event.type == X.KeyPress:
                    time.sleep(0.05)
                    connection.allow_events(X.ReplayKeyboard, event.time)
            connection.flush()

    thread = threading.Thread(target=replay)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        connection.close()


async def test_a_key_with_shift_arrives_after_one_with_which_the_keyboard_is_halted(
    screen: Screen, client: RfbClient, window: Window
) -> None:
    keysyms = [0x0101F600, ord("~"), GREEK[0], ord("A"), GREEK[1], GREEK[2], ord("b")]
    with halting(screen):
        for keysym in keysyms:
            client.press(keysym)
        assert await typed(window, len(keysyms)) == keysyms


async def test_click_between_two_keys_comes_between_them(client: RfbClient, window: Window) -> None:
    keys = [GREEK[0], ord("a"), ord("!"), GREEK[1]]
    for keysym in keys:
        client.press(keysym)
        client.pointer(10, 10, 1)
        client.pointer(10, 10, 0)
    seen: list[int] = []

    def read() -> None:
        while len(seen) < 2 * len(keys):
            event = window.event(X.KeyPress, X.ButtonPress)
            shift = event.type == X.KeyPress and event.detail == 50
            if not shift:
                seen.append(event.type)

    await asyncio.to_thread(read)
    assert seen == [X.KeyPress, X.ButtonPress] * len(keys)


async def test_each_of_nine_buttons_goes_down_and_up(screen: Screen, window: Window) -> None:
    with await asyncio.to_thread(lambda: RfbClient("127.0.0.1", screen.options.vnc_port, nine_buttons=True)) as client:
        for button in range(BUTTONS):
            client.pointer(10 + 9 * button, 20, 1 << button)
            client.pointer(10 + 9 * button, 20, 0)
        for button, down in CLICKS:
            event = await asyncio.to_thread(window.event, X.ButtonPress, X.ButtonRelease)
            assert (event.detail, event.type == X.ButtonPress) == (button, down)
            assert (event.event_x, event.event_y) == (1 + 9 * button, 20)


async def test_buttons_come_in_the_order_in_which_a_client_without_the_extension_pressed_them(
    client: RfbClient, window: Window
) -> None:
    client.pointer(30, 40)
    for _ in range(10):
        for mask in (1, 0, 64, 0, 128, 0, 1, 1 | 128, 128, 0, 4, 0):
            client.pointer(30, 40, mask)
    expected = 10 * [
        *((1, True), (1, False), (7, True), (7, False), (8, True), (8, False)),
        *((1, True), (8, True), (1, False), (8, False), (3, True), (3, False)),
    ]
    assert [await asyncio.to_thread(window.clicked) for _ in expected] == expected


@once
async def test_keys_and_buttons_of_a_client_that_hangs_up_are_released(screen: Screen, window: Window) -> None:
    with await asyncio.to_thread(lambda: RfbClient("127.0.0.1", screen.options.vnc_port, nine_buttons=True)) as client:
        for keysym in (GREEK[0], ord("!"), XK.XK_Left, XK.XK_Shift_L):
            client.key(keysym, True)
        await asyncio.to_thread(window.wait_for_held, 4)
        client.pointer(30, 40, 1 | 256)
        assert [await asyncio.to_thread(window.clicked) for _ in range(2)] == [(1, True), (9, True)]
    assert {await asyncio.to_thread(window.clicked) for _ in range(2)} == {(1, False), (9, False)}
    await asyncio.to_thread(window.wait_for_held, 0)


async def test_key_that_is_held_keeps_its_meaning_however_many_follow(client: RfbClient, window: Window) -> None:
    client.key(GREEK[0], True)
    assert await typed(window, 1) == [GREEK[0]]
    (keycode,) = await asyncio.to_thread(window.wait_for_held, 1)
    for keysym in GREEK[1:]:
        client.press(keysym)
    assert await typed(window, len(GREEK) - 1) == GREEK[1:]
    assert window.connection.keycode_to_keysym(keycode, 0) == GREEK[0]


async def test_map_is_as_it_was_once_the_last_client_has_left(
    screen: Screen, client: RfbClient, window: Window
) -> None:
    def keymap() -> list[list[int]]:
        return [list(keysyms) for keysyms in window.connection.get_keyboard_mapping(8, 248)]

    before = keymap()
    for keysym in GREEK:
        client.press(keysym)
    assert await typed(window, len(GREEK)) == GREEK
    assert keymap() != before
    client.close()
    await eventually(lambda: keymap() == before)


@once
async def test_frozen_x_server_holds_up_neither_the_vnc_proxy_nor_what_comes_after_it(
    screen: Screen, client: RfbClient, window: Window
) -> None:
    pid = screen.pids["X server"]
    os.kill(pid, signal.SIGSTOP)
    try:
        client.press(GREEK[0])
        client.press(ord("b"))
        reader, writer = await asyncio.open_connection("127.0.0.1", screen.options.vnc_port)
        async with asyncio.timeout(1):
            assert await reader.readexactly(4) == b"RFB "
        writer.close()
    finally:
        os.kill(pid, signal.SIGCONT)
    assert await typed(window, 2) == [GREEK[0], ord("b")]


@once
async def test_what_is_not_permitted_is_dropped_and_logged_once(
    screen: Screen, client: RfbClient, window: Window, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "pluriverse_server.vnc_proxy.client_input")
    screen.vnc_proxy.permit(Permitted(frozenset((ord("A"), ord("b"))), pointer=False))
    for keysym in (XK.XK_Control_L, ord("A"), ord("a"), GREEK[0]):
        client.key(keysym, True)
    client.pointer(10, 10, 1)
    client.press(ord("b"))
    assert await typed(window, 2) == [ord("A"), ord("b")]
    assert len(await asyncio.to_thread(window.wait_for_held, 1)) == 1
    assert [record.message for record in caplog.records] == [
        "VNC: KeyEvent(keysym=65507, down=True) was dropped, like all input that the environment's spaces don't declare"
    ]


@once
async def test_button_that_is_permitted_no_more_can_still_be_released_where_the_pointer_was(
    screen: Screen, client: RfbClient, window: Window
) -> None:
    client.pointer(10, 10, 0b101)
    for _ in range(2):
        await asyncio.to_thread(window.event, X.ButtonPress)
    screen.vnc_proxy.permit(Permitted(frozenset(), pointer=False))
    client.pointer(20, 20, 0b110)
    released = await asyncio.to_thread(window.event, X.ButtonRelease, X.ButtonPress)
    assert (released.type, released.detail, released.event_x, released.event_y) == (X.ButtonRelease, 1, 10, 10)
    client.pointer(30, 30, 0)
    released = await asyncio.to_thread(window.event, X.ButtonRelease, X.ButtonPress)
    assert (released.type, released.detail, released.event_x) == (X.ButtonRelease, 3, 10)


@once
async def test_person_with_the_viewer_may_do_more_than_an_agent(screen: Screen, window: Window) -> None:
    screen.vnc_proxy.permit(Permitted(frozenset(), pointer=False))
    with await asyncio.to_thread(RfbClient, screen.viewer_socket) as person:
        person.press(ord("a"))
        assert await typed(window, 1) == [ord("a")]
        person.pointer(10, 10, 1)
        await asyncio.to_thread(window.event, X.ButtonPress)
