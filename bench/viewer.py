"""A VNC client as agents are one: Tight with their pseudo-encodings, updates taken at once, keys that change.

``python bench/viewer.py PORT [PASSWORD]`` watches a screen until its standard input closes. It reads every rectangle
to its end and decodes none: what a client does with its pixels is no cost of the remote's.
"""

from __future__ import annotations

import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from desktops import python_environment
from support.rfb import CURSOR, DESKTOP_SIZE, RfbClient, RfbError

TIGHT: Final = 7
LAST_RECT: Final = -224
FINE_QUALITY_50: Final = -512 + 50
SUBSAMPLING_420: Final = -767

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

    def _choose_format(self) -> None:
        pixel_format = struct.pack(">BBBBHHHBBBxxx", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)
        encodings = (TIGHT, FINE_QUALITY_50, SUBSAMPLING_420, CURSOR, DESKTOP_SIZE, LAST_RECT)
        self._socket.sendall(
            b"\0\0\0\0" + pixel_format + struct.pack(f">BxH{len(encodings)}i", 2, len(encodings), *encodings)
        )

    def _read_update(self) -> None:
        for _ in range(struct.unpack(">xH", self._read(3))[0]):
            _, _, width, height, encoding = struct.unpack(">HHHHi", self._read(12))
            if encoding == TIGHT:
                self._skip_tight(width, height)
            elif encoding == CURSOR:
                self._read(width * height * 4 + (width + 7) // 8 * height)
            elif encoding == LAST_RECT:
                break
            elif encoding != DESKTOP_SIZE:
                raise RfbError(f"a rectangle of encoding {encoding}, which was not asked for")
        self._request_update(incremental=True)

    def _skip_tight(self, width: int, height: int) -> None:
        kind = self._read(1)[0] >> 4
        if kind == FILL:
            self._read(TIGHT_PIXEL_BYTES)
            return
        if kind == JPEG:
            self._read(self._read_length())
            return
        size = width * height * TIGHT_PIXEL_BYTES
        if kind & EXPLICIT_FILTER and self._read(1)[0] == PALETTE_FILTER:
            colours = self._read(1)[0] + 1
            self._read(colours * TIGHT_PIXEL_BYTES)
            size = (width + 7) // 8 * height if colours == 2 else width * height
        self._read(size if size < MIN_TO_COMPRESS else self._read_length())

    def _read_length(self) -> int:
        length = 0
        for shift in (0, 7, 14):
            octet = self._read(1)[0]
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
