import asyncio
import os
import signal
from pathlib import Path

import pytest
from pluriverse_server.display import Screen, vnc
from pluriverse_server.display.screen import VNC_SERVER, X_SERVER
from pluriverse_server.process import ChildProcess, StartError
from support.kept import attached, made_by
from support.rfb import RfbClient
from support.waiting import eventually

pytestmark = pytest.mark.display

KNOWN = """\
Global Parameters:
  FrameRate      - The maximum number of updates per second sent to each client
                   (default=60)
  AlwaysShared   - Always treat incoming connections as shared, regardless of
"""


@pytest.fixture
def old_server(tmp_path: Path) -> str:
    """A VNC server that knows hardly any parameter."""
    program = tmp_path / "server"
    program.write_text(f"#!/bin/sh\ncat >&2 <<END\n{KNOWN}END\nexit 1\n")
    program.chmod(0o755)
    return str(program)


async def test_parameters_that_a_version_lacks_are_left_out_but_never_those_that_keep_it_closed(
    old_server: str, tmp_path: Path
) -> None:
    command = await vnc.arguments(old_server, socket=tmp_path / "vnc.sock", name="a b")
    assert command == [
        "-rfbport=-1",
        f"-rfbunixpath={tmp_path}/vnc.sock",
        "-SecurityTypes=None",
        "-desktop=a b",
        f"-FrameRate={vnc.FRAME_RATE}",
        "-AlwaysShared=1",
    ]


async def test_installed_servers_know_the_parameters_that_the_project_counts_on() -> None:
    for program in ("X0tigervnc", "Xtigervnc"):
        command = await vnc.arguments(program, socket=Path("vnc.sock"), name="")
        assert {"-SecurityTypes=None", "-AlwaysShared=1", "-DisconnectClients=0", "-UseBlacklist=0"} <= set(command)


async def test_server_that_never_greets_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vnc, "START_DEADLINE_S", 0.2)
    child = await ChildProcess.start("silent server", ["sleep", "60"])
    with pytest.raises(StartError, match="silent server did not answer within"):
        await vnc.wait_for_banner(child, tmp_path / "vnc.sock")
    await child.stop()


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_resize_that_a_client_asks_for_is_not_done(screen: Screen) -> None:
    with RfbClient("127.0.0.1", screen.options.vnc_port) as client:
        client.ask_for_size(200, 100)
        client.wait_until(lambda: client.size_refusal == 1)
        assert (client.width, client.height) == (320, 240)


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_x_server_keeps_no_picture_of_clients_that_have_left(screen: Screen) -> None:
    for _ in range(3):
        client = await asyncio.to_thread(RfbClient, screen.vnc_proxy.vnc_socket)
        await asyncio.to_thread(client.wait_until, lambda: True)
        client.close()
        await eventually(lambda: not attached(screen.pids[X_SERVER]))


async def test_killed_server_leaves_no_shared_memory(screen: Screen) -> None:
    pid = screen.pids[VNC_SERVER]
    with await asyncio.to_thread(RfbClient, screen.vnc_proxy.vnc_socket) as client:
        await asyncio.to_thread(client.wait_until, lambda: True)
        assert made_by({pid})
        os.kill(pid, signal.SIGKILL)
        await screen.wait_for_exit()
        await eventually(lambda: not made_by({pid}))
