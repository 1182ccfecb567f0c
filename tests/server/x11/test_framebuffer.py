import contextlib
from pathlib import Path

import numpy as np
import pytest
from pluriverse_server.sources.screen.grab import Grabber
from pluriverse_server.x11.connection import hang_up, open_display
from pluriverse_server.x11.framebuffer import FILE, NoFramebuffer, framebuffer
from support.xvfb import bare_xvfb

pytestmark = pytest.mark.display


def test_memory_has_what_was_drawn_and_is_not_ours_to_write(tmp_path: Path) -> None:
    with bare_xvfb(70, 50, "-fbdir", str(tmp_path)) as (name, _):
        memory = framebuffer(tmp_path / FILE)
        assert memory.shape == (50, 70, 4)
        assert not memory[..., :3].any()
        connection = open_display(name)
        root = connection.screen().root
        root.fill_rectangle(root.create_gc(foreground=0x112233), 10, 20, 30, 5)
        connection.sync()
        assert memory[22, 15, :3].tolist() == [0x33, 0x22, 0x11]
        with contextlib.closing(Grabber(name, [(0, 0, 70, 50)])) as grabber:
            (grabbed,) = grabber.grab()
        assert np.array_equal(memory[..., :3], grabbed[..., :3])
        with pytest.raises(ValueError, match="read-only"):
            memory[:] = 0
        hang_up(connection)


@pytest.mark.parametrize("content", [None, b"", b"short", bytes(4096)])
def test_what_is_no_screens_memory_says_so(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / FILE).write_bytes(content)
    with pytest.raises(NoFramebuffer, match=FILE):
        framebuffer(tmp_path / FILE)
