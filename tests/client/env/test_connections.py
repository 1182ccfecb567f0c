import asyncio
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from pluriverse.env import connections as connections_module
from pluriverse.env.connections import RemoteConnections, ResetRequests
from pluriverse.remotes import Address, Attached
from pluriverse.vnc import VncConnection
from support.served import PASSWORD, serving
from support.waiting import DEADLINE_S


class Screen:
    """Notes how many of it are opened at once; each waits for one other."""

    def __init__(self) -> None:
        self.error = None
        self.opening = self.most = 0
        self._lock = threading.Lock()
        self._pair = threading.Barrier(2)

    def open(self, *_: Any) -> VncConnection:
        with self._lock:
            self.opening += 1
            self.most = max(self.most, self.opening)
        self._pair.wait(DEADLINE_S)
        with self._lock:
            self.opening -= 1
        return cast("VncConnection", self)

    def close(self) -> None:
        pass


async def test_no_more_handshakes_go_on_at_once_than_have_time_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections_module, "AT_ONCE", 2)
    async with serving(tmp_path) as served:
        addresses = [Address("127.0.0.1", 1, served.port, PASSWORD)] * 6
        screen = Screen()
        connections = RemoteConnections(Attached(addresses), screen.open, ResetRequests(None, None), observer=True)
        try:
            await asyncio.to_thread(connections.connect, addresses)
            assert all(connections.by_index)
            assert screen.most == 2
        finally:
            await asyncio.to_thread(connections.hang_up)
            connections.close()
