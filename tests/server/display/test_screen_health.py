"""Servers that are there, and answer no more."""

import asyncio
import contextlib
import errno
import math
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from pluriverse_server.display import Restarted, Screen, screen_health
from pluriverse_server.display.screen import VNC_SERVER, X_SERVER, ServerExit
from support.kept import attached
from support.rfb import RfbClient
from support.waiting import eventually

pytestmark = pytest.mark.display


@contextlib.contextmanager
def stopped(screen: Screen, name: str) -> Generator[int]:
    """Stop a server as a debugger does, until the end of the context if it is still there."""
    pid = screen.pids[name]
    os.kill(pid, signal.SIGSTOP)
    yield pid
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


async def replaced(screen: Screen, name: str) -> tuple[ServerExit, Restarted]:
    """What is found, and what is started again, once a server has been stopped."""
    waiting = asyncio.create_task(screen.wait_for_exit())
    await eventually(lambda: screen.answers)
    with stopped(screen, name) as pid:
        async with asyncio.timeout(60):
            found = await waiting
            assert not screen.answers
            restarted = await screen.restart_dead()
        assert screen.pids[name] != pid
    return found, restarted


async def see(screen: Screen) -> None:
    """A client gets in, and is shown the screen."""
    client = await asyncio.to_thread(RfbClient, "127.0.0.1", screen.options.vnc_port)
    await asyncio.to_thread(client.wait_until, lambda: True)
    client.close()


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_servers_that_run_answer_and_who_asks_is_nobody_for_whom_pictures_are_taken(screen: Screen) -> None:
    for _ in range(20):
        assert await screen_health.vnc_answers(screen.vnc_proxy.vnc_socket)
    assert await screen_health.x_answers(screen.display)
    assert not attached(screen.pids[X_SERVER])
    assert not screen.vnc_proxy.clients


async def test_server_that_cannot_be_asked_for_want_of_descriptors_is_not_blamed(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_path: object) -> None:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(asyncio, "open_unix_connection", refuse)
    assert await screen_health.vnc_answers(screen.vnc_proxy.vnc_socket)
    assert await screen_health.x_answers(screen.display)


async def test_nobody_answers_where_nothing_listens(tmp_path: Path) -> None:
    assert not await screen_health.vnc_answers(tmp_path / "nothing")
    assert not await screen_health.x_answers(":65535")


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_stopped_x_server_is_found_and_replaced(screen: Screen) -> None:
    found, restarted = await replaced(screen, X_SERVER)
    assert (found.name, found.how) == (X_SERVER, "answered no more")
    assert restarted is Restarted.EVERYTHING
    await see(screen)


async def test_stopped_vnc_server_is_found_and_replaced_alone(screen: Screen) -> None:
    x = screen.pids[X_SERVER]
    found, restarted = await replaced(screen, VNC_SERVER)
    assert (found.name, found.how) == (VNC_SERVER, "answered no more")
    assert restarted is Restarted.VNC_SERVER
    assert screen.pids[X_SERVER] == x
    await see(screen)


async def test_servers_of_a_screen_at_rest_are_asked_seldom_and_at_once_when_it_no_longer_is(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen_health, "ASK_EVERY_S", 0.05)
    waiting = asyncio.create_task(screen.wait_for_exit())
    await eventually(lambda: screen.answers)
    screen.rest(resting=True)
    await asyncio.sleep(0.5)
    with stopped(screen, VNC_SERVER):
        await asyncio.sleep(screen_health.ANSWER_S + 0.5)
        assert screen.answers
        screen.rest(resting=False)
        await eventually(lambda: not screen.answers)
    waiting.cancel()


async def test_server_that_was_stopped_for_a_moment_is_left_alone(screen: Screen) -> None:
    waiting = asyncio.create_task(screen.wait_for_exit())
    await eventually(lambda: screen.answers)
    before = screen.pids
    with stopped(screen, list(before)[-1]):
        await eventually(lambda: not screen.answers)
    await eventually(lambda: screen.answers)
    assert screen.pids == before
    assert not waiting.done()
    waiting.cancel()


async def test_server_that_has_no_time_for_the_question_but_serves_its_clients_is_not_hung(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen_health, "ANSWER_S", 0.1)
    monkeypatch.setattr(screen_health, "ASK_EVERY_S", 0.1)
    screen.vnc_proxy.heard_at = math.inf
    waiting = asyncio.create_task(screen.wait_for_exit())
    with stopped(screen, list(screen.pids)[-1]):
        await asyncio.sleep(1)
        assert screen.answers
        screen.vnc_proxy.heard_at = -math.inf
        assert (await asyncio.wait_for(waiting, 60)).how == "answered no more"


async def test_death_with_clients_is_told_from_one_that_none_can_have_caused(screen: Screen) -> None:
    for has_client in (False, True):
        client = await asyncio.to_thread(RfbClient, "127.0.0.1", screen.options.vnc_port) if has_client else None
        await eventually(
            lambda has_client=has_client: screen.vnc_proxy.had_clients(screen_health.ANSWER_S) is has_client
        )
        waiting = asyncio.create_task(screen.wait_for_exit())
        os.kill(list(screen.pids.values())[-1], signal.SIGKILL)
        assert (await waiting).had_clients is has_client
        await screen.restart_dead()
        if client is not None:
            client.close()
