import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pluriverse_server.kit import NoDisplay, Region, Window
from support.xvfb import Xvfb, xvfb

pytestmark = pytest.mark.display


def pixels_of(region: Region) -> NDArray[np.uint8]:
    return np.frombuffer(region.memory, np.uint8).reshape(region.height, region.width, 4)


def draw_noise(window: Window, region: Region) -> NDArray[np.uint8]:
    """Fill the region with noise, wait until it is on the screen; the noise as RGB."""
    noise = np.random.default_rng(1).integers(0, 256, (region.height, region.width, 4), np.uint8)
    pixels_of(region)[:] = noise
    window.put(region)
    window.sync()
    return noise[:, :, 2::-1]


def test_a_region_shows_at_its_place_and_nowhere_else_once_it_is_put(display: Xvfb) -> None:
    with Window(1024, 768) as window:
        assert window.shared_memory
        assert window.performance_note == ""
        pixels_of(window.image(20, 0, 10, 10))[:] = 255
        noise = draw_noise(window, window.image(30, 40, 160, 210))
        expected = np.zeros((768, 1024, 3), np.uint8)
        expected[40:250, 30:190] = noise
        assert np.array_equal(display.pixels(), expected)
        window.clear()
        window.sync()
        assert not display.pixels().any()


@pytest.mark.parametrize("options", [(), ("-extension", "MIT-SHM")])
def test_a_band_shows_its_rows_at_their_place_and_no_others_also_without_shared_memory(
    options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with xvfb(*options) as server:
        monkeypatch.setenv("DISPLAY", server.name)
        with Window(1024, 768) as window:
            assert window.shared_memory is not bool(options)
            assert ("MIT-SHM" in window.performance_note) is bool(options)
            region = window.image(30, 40, 600, 400)
            assert region.shared is window.shared_memory
            expected = draw_noise(window, region).copy()
            assert np.array_equal(expected, server.pixels(30, 40, 600, 400))
            pixels_of(region)[:] = 255
            window.put(region.band(20, 21), region.band(100, 210))
            window.sync()
            expected[20:21] = expected[100:210] = 255
            assert np.array_equal(server.pixels(30, 40, 600, 400), expected)


def test_regions_outside_of_the_window_and_bands_of_rows_that_a_region_lacks_are_refused(display: Xvfb) -> None:
    with Window(200, 100) as window:
        region = window.image(0, 0, 10, 10)
        for top, bottom in ((-1, 5), (5, 5), (6, 5), (0, 11)):
            with pytest.raises(ValueError, match="no band of a region of 10 rows"):
                region.band(top, bottom)
        with pytest.raises(ValueError, match="isn't within"):
            window.image(190, 0, 20, 10)


@pytest.mark.parametrize("options", [(), ("-extension", "MIT-SHM")])
def test_an_array_keeps_the_memory_that_it_wraps(options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    with xvfb(*options) as server:
        monkeypatch.setenv("DISPLAY", server.name)
        window = Window(200, 100)
        array = pixels_of(window.image(0, 0, 200, 100))
        window.close()
        window.close()
        array[:] = 7
        assert array.sum() == 7 * array.size


def test_a_closed_region_cannot_be_put(display: Xvfb) -> None:
    with Window(200, 100) as window:
        region = window.image(0, 0, 10, 10)
        band = region.band(0, 5)
        region.close()
        for part in (region, band):
            with pytest.raises(ValueError, match="was closed"):
                window.put(part)


def test_shared_segments_leave_with_their_region(display: Xvfb) -> None:
    with Window(1024, 768) as window:
        before = attached_segments()
        region = window.image(0, 0, 1024, 768)
        assert attached_segments() == before + 1
        region.close()
        assert region.closed
        assert attached_segments() == before


def attached_segments() -> int:
    return Path(f"/proc/{os.getpid()}/maps").read_text().count("/SYSV")


def test_no_server_and_one_of_another_depth_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":64999")
    with pytest.raises(NoDisplay, match="DISPLAY=':64999'"):
        Window(10, 10)
    with xvfb("-screen", "0", "1024x768x16") as server:
        monkeypatch.setenv("DISPLAY", server.name)
        with pytest.raises(NoDisplay, match="16 bits deep"):
            Window(10, 10)


def test_the_pointer_over_the_window_is_invisible(display: Xvfb) -> None:
    with Window(1024, 768) as window:
        window.sync()
        # The server knows the pointer's picture best: XFixes hands it out as a list of pixels.
        program = (
            "from Xlib.display import Display; from Xlib.ext import xfixes; d = Display(); d.xfixes_query_version();"
            "d.screen().root.warp_pointer(20, 20); d.sync(); i = d.xfixes_get_cursor_image(d.screen().root);"
            "print(i.width, i.height, any(i.cursor_image))"
        )
        command = [sys.executable, "-W", "ignore", "-c", program]
        answer = subprocess.run(command, env=display.environment, capture_output=True, text=True, check=True)
        assert answer.stdout.split() == ["1", "1", "False"]


def test_a_window_goes_to_the_top_when_it_is_told(display: Xvfb) -> None:
    with Window(100, 100) as below, Window(1024, 768) as above:
        region = below.image(0, 0, 100, 100)
        noise = draw_noise(below, region)
        above.clear()
        above.sync()
        assert not display.pixels(0, 0, 100, 100).any()
        below.to_top()
        below.put(region)
        below.sync()
        assert np.array_equal(display.pixels(0, 0, 100, 100), noise)


@pytest.mark.parametrize("click_through", [False, True])
def test_the_pointer_finds_a_window_unless_that_is_click_through(display: Xvfb, click_through: bool) -> None:
    program = (
        "from Xlib.display import Display; d = Display(); root = d.screen().root; root.warp_pointer(20, 20); d.sync();"
        "print(root.query_pointer().child == 0)"
    )
    with Window(100, 100, click_through=click_through):
        command = [sys.executable, "-W", "ignore", "-c", program]
        answer = subprocess.run(command, env=display.environment, capture_output=True, text=True, check=True)
        assert answer.stdout.split() == [str(click_through)]
