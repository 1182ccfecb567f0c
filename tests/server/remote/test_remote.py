"""A whole remote, with a real screen of each kind and a program that does what the test tells it."""

import asyncio
import errno
import os
import re
import signal
import tempfile
from pathlib import Path
from typing import Any, cast

import aiohttp
import pluriverse_server.display.screen
import pluriverse_server.remote.environment
import psutil
import pytest
from pluriverse.remotes.address import Address
from pluriverse.remotes.lease import claim
from pluriverse_protocol.reports import Done
from pluriverse_server.manifest.runtime import Manifest, ManifestError
from pluriverse_server.process import StartError
from pluriverse_server.remote import token_file
from pluriverse_server.remote.crash_limit import MAX_CRASHES
from pluriverse_server.remote.token_file import read_tokens
from pluriverse_server.settings import DisplayBackend
from pluriverse_server.tasks import TaskFailed
from pluriverse_server.x11.connection import open_display
from support.agent import connected
from support.in_process import make_remote, remote_up
from support.leftovers import Leftovers
from support.rfb import RfbClient, RfbError
from support.served import PASSWORD
from support.toy import Process, Toy
from support.waiting import DEADLINE_S, eventually
from support.xwindow import Window
from Xlib import XK, X


async def inject(name: str, error: Exception) -> None:
    """Raise ``error`` where the task of this name waits."""
    (task,) = [task for task in asyncio.all_tasks() if task.get_name() == name]
    while (waiter := cast("Any", task)._fut_waiter) is None or waiter.done():  # noqa: ASYNC110
        await asyncio.sleep(0)
    waiter.set_exception(error)


pytestmark = pytest.mark.display

BACKENDS: tuple[DisplayBackend, ...] = ("xvfb", "xvnc")


@pytest.mark.parametrize("backend", BACKENDS)
async def test_stopped_remote_says_goodbye_and_leaves_nothing(tmp_path: Path, backend: DisplayBackend) -> None:
    leftovers = Leftovers()
    async with remote_up(tmp_path, backend) as up, up.agent() as agent:
        await agent.assert_alive()
        up.remote.stop()
        assert await agent.hear_end() == 1000
        assert agent.heard[-1]["body"]["message"] == "the remote is shutting down"
        await asyncio.wait_for(up.running, 60)
    leftovers.assert_none()


async def test_remote_that_drains_ends_with_its_agents_episode(tmp_path: Path) -> None:
    leftovers = Leftovers()
    async with remote_up(tmp_path, drain_s=60.0) as up, up.agent() as agent, up.agent() as late:
        await agent.assert_alive()
        up.remote.drain()
        up.remote.drain()
        assert up.remote.draining
        await late.send("v0.control.ping", {})
        assert "another agent" in (await late.hear_method("v0.connection.close"))["body"]["message"]
        await agent.assert_alive()
        up.process.report(Done(1, terminated=True))
        await agent.hear_method("v0.env.reward", done=True)
        assert await agent.hear_end() == 1000
        await asyncio.wait_for(up.running, 60)
    leftovers.assert_none()


@pytest.mark.parametrize("agents", [0, 1])
async def test_remote_that_nobody_plays_on_or_that_may_not_drain_ends_at_once(tmp_path: Path, agents: int) -> None:
    async with remote_up(tmp_path, drain_s=0.0 if agents else 60.0) as up, up.agent() as agent:
        if agents:
            await agent.assert_alive()
        up.remote.drain()
        await asyncio.wait_for(up.running, 60)


async def test_leases_token_is_good_on_all_ports(tmp_path: Path) -> None:
    async with remote_up(tmp_path) as up:
        address = Address("127.0.0.1", up.vnc_port, up.port, PASSWORD)
        lease = await asyncio.to_thread(claim, address)
        token = lease.address.password
        viewer = f"http://127.0.0.1:{up.port}/viewer/access?password={token}"
        async with connected(up.port, token) as agent, aiohttp.ClientSession() as session:
            await agent.assert_alive()
            with await asyncio.to_thread(RfbClient, "127.0.0.1", up.vnc_port, token) as client:
                await asyncio.to_thread(client.wait_until, lambda: True)
            async with session.get(viewer) as response:
                assert await response.json() == {"granted": True, "control": False}
            await asyncio.to_thread(lease.release)
            assert await agent.hear_end() == 1000


async def test_token_that_is_removed_from_the_file_ends_its_connections_on_both_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_file, "LOOK_EVERY_S", 0.05)
    file = tmp_path / "tokens"
    file.write_text("agent robot robots-token\n")
    async with (
        remote_up(tmp_path, tokens=read_tokens(file, PASSWORD), tokens_file=file) as up,
        connected(up.port, "robots-token", token="a seat") as agent,
    ):
        await agent.assert_alive()
        with await asyncio.to_thread(RfbClient, "127.0.0.1", up.vnc_port, "robots-token"):
            watchers = len(up.remote.screen.vnc_proxy.clients)
            file.write_text("agent another another-token\n")
            assert await agent.hear_end() == 1000
            assert agent.heard[-1]["body"]["message"] == "the token of this connection is no longer valid"
            await eventually(lambda: len(up.remote.screen.vnc_proxy.clients) < watchers)
        assert not up.remote.service.sessions.occupied
        async with connected(up.port, "another-token") as other:
            await other.assert_alive()


def pointer_of(process: Process) -> tuple[int, int]:
    variables = psutil.Process(process.pid).environ()
    display = open_display(variables["DISPLAY"], Path(variables["XAUTHORITY"]))
    try:
        answer = display.screen().root.query_pointer()
        return answer.root_x, answer.root_y
    finally:
        display.close()


async def test_killed_vnc_server_is_back_and_the_episode_goes_on(tmp_path: Path) -> None:
    async with remote_up(tmp_path) as up, up.agent() as agent:
        await agent.assert_alive()
        vnc = up.remote.screen.pids["VNC server"]
        os.kill(vnc, signal.SIGKILL)
        await eventually(lambda: up.remote.screen.pids.get("VNC server") not in (None, vnc))
        await eventually(lambda: can_connect(up.vnc_port))
        assert up.remote.status()["episode_id"] == "1"
        assert up.remote.status()["env_state"] == "running"
        await agent.assert_alive()


def can_connect(vnc_port: int) -> bool:
    try:
        with RfbClient("127.0.0.1", vnc_port, PASSWORD):
            return True
    except (OSError, RfbError):
        return False


@pytest.mark.parametrize("backend", BACKENDS)
async def test_killed_x_server_truncates_the_episode_and_the_remote_heals(
    tmp_path: Path, backend: DisplayBackend
) -> None:
    async with remote_up(tmp_path, backend) as up, up.agent() as agent:
        await agent.assert_alive()
        os.kill(up.remote.screen.pids["X server"], signal.SIGKILL)
        last = await agent.hear_method("v0.env.reward", done=True)
        assert last["body"]["truncated"] is True
        assert last["body"]["info"]["reason"] == "X server killed by SIGKILL"
        process = await up.next_episode()
        assert process.pid != up.process.pid
        described = await agent.hear_method("v0.env.describe", env_state="running")
        assert described["headers"]["episode_id"] == "2"
        await agent.send("v0.agent.action", {"action": [["PointerEvent", 7, 8, 0]]})
        await eventually(lambda: pointer_of(process) == (7, 8))
        assert can_connect(up.vnc_port)


async def test_screen_that_a_full_disk_keeps_from_starting_is_there_again_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with remote_up(tmp_path) as up, up.agent() as agent:
        await agent.assert_alive()
        with monkeypatch.context() as full:

            def write(*_: object) -> None:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            full.setattr(pluriverse_server.display.screen, "write_cookie", write)
            os.kill(up.remote.screen.pids["X server"], signal.SIGKILL)
            await eventually(lambda: caplog.text.count("the screen could not be started: [Errno 28] No") >= 2)
            # Who is connected stays so.
            await agent.assert_alive()
        process = await up.next_episode()
        await eventually(lambda: up.remote.status()["env_state"] == "running")
        assert process.pid != up.process.pid
        assert can_connect(up.vnc_port)


async def test_deaths_do_not_count_while_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pluriverse_server.remote.environment, "MIN_FREE_BYTES", 2**63)
    async with remote_up(tmp_path) as up:
        process = up.process
        for _ in range(MAX_CRASHES + 1):
            os.kill(process.pid, signal.SIGKILL)
            process = await up.next_episode()
        await eventually(lambda: up.remote.status()["env_state"] == "running")


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ('"python", "program.py"', '"no-such-game"', "'no-such-game' was not found on PATH"),
        ('"{seed}"', '"{env.level}"', r"lacks the key 'env\.level' that program\.command asks for"),
    ],
)
async def test_runtime_whose_program_cannot_be_started_is_refused_before_the_greeting(
    tmp_path: Path, before: str, after: str, complaint: str
) -> None:
    toy = await Toy.make(tmp_path)
    manifest = tmp_path / "runtime.toml"
    manifest.write_text(manifest.read_text().replace(before, after))
    greeted: list[Manifest] = []
    with pytest.raises((StartError, ManifestError), match=complaint):
        await make_remote(tmp_path).run(greeted.append)
    assert not greeted
    await toy.close()


async def test_folders_of_killed_daemons_are_swept_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime, place = tmp_path / "runtime", tmp_path / "place"
    runtime.mkdir()
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    killed = place / "pluriverse-1-killed"
    killed.mkdir()
    (killed / "lock").touch()
    async with remote_up(runtime):
        assert not killed.exists()
        assert len(list(place.iterdir())) == 1
    assert not list(place.iterdir())


# Those of pages and of the overlay are in test_screen_clients.
LONG_LIVED = ("heartbeat", "connections", "screen", "program", "program: output", "program: end", "X server: end")


@pytest.mark.parametrize("name", ["heartbeat", "program", "X server: end"])
async def test_long_lived_task_that_fails_ends_the_remote_with_a_traceback(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    leftovers = Leftovers()
    async with remote_up(tmp_path) as up:
        await inject(name, ZeroDivisionError("injected"))
        with pytest.raises(TaskFailed, match=rf"'{name}' failed: ZeroDivisionError: injected"):
            await asyncio.wait_for(up.running, DEADLINE_S)
    assert "Traceback" in caplog.text
    # The failed task would have waited for what is killed.
    leftovers.assert_none(within_s=60)


async def test_every_task_of_a_running_remote_is_watched(tmp_path: Path) -> None:
    before = asyncio.all_tasks()
    async with remote_up(tmp_path) as up:
        # These end by themselves, or are waited for.
        others = {"stop", "VNC health", up.running.get_name()}
        servers = {f"{server}: {end}" for server in ("X server", "VNC server") for end in ("output", "end")}

        def named() -> set[str]:
            names = {task.get_name() for task in asyncio.all_tasks() - before} - others
            return {name for name in names if not re.match(r"Task-\d+", name)}

        await eventually(lambda: named() == {*LONG_LIVED, *servers})


def action(*keys: tuple[int, bool]) -> dict[str, Any]:
    return {"action": [["KeyEvent", keysym, down] for keysym, down in keys]}


@pytest.mark.parametrize("backend", BACKENDS)
async def test_next_agent_finds_nothing_locked_or_held_and_types_what_it_means(
    tmp_path: Path, backend: DisplayBackend
) -> None:
    async with remote_up(tmp_path, backend) as up:
        screen = up.remote.screen
        with Window(screen.display, screen.xauthority) as window:

            def mask() -> int:
                return window.connection.screen().root.query_pointer().mask

            def pointer() -> tuple[int, int]:
                seen = window.connection.screen().root.query_pointer()
                return seen.root_x, seen.root_y

            async with up.agent() as agent:
                caps, shift, left = XK.XK_Caps_Lock, XK.XK_Shift_L, XK.XK_Left
                keys = action((caps, True), (caps, False), (shift, True), (left, True))
                await agent.send("v0.agent.action", keys)
                await eventually(lambda: mask() == X.LockMask | X.ShiftMask)
            await eventually(lambda: not mask() and not window.held())
            while window.connection.pending_events():
                window.connection.next_event()
            async with up.agent() as agent:
                for keysym in (XK.XK_A, XK.XK_a):
                    await agent.send("v0.agent.action", action((keysym, True), (keysym, False)))
                    assert await asyncio.to_thread(window.typed) == keysym
                # By this it is seen that the agent's end is over, which would lift the viewer's lock.
                at = pointer()
                window.connection.screen().root.warp_pointer(1, 1)
                window.connection.sync()
            await eventually(lambda: pointer() == at)
            with RfbClient("127.0.0.1", up.vnc_port, PASSWORD) as viewer:
                # Whatever is locked.
                for keysym in (XK.XK_A, XK.XK_a, XK.XK_eacute, XK.XK_Eacute):
                    viewer.press(XK.XK_Caps_Lock)
                    await eventually(lambda: bool(mask() & X.LockMask) and not window.held())
                    while window.connection.pending_events():
                        window.connection.next_event()
                    viewer.press(keysym)
                    # The VNC server presses it again to be rid of it.
                    while (typed := await asyncio.to_thread(window.typed)) == XK.XK_Caps_Lock:
                        pass
                    assert typed == keysym
                    await eventually(lambda: not mask() and not window.held())


@pytest.mark.parametrize("backend", BACKENDS)
async def test_episode_begins_with_the_screen_as_it_was_at_the_first_one(
    tmp_path: Path, backend: DisplayBackend
) -> None:
    async with remote_up(tmp_path, backend) as up, up.agent() as agent:
        screen, state = up.remote.screen, up.remote.service.state
        assert state is not None
        # After the start of the program was taken for its own.
        await agent.hear_method("v0.env.describe", env_state="running")
        await state.restore_input()
        with (
            Window(screen.display, screen.xauthority) as window,
            RfbClient("127.0.0.1", up.vnc_port, PASSWORD) as viewer,
        ):
            root: Any = window.connection.screen().root
            await agent.send("v0.agent.action", action((XK.XK_Caps_Lock, True), (XK.XK_Caps_Lock, False)))
            viewer.key(XK.XK_Left, True)
            viewer.pointer(30, 40, 1)
            locked_and_pressed = X.LockMask | X.Button1Mask
            await eventually(lambda: root.query_pointer().mask == locked_and_pressed and bool(window.held()))
            up.process.report(Done(1))
            # All of that before the program hears of it.
            assert (await up.process.begin()).episode == 2
            pointer = root.query_pointer()
            assert (pointer.mask, pointer.root_x, pointer.root_y) == (0, 160, 100)
            assert not window.held()
            # It is the agent's again, at once.
            viewer.key(XK.XK_Left, False)
            viewer.key(XK.XK_Left, True)
            viewer.pointer(30, 40, 1)
            await eventually(lambda: root.query_pointer().mask == X.Button1Mask and len(window.held()) == 1)
            assert root.query_pointer().root_x == 30
