"""The metadata block on a real screen."""

from __future__ import annotations

import pytest
from pluriverse_protocol import metadata
from pluriverse_server.kit import MetadataBlock, Window
from support.xvfb import Xvfb

pytestmark = pytest.mark.display


def test_the_block_on_the_screen_says_the_clock_and_the_last_probe(display: Xvfb) -> None:
    with Window(1024, 768) as window:
        block = MetadataBlock(window, 960, 16)
        for probe in (None, 1_700_000_000.25):
            if probe is not None:
                block.saw_probe(probe)
            block.stamp(1_700_000_001.5)
            window.put(block.region)
            window.sync()
            rows = display.pixels(960, 16, metadata.WIDTH, metadata.HEIGHT)
            seen = metadata.decode(rows[0].tobytes(), rows[1].tobytes())
            assert seen == metadata.Metadata(1_700_000_001_500, 0 if probe is None else 1_700_000_000_250)


def test_nothing_is_painted_around_the_block(display: Xvfb) -> None:
    with Window(1024, 768) as window:
        block = MetadataBlock(window, 960, 16)
        block.stamp(1_700_000_001.5)
        window.put(block.region)
        window.sync()
        screen = display.pixels()
        screen[16:18, 960:966] = 0
        assert not screen.any()
