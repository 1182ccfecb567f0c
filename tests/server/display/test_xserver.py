from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest
from pluriverse_server.display import xserver
from pluriverse_server.display.xserver import SOCKETS, XServer
from pluriverse_server.process import StartError
from pluriverse_server.x11.connection import open_display, write_cookie

XVFB = ["Xvfb", "-screen", "0", "64x64x24"]


async def start(tmp_path: Path, command: list[str]) -> XServer:
    write_cookie(tmp_path / "Xauthority")
    return await XServer.start(command, xauthority=tmp_path / "Xauthority", env=os.environ)


async def test_server_takes_connections_as_soon_as_it_has_started(tmp_path: Path) -> None:
    server = await start(tmp_path, XVFB)
    try:
        open_display(server.display, tmp_path / "Xauthority").close()
    finally:
        await server.stop()


async def test_socket_of_a_successor_on_the_same_display_is_left_alone(tmp_path: Path) -> None:
    server = await start(tmp_path, XVFB)
    path = SOCKETS / f"X{server.display.removeprefix(':')}"
    os.kill(server.child.pid, signal.SIGKILL)
    await server.child.wait()
    path.unlink()
    with socket.socket(socket.AF_UNIX) as successor:
        successor.bind(str(path))
        successor.listen()
        await server.stop()
        assert path.exists()
    await server.stop()
    assert not path.exists()


async def test_server_that_says_nothing_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xserver, "START_DEADLINE_S", 0.2)
    with pytest.raises(StartError, match="not ready"):
        await start(tmp_path, ["sh", "-c", "exec sleep 60"])


async def test_wrong_arguments_are_quoted_with_a_command_to_try(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"(?s)ended at once.*-no-such-option.*run: Xvfb -no-such-option :99"):
        await start(tmp_path, ["Xvfb", "-no-such-option"])
