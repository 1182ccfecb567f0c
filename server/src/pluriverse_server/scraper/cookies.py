"""One Xauthority file for all the screens that a scraper looks at, each with a cookie of its own."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from pathlib import Path

from Xlib.xauth import Xauthority

from pluriverse_server.x11.connection import write_private_file


class Cookies:
    """The file that this process' XAUTHORITY names, where all that opens a display here looks for a cookie."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries: dict[str, bytes] = {}
        os.environ["XAUTHORITY"] = str(path)

    def add(self, screen: Mapping[str, str]) -> None:
        number = screen["DISPLAY"].rpartition(":")[2].partition(".")[0].encode()
        # The screen's own file names no number, so that it fits any; together with others it must.
        self._entries[screen["DISPLAY"]] = b"".join(
            struct.pack(">H", family) + b"".join(struct.pack(">H", len(field)) + field for field in fields)
            for family, address, _, name, cookie in Xauthority(screen["XAUTHORITY"]).entries
            for fields in [(address, number, name, cookie)]
        )
        self._write()

    def remove(self, screen: Mapping[str, str]) -> None:
        self._entries.pop(screen["DISPLAY"], None)
        self._write()

    def _write(self) -> None:
        # A display that is opened meanwhile finds the old file or the new one.
        new = self.path.with_suffix(".new")
        write_private_file(new, b"".join(self._entries.values()))
        new.replace(self.path)
