import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
from pluriverse_server.display import xserver
from pluriverse_server.display.xserver import XServer
from pluriverse_server.process import StartError
from pluriverse_server.x11.connection import SOCKETS, open_display, write_cookie
from support.ports import free_port


def with_mounts(mounts: str, command: Sequence[str]) -> list[str]:
    """Return ``command`` so that it runs after the shell's ``mounts``; skips the test where we may not mount those."""
    unshared = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c"]
    if subprocess.run([*unshared, mounts], capture_output=True, check=False).returncode:
        pytest.skip("this system gives us no mounts of our own")
    return [*unshared, f'{mounts} && exec "$@"', "sh", *command]


pytestmark = pytest.mark.display

XVFB = ["Xvfb", "-screen", "0", "64x64x24"]

# What keeps an X server from making its file, and mounts that do: as on WSL2, and where several people share a machine.
WITHOUT_FILES = {
    "read-only": f"mount --bind {SOCKETS} {SOCKETS} && mount -o remount,bind,ro {SOCKETS}",
    "another user's": f"mount -t tmpfs -o uid=1234,mode=755 none {SOCKETS}",
}
SCREEN = """
import asyncio, sys
from pathlib import Path
from pluriverse_server.display import ScreenOptions, make_screen
from pluriverse_server.display.screen_health import x_answers
from pluriverse_server.x11.connection import address
from pluriverse_server.x11.connection import open_display

async def main(backend, folder, port):
    screen = make_screen(ScreenOptions(64, 64, int(port), "127.0.0.1", None, backend, Path(folder), "test"))
    await screen.start()
    try:
        assert address(screen.display).startswith("\\0"), "it has a file"
        assert await x_answers(screen.display)
        open_display(screen.display, screen.xauthority).close()
    finally:
        await screen.stop()

asyncio.run(main(*sys.argv[1:]))
"""


@contextlib.asynccontextmanager
async def started(tmp_path: Path, command: list[str] = XVFB) -> AsyncGenerator[XServer]:
    write_cookie(tmp_path / "Xauthority")
    server = await XServer.start(command, xauthority=tmp_path / "Xauthority", env=os.environ)
    try:
        yield server
    finally:
        await server.stop()


async def complaint(tmp_path: Path, command: list[str]) -> str:
    with pytest.raises(StartError) as refused:
        async with started(tmp_path, command):
            pass
    return str(refused.value)


async def test_socket_of_a_successor_on_the_same_display_is_left_alone(tmp_path: Path) -> None:
    async with started(tmp_path) as server:
        path = SOCKETS / f"X{server.display.removeprefix(':')}"
        os.kill(server.child.pid, signal.SIGKILL)
        await server.child.wait()
        path.unlink()
        with socket.socket(socket.AF_UNIX) as successor:
            successor.bind(str(path))
            successor.listen()
            await server.stop()
            assert path.exists()
    assert not path.exists()


async def test_why_a_server_does_not_start_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = await complaint(tmp_path, ["Xvfb", "-no-such-option"])
    assert "ended at once" in said
    assert said.endswith("run: Xvfb -no-such-option :99")
    said = await complaint(tmp_path, ["sh", "-c", "echo '(EE) XKB: Failed to compile keymap'; exit 1"])
    assert "keyboard map to /tmp: make room there" in said
    monkeypatch.setattr(xserver, "START_DEADLINE_S", 0.2)
    assert "not ready" in await complaint(tmp_path, ["sh", "-c", "exec sleep 60"])


@pytest.mark.parametrize(("kind", "backend"), [("read-only", "xvfb"), ("another user's", "xvnc")])
def test_screen_starts_where_no_file_can_be_made_for_its_socket(tmp_path: Path, kind: str, backend: str) -> None:
    SOCKETS.mkdir(mode=0o1777, exist_ok=True)
    # With root's capabilities a server would make the folder its own.
    ordinary = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--reuid=0", "--"]
    command = [*ordinary, sys.executable, "-c", SCREEN, backend, str(tmp_path), str(free_port())]
    ended = subprocess.run(with_mounts(WITHOUT_FILES[kind], command), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


async def test_servers_that_start_together_take_displays_of_their_own(tmp_path: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        starting = [stack.enter_async_context(started(tmp_path)) for _ in range(4)]
        servers = await asyncio.gather(*starting)
        assert len({server.display for server in servers}) == 4
        # They take connections as soon as they have started.
        for server in servers:
            open_display(server.display, tmp_path / "Xauthority").close()


async def test_display_that_another_program_takes_meanwhile_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with started(tmp_path) as other:
        number = int(other.display.removeprefix(":"))
        claims = [xserver.claim_display, lambda: (number, socket.socket(socket.AF_UNIX))]

        def claim() -> tuple[int, socket.socket]:
            return claims.pop()()

        monkeypatch.setattr(xserver, "claim_display", claim)
        async with started(tmp_path) as server:
            assert server.display != other.display
        open_display(other.display, tmp_path / "Xauthority").close()


def test_file_of_a_server_in_another_network_namespace_is_left_to_it_while_it_listens() -> None:
    number = 50_000 + os.getpid() % 5000
    path = SOCKETS / f"X{number}"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        assert not xserver.is_free(number)
        assert path.exists()
    assert xserver.is_free(number)
    assert not path.exists()
