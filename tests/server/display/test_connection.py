import asyncio
import os
import signal
from pathlib import Path

import pytest
from pluriverse_server.display import DisplayLost, Screen
from pluriverse_server.x11.connection import COOKIE_BYTES, MACHINE, open_display, write_cookie, write_private_file
from support.waiting import eventually
from support.xvfb import bare_xvfb
from Xlib.xauth import FamilyLocal, Xauthority

pytestmark = pytest.mark.display


def test_private_file_replaces_what_was_there_and_follows_no_link(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "file"
    victim.write_bytes(b"keep me")
    path.symlink_to(victim)
    write_private_file(path, b"secret")
    assert (victim.read_bytes(), path.read_bytes()) == (b"keep me", b"secret")
    assert path.stat().st_mode & 0o777 == 0o600


def test_each_cookie_is_new_and_good_for_any_display_of_the_machine_by_both_its_names(tmp_path: Path) -> None:
    cookies: set[bytes] = set()
    for _ in range(3):
        write_cookie(tmp_path / "Xauthority")
        for name, entry in zip(
            (os.uname().nodename, MACHINE), Xauthority(str(tmp_path / "Xauthority")).entries, strict=True
        ):
            assert entry[:4] == (FamilyLocal, name.encode(), b"", b"MIT-MAGIC-COOKIE-1")
            assert len(entry[4]) == COOKIE_BYTES
            cookies.add(entry[4])
    assert len(cookies) == 3


def test_display_that_is_not_there_is_lost(tmp_path: Path) -> None:
    for name in (":54321", "not a display"):
        with pytest.raises(DisplayLost, match=name):
            open_display(name, tmp_path / "none")


@pytest.mark.parametrize("before", [None, "/home/someone/.Xauthority"])
async def test_environment_is_as_before(screen: Screen, monkeypatch: pytest.MonkeyPatch, before: str | None) -> None:
    if before is None:
        monkeypatch.delenv("XAUTHORITY", raising=False)
    else:
        monkeypatch.setenv("XAUTHORITY", before)
    open_display(screen.display, screen.xauthority).close()
    assert os.environ.get("XAUTHORITY") == before


async def test_a_frozen_server_keeps_nobody_from_another(screen: Screen, tmp_path: Path) -> None:
    with bare_xvfb(64, 64) as (frozen, pid):
        ends = lambda: Path("/proc/net/unix").read_text().count(f"X11-unix/X{frozen[1:]}\n")  # noqa: E731
        os.kill(pid, signal.SIGSTOP)
        await asyncio.to_thread(os.waitid, os.P_PID, pid, os.WSTOPPED)
        # It closes no others from here on, such as that of who waited for its start.
        before = ends()
        try:
            waiting = asyncio.create_task(asyncio.to_thread(open_display, frozen, tmp_path / "none"))
            await eventually(lambda: ends() > before)
            await asyncio.to_thread(lambda: open_display(screen.display, screen.xauthority).close())
        finally:
            os.kill(pid, signal.SIGCONT)
        (await waiting).close()


async def test_connections_to_two_kinds_of_server_keep_their_extensions_apart(
    screen: Screen, other_screen: Screen
) -> None:
    connections = [open_display(each.display, each.xauthority) for each in (screen, other_screen)]
    for connection in connections:
        assert connection.display.get_extension_major("XTEST") == connection.query_extension("XTEST").major_opcode  # pyright: ignore[reportOptionalMemberAccess]
        connection.close()
