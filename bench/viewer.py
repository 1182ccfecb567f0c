"""A VNC client as agents are one: Tight with their pseudo-encodings, updates taken at once, keys that change.

``python bench/viewer.py PORT [PASSWORD]`` watches a screen until its standard input closes. It reads every rectangle
to its end and decodes none: what a client does with its pixels is no cost of the remote's.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from desktops import python_environment
from pluriverse_protocol.rfb.geometry import Region
from pluriverse_protocol.rfb.numbers import FINE_QUALITY_LEVEL, SUBSAMPLING, Encoding
from pluriverse_protocol.rfb.server_stream import RectangleReader
from pluriverse_protocol.rfb.steps import Steps, skip
from support.rfb import RfbClient, RfbError

FINE_QUALITY: Final = 50

# Tight (rfbproto, 7.7.6): a pixel of 888 takes three bytes, and data under twelve bytes isn't compressed.
TIGHT_PIXEL_BYTES: Final = 3
MIN_TO_COMPRESS: Final = 12
FILL: Final = 8
JPEG: Final = 9
EXPLICIT_FILTER: Final = 4
PALETTE_FILTER: Final = 1

# An agent that decides fifteen times a second, every four frames.
KEY_INTERVAL_S: Final = 1 / 15
KEYS: Final = (0xFF52, 0xFF54)


class TightClient(RfbClient):
    """Takes Tight rectangles and throws them away; ``framebuffer`` stays black."""

    ENCODINGS = (
        Encoding.TIGHT,
        FINE_QUALITY_LEVEL + FINE_QUALITY,
        SUBSAMPLING["4:2:0"],
        Encoding.CURSOR,
        Encoding.DESKTOP_SIZE,
        Encoding.LAST_RECT,
    )

    def _readers(self) -> dict[int, RectangleReader]:
        return {Encoding.TIGHT: _skip_tight}


def _skip_tight(r: Region) -> Steps[None]:
    kind = (yield 1)[0] >> 4
    if kind == FILL:
        yield TIGHT_PIXEL_BYTES
        return
    if kind == JPEG:
        yield from skip((yield from _read_length()))
        return
    size = r.width * r.height * TIGHT_PIXEL_BYTES
    if kind & EXPLICIT_FILTER and (yield 1)[0] == PALETTE_FILTER:
        colours = (yield 1)[0] + 1
        yield colours * TIGHT_PIXEL_BYTES
        size = (r.width + 7) // 8 * r.height if colours == 2 else r.width * r.height
    yield from skip(size if size < MIN_TO_COMPRESS else (yield from _read_length()))


def _read_length() -> Steps[int]:
    length = 0
    for shift in (0, 7, 14):
        octet = (yield 1)[0]
        length |= (octet if shift == 14 else octet & 0x7F) << shift
        if octet < 0x80:
            break
    return length


@contextmanager
def watching(port: int, password: str | None) -> Generator[None]:
    """A viewer in a process of its own, for as long as the context lasts.

    Raises:
        RfbError: it ended before its first update, or before the context did.
    """
    command = [sys.executable, __file__, str(port), *([password] if password else [])]
    viewer = subprocess.Popen(
        command, env=python_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert viewer.stdin is not None
    assert viewer.stdout is not None
    try:
        if not viewer.stdout.readline():
            raise RfbError("the viewer ended before it saw anything")
        yield
        if viewer.poll() is not None:
            raise RfbError("the viewer ended while it was to watch")
    finally:
        viewer.stdin.close()
        viewer.wait(10)
        viewer.stdout.close()


def main() -> None:
    """Watch and press keys until standard input closes."""
    port, *password = sys.argv[1:]
    with TightClient("127.0.0.1", int(port), password[0] if password else None) as client:
        client.update()
        print("watching", flush=True)
        held, due = 0, time.monotonic()
        while not select.select([sys.stdin], [], [], 0)[0]:
            client.update(max(0.0, due - time.monotonic()))
            if time.monotonic() >= due:
                client.key(KEYS[held], down=False)
                held = 1 - held
                client.key(KEYS[held], down=True)
                due += KEY_INTERVAL_S


if __name__ == "__main__":
    try:
        main()
    except (OSError, RfbError) as error:
        sys.exit(f"viewer: {error}")
    finally:
        os.close(1)
