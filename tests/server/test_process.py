import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from pluriverse_server.process import (
    OUTPUT_TAIL_CHARS,
    OUTPUT_TAIL_LINES,
    ChildProcess,
    Finished,
    StartError,
    TooMuchOutput,
    executable,
    listeners,
    require_free,
    run,
)
from support import sessions
from support.ports import free_port
from support.waiting import DEADLINE_S, eventually

# Says its children's ids, then waits for ever; each child waits too.
FAMILY = """
import subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
print(subprocess.Popen(sleep).pid, flush=True)
time.sleep(600)
"""

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(600)
"""


@asynccontextmanager
async def child(script: str, **options: Any) -> AsyncGenerator[ChildProcess]:
    process = await ChildProcess.start("toy", [sys.executable, "-c", script], **options)
    try:
        yield process
    finally:
        await process.stop(0)


def alive(pid: int) -> bool:
    """Whether a process runs; one that waits to be reaped by whoever adopted it doesn't."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def ended(process: ChildProcess) -> int:
    return await asyncio.wait_for(process.wait(), DEADLINE_S)


async def first_words(process: ChildProcess) -> str:
    await eventually(lambda: process.output_tail)
    return process.output_tail


# ── how it ends ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("script", "code", "how"),
    [
        ("raise SystemExit(3)", 3, "exit status 3"),
        ("import os; os.kill(os.getpid(), 9)", -9, "killed by SIGKILL"),
    ],
)
async def test_end_is_told_in_words(script: str, code: int, how: str) -> None:
    async with child(script) as process:
        assert await ended(process) == code
        assert process.returncode == code
        assert process.describe_end() == how


async def test_whoever_asked_is_called_at_its_end_before_or_after() -> None:
    async with child("import sys; sys.stdin.read()") as process:
        before, after = asyncio.Event(), asyncio.Event()
        process.on_end(before.set)
        await asyncio.wait_for(before.wait(), DEADLINE_S)
        process.on_end(after.set)
        await asyncio.wait_for(after.wait(), DEADLINE_S)


# ── what it may reach ───────────────────────────────────────────────────────────────────────────────────────────────

CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"


async def connects(port: int, network: bool | int) -> bool:
    """Whether a child may connect to a port."""
    command = [sys.executable, "-c", CONNECT, str(port)]
    process = await ChildProcess.start("toy", command, network=network)
    status = await process.wait()
    assert status == 0 or "PermissionError" in process.output_tail
    return status == 0


async def test_child_has_as_much_of_a_network_as_it_is_given() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not await connects(port, network=False)
        assert await connects(port, network=port)
        assert await connects(port, network=True)


# ── its last words ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_last_words_are_complete_when_its_end_is_told() -> None:
    script = "import os, sys; print('out', flush=True); print('\\udcff', 'err'.upper(), file=sys.stderr); os._exit(1)"
    for _ in range(5):
        async with child(script) as process:
            heard: list[str] = []
            told = asyncio.Event()

            def note(process: ChildProcess = process, heard: list[str] = heard, told: asyncio.Event = told) -> None:
                heard.append(process.output_tail)
                told.set()

            process.on_end(note)
            await asyncio.wait_for(told.wait(), DEADLINE_S)
            assert heard == ["out\n\\udcff ERR"]


async def test_flood_of_lines_keeps_the_last_ones_alone() -> None:
    async with child("for n in range(200_000): print(n)") as process:
        await ended(process)
        assert process.output_tail.splitlines() == [
            str(200_000 - OUTPUT_TAIL_LINES + n) for n in range(OUTPUT_TAIL_LINES)
        ]


async def test_flood_without_newlines_keeps_a_few_characters() -> None:
    async with child("import sys; sys.stdout.write('x' * 20_000_000)") as process:
        await ended(process)
        assert process.output_tail == "x" * OUTPUT_TAIL_CHARS


async def test_grandchild_that_left_its_group_with_the_pipe_delays_nothing() -> None:
    script = (
        "import subprocess, sys\n"
        "sleep = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "print(subprocess.Popen(sleep, start_new_session=True).pid, flush=True)"
    )
    async with child(script) as process:
        assert await ended(process) == 0
        escaped = int(await first_words(process))
        assert alive(escaped)
        os.kill(escaped, signal.SIGKILL)


# ── stopping ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_stop_asks_with_sigterm_first() -> None:
    script = (
        "import signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(7))\nprint('up', flush=True)\ntime.sleep(600)"
    )
    async with child(script) as process:
        await first_words(process)
        await process.stop(DEADLINE_S)
        assert process.describe_end() == "exit status 7"


async def test_stop_kills_what_does_not_listen() -> None:
    async with child(STUBBORN) as process:
        await first_words(process)
        await process.stop(0.05)
        assert process.describe_end() == "killed by SIGKILL"
        assert not psutil.pid_exists(process.pid)


async def test_stop_that_is_cancelled_still_kills() -> None:
    async with child(STUBBORN) as process:
        await first_words(process)
        stopping = asyncio.create_task(process.stop(DEADLINE_S))
        await asyncio.sleep(0)
        stopping.cancel()
        assert await ended(process) == -signal.SIGKILL


async def test_stop_may_come_again_and_after_the_end() -> None:
    async with child("pass") as process:
        await ended(process)
        await process.stop()
        await asyncio.gather(process.stop(), process.stop())
        process.kill()
        assert process.returncode == 0


@pytest.mark.parametrize("how", ["stop", "kill", "outside"])
async def test_what_it_started_goes_with_it(how: str) -> None:
    async with child(FAMILY) as process:
        grandchild = int(await first_words(process))
        assert alive(grandchild)
        match how:
            case "stop":
                await process.stop()
            case "kill":
                process.kill()
            case _:
                os.kill(process.pid, signal.SIGKILL)
        await ended(process)
        await eventually(lambda: not alive(grandchild))


async def test_it_dies_with_a_parent_that_is_killed() -> None:
    parent_script = (
        "import asyncio, sys\n"
        "from pluriverse_server.process import ChildProcess\n"
        "async def main():\n"
        f"    process = await ChildProcess.start('toy', [sys.executable, '-c', {STUBBORN!r}])\n"
        "    while not process.output_tail:\n"
        "        await asyncio.sleep(0.01)\n"
        "    print(process.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", parent_script, stdout=subprocess.PIPE)
    try:
        assert parent.stdout is not None
        pid = int(await parent.stdout.readline())
        assert alive(pid)
    finally:
        parent.kill()
        await parent.wait()
    await eventually(lambda: not alive(pid))


# ── starting ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["no-such-program", "/no/such/program", "./no-such-program", "/", "/etc/passwd"])
async def test_program_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(StartError, match=f"the program '{name}' (is missing or not executable|was not found on PATH)"):
        await ChildProcess.start("toy", [name])


async def test_program_is_looked_for_from_its_own_folder_and_on_its_own_path(tmp_path: Path) -> None:
    script = tmp_path / "hello"
    script.write_text("#!/bin/sh\necho hello from $PWD\n")
    script.chmod(0o755)
    for command, options in (
        ("./hello", {"cwd": tmp_path}),
        ("hello", {"cwd": tmp_path, "env": {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}}),
    ):
        process = await ChildProcess.start("toy", [command], **options)  # pyright: ignore[reportArgumentType]
        assert await ended(process) == 0
        assert process.output_tail == f"hello from {tmp_path}"
        await process.stop()
    with pytest.raises(StartError):
        await ChildProcess.start("toy", ["hello"])


async def test_folder_that_is_not_there_and_words_that_cannot_be_passed_are_told(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="toy could not be started"):
        await ChildProcess.start("toy", [sys.executable], cwd=tmp_path / "nowhere")
    for word in ("a\0b", "\ud800"):
        with pytest.raises(StartError, match="toy could not be started"):
            await ChildProcess.start("toy", [sys.executable, word])


def test_missing_executable_names_the_package_that_has_it() -> None:
    assert Path(executable("sh")).is_file()
    with pytest.raises(
        StartError, match="'nonesuch' was not found on PATH; install it with: apt-get install some-package"
    ):
        executable("nonesuch", package="some-package")


PROXIES = ("http_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY")


@pytest.mark.parametrize(("network", "told"), [(False, ()), (80, ()), (True, PROXIES)])
async def test_environment_of_a_child_is_made_and_has_nothing_of_the_session(
    network: bool | int, told: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = sessions.hostile(tmp_path / "session")
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in session.items():
        monkeypatch.setenv(name, value)
    with (tmp_path / "printed").open("w+") as printed:
        given = {"DISPLAY": ":7", "TZ": "Asia/Tokyo"}
        process = await ChildProcess.start("toy", ["env"], env=given, stdout=printed.fileno(), network=network)
        assert await ended(process) == 0
        printed.seek(0)
        got = dict(line.split("=", 1) for line in printed.read().splitlines())
    kept = {name: session[name] for name in ("PATH", "HOME", *told)}
    assert got == {**kept, "LANG": "C.UTF-8", **given}


async def test_it_has_no_input_and_keeps_the_descriptors_that_it_is_given() -> None:
    read_end, write_end = os.pipe()
    try:
        script = f"import os, sys; os.write({write_end}, b'here' + sys.stdin.buffer.read())"
        async with child(script, pass_fds=[write_end]) as process:
            assert await ended(process) == 0
            assert os.read(read_end, 10) == b"here"
    finally:
        os.close(read_end)
        os.close(write_end)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def test_taken_port_names_its_holder_and_the_option_that_chooses_another(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    name = psutil.Process().name()
    with pytest.raises(StartError) as refused:
        require_free("rewarder", "127.0.0.1", port, "--rewarder-port")
    assert str(refused.value) == (
        f"the rewarder port 127.0.0.1:{port} is taken by {name} (process {os.getpid()}); "
        "choose another with --rewarder-port"
    )


def test_port_that_is_taken_on_one_address_is_not_free_on_all(listener: socket.socket) -> None:
    with pytest.raises(StartError, match="is taken by"):
        require_free("VNC", "0.0.0.0", listener.getsockname()[1], "--vnc-port")


def test_port_whose_last_connections_linger_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        served, _ = listening.accept()
        served.close()
        client.close()
    require_free("VNC", "127.0.0.1", port, "--vnc-port")


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "no such host"])
def test_address_that_this_machine_lacks_is_told_to_be_the_reason(host: str) -> None:
    with pytest.raises(StartError, match=f"on '{host}': not an address of this machine; choose one with --host"):
        require_free("VNC", host, free_port(), "--vnc-port")


@pytest.mark.parametrize(
    ("host", "reached"),
    [("::1", ["::1"]), ("::", ["::1", "127.0.0.1"]), ("127.0.0.2", ["127.0.0.2"]), ("0.0.0.0", ["127.0.0.3"])],
)
def test_any_local_address_may_be_listened_on(host: str, reached: list[str]) -> None:
    port = free_port()
    with contextlib.ExitStack() as stack:
        for listener in listeners(host, port):
            stack.enter_context(listener)
        for address in reached:
            socket.create_connection((address, port)).close()


def test_what_is_small_goes_to_a_client_at_once() -> None:
    port = free_port()
    (listener,) = listeners("127.0.0.1", port)
    with listener, socket.create_connection(("127.0.0.1", port)):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_descriptor_limit_is_raised_as_far_as_may_be() -> None:
    script = (
        "import resource; from pluriverse_server.process import raise_descriptor_limit;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 2000)); raise_descriptor_limit();"
        "print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout == b"2000 2000\n"


# ── to its end ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_is_run_to_its_end_gets_its_input_and_has_its_outputs_apart() -> None:
    script = "import sys; sys.stdout.write(sys.stdin.read()[::-1]); sys.stderr.write('bad'); sys.exit(3)"
    assert await run([sys.executable, "-c", script], stdin=b"hello") == Finished(3, b"olleh", "bad")
    together = await run([sys.executable, "-c", script], stdin=b"hello", merge_stderr=True)
    assert sorted(together.output) == sorted(b"olleh" + b"bad")


async def test_what_runs_for_too_long_or_prints_too_much_is_ended() -> None:
    with pytest.raises(TimeoutError):
        await run(["sleep", "600"], timeout_s=0.1)
    with pytest.raises(TooMuchOutput):
        await run(["yes"], max_bytes=1000)
    assert not [child for child in psutil.Process().children() if child.name() in ("sleep", "yes", "setpriv")]
