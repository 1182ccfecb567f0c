import contextlib
import os
import resource
from collections.abc import Generator

import pytest
from pluriverse_server.x11 import polling
from pluriverse_server.x11.connection import hang_up, open_display
from support.xvfb import bare_xvfb

# What select() takes at most.
FD_SETSIZE = 1024


@contextlib.contextmanager
def many_open() -> Generator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * FD_SETSIZE, hard))
    opened = [os.dup(0) for _ in range(FD_SETSIZE)]
    try:
        yield
    finally:
        for each in opened:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_can_be_read_or_written_is_told_also_of_high_numbers() -> None:
    with many_open():
        reads, writes = os.pipe()
        try:
            assert reads > FD_SETSIZE
            assert polling.select([reads], [writes]) == ([], [writes], [])
            assert polling.select([reads], timeout_s=0) == ([], [], [])
            os.write(writes, b"x")
            assert polling.select([reads], [writes]) == ([reads], [writes], [])
        finally:
            os.close(reads)
            os.close(writes)


@pytest.mark.display
def test_display_is_opened_where_a_thousand_descriptors_are() -> None:
    with bare_xvfb(70, 50) as (name, _), many_open():
        connection = open_display(name)
        assert connection.fileno() > FD_SETSIZE
        assert connection.screen().width_in_pixels == 70
        hang_up(connection)
