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
            screen = display.pixels()
            rows = screen[16 : 16 + metadata.HEIGHT, 960 : 960 + metadata.WIDTH]
            seen = metadata.decode(rows[0].tobytes(), rows[1].tobytes())
            assert seen == metadata.Metadata(1_700_000_001_500, 0 if probe is None else 1_700_000_000_250)
            rows[:] = 0
            assert not screen.any(), "something is painted around the block"
