import os
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

import cv2
import pytest
from pluriverse_protocol import metadata
from pluriverse_protocol.metadata import Metadata
from pluriverse_server.display import Screen
from pluriverse_server.process import ChildProcess
from pluriverse_server.remote.overlay import start_overlay
from support.input_devices import InputDevice, tap
from support.rfb import RfbClient
from support.xwindow import Window
from Xlib import X

pytestmark = pytest.mark.display

StartOverlay = Callable[..., Awaitable[ChildProcess]]


X_AT, Y_AT = 200, 16
BLOCK: Final = ("--block", str(X_AT), str(Y_AT), "--fps", "60")
WHITE: Final = (255, 255, 255)
PROBE, BACKTICK = 0xBEEF1, 0x60


def block(viewer: RfbClient, x: int = X_AT, y: int = Y_AT) -> Metadata | None:
    rows = viewer.framebuffer[y : y + metadata.HEIGHT, x : x + metadata.WIDTH, 2::-1]
    return metadata.decode(rows[0].tobytes(), rows[1].tobytes())


def wait_for_block(viewer: RfbClient, good: Callable[[Metadata], bool] = lambda _: True) -> Metadata:
    """What the block says, as soon as there is one that is good."""
    viewer.wait_until(lambda: (shown := block(viewer)) is not None and good(shown))
    shown = block(viewer)
    assert shown is not None
    return shown


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_block_says_the_frames_clock_above_a_window_that_covers_the_screen_later(
    overlay: StartOverlay, screen: Screen, viewer: RfbClient
) -> None:
    await overlay(*BLOCK)
    before = int(time.time() * 1000)
    first = wait_for_block(viewer, lambda shown: shown.clock >= before)
    with Window(screen.display, screen.xauthority) as window:
        window.fill(0, 0, 320, 240, WHITE)
        viewer.wait_for_pixel(100, 100, WHITE)
        now = time.time() * 1000
        later = wait_for_block(viewer, lambda shown: shown.clock > now)
    assert before <= first.clock < later.clock <= time.time() * 1000


async def test_block_in_a_corner_is_shown_whole(overlay: StartOverlay, viewer: RfbClient) -> None:
    await overlay("--block", "0", "0")
    viewer.wait_until(lambda: block(viewer, 0, 0) is not None)
    await overlay("--block", str(320 - metadata.WIDTH), str(240 - metadata.HEIGHT))
    viewer.wait_until(lambda: block(viewer, 320 - metadata.WIDTH, 240 - metadata.HEIGHT) is not None)


async def test_ground_around_the_block_is_plain(overlay: StartOverlay, window: Window, viewer: RfbClient) -> None:
    window.fill(0, 0, 320, 240, WHITE)
    await overlay(*BLOCK)
    wait_for_block(viewer)
    around = viewer.framebuffer[Y_AT - 8 : Y_AT + 10, X_AT - 8 : X_AT + 14, :3].copy()
    around[8:10, 8:14] = 0
    assert not around.any()
    assert viewer.pixel(X_AT - 9, Y_AT) == viewer.pixel(X_AT + 14, Y_AT) == WHITE


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_with_the_guard_the_probe_is_seen_though_it_is_kept_from_the_page_and_the_backtick_is_one_too(
    overlay: StartOverlay, window: Window, viewer: RfbClient, device: InputDevice
) -> None:
    await overlay(*BLOCK, "--filter-keys")
    seen = wait_for_block(viewer).probe
    assert seen == 0
    for keysym in (PROBE, BACKTICK):
        before = int(time.time() * 1000)
        tap(device, keysym)
        seen = wait_for_block(viewer, lambda shown, seen=seen: shown.probe > seen).probe
        assert before <= seen <= time.time() * 1000
    assert window.typed() == BACKTICK


async def test_qr_code_says_the_same_where_old_agents_read_it(
    overlay: StartOverlay, window: Window, viewer: RfbClient
) -> None:
    await overlay(*BLOCK, "--qr", "40", "60")
    reader: Any = cv2.QRCodeDetectorAruco()

    def times() -> tuple[int, int] | None:
        """The clock and the probe's time, in milliseconds."""
        text, _, _ = reader.detectAndDecode(viewer.framebuffer[60:160, 40:140, 2].copy())
        return (int(text[3:15], 16), int(text[15:], 16)) if text.startswith("v1:") and len(text) == 27 else None

    before = int(time.time() * 1000)
    viewer.wait_until(lambda: (read := times()) is not None and read[0] >= before and read[1] == 0)
    tap(viewer, ord("a"))
    tap(viewer, PROBE)
    probe = wait_for_block(viewer, lambda shown: shown.probe > 0).probe
    viewer.wait_until(lambda: (read := times()) is not None and read[1] == probe and read[0] >= probe)


async def test_clicks_and_keys_reach_what_is_beneath(
    overlay: StartOverlay, window: Window, viewer: RfbClient, device: InputDevice
) -> None:
    focus = window.connection.get_input_focus().focus
    await overlay(*BLOCK)
    wait_for_block(viewer)
    assert window.connection.get_input_focus().focus == focus
    for mask in (0, 1, 0):
        device.pointer(X_AT + 1, Y_AT + 1, mask)
    assert window.event(X.ButtonPress).detail == 1
    assert window.event(X.ButtonRelease).detail == 1
    tap(device, ord("a"))
    assert window.typed() == ord("a")


async def test_block_is_painted_at_the_rate_that_is_told_last_and_at_no_rate_what_is_below_shows(
    screen: Screen, window: Window, viewer: RfbClient
) -> None:
    told, rates = os.pipe()
    child = await start_overlay([*BLOCK[:3], "--fps", "100"], screen.environment, stdin=told)
    os.close(told)
    try:
        os.write(rates, b"1.0\n50.0\n")
        wait_for_block(viewer)
        first = wait_for_block(viewer, later_than(viewer))
        clocks = {first.clock}
        while max(clocks) < first.clock + 1000:
            clocks.add(wait_for_block(viewer, later_than(viewer)).clock)
        # A machine that is busy elsewhere paints some late, and the viewer sees fewer.
        assert 2 < len(clocks) <= 52
        os.write(rates, b"0.0\n")
        viewer.wait_until(lambda: block(viewer) is None)
        # What a test's window has lost is not painted by itself.
        window.fill(0, 0, 320, 240, WHITE)
        viewer.wait_for_pixel(X_AT, Y_AT, WHITE)
        os.write(rates, b"60.0\n")
        wait_for_block(viewer)
    finally:
        os.close(rates)
        await child.stop()


def later_than(viewer: RfbClient) -> Callable[[Metadata], bool]:
    now = block(viewer)
    return lambda shown: now is None or shown.clock > now.clock
