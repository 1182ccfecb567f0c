"""A program under its keeper: how it starts, what it says, how it ends."""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from pluriverse_server.process import StartError
from pluriverse_server.scraper.child import Child
from pluriverse_server.scraper.tree import descendants
from pluriverse_server.sources.program import ProgramOutput
from pluriverse_server.sources.program.reader import MAX_KEPT_BYTES
from support.waiting import eventually


@asynccontextmanager
async def running(folder: Path, *command: str, nice: int = 0, network: bool = False) -> AsyncGenerator[Child]:
    private = folder / "private"
    private.mkdir()
    child = await Child.start(
        command,
        cwd=folder,
        env={"SAID": "hello"},
        folder=private,
        output=ProgramOutput(),
        nice=nice,
        network=network,
    )
    try:
        yield child
    finally:
        await child.stop()
    assert not private.exists()
    assert not psutil.pid_exists(child.pid)
    assert child.keeper.returncode == 0


async def test_output_and_exit_code_are_the_programs(tmp_path: Path) -> None:
    async with running(tmp_path, "sh", "-c", "echo $SAID; pwd; echo bad >&2; exit 3") as child:
        await child.ended.wait()
        assert (child.exit_code, child.describe_end()) == (3, "exit status 3")
        await eventually(lambda: child.output_tail == f"hello\n{tmp_path}\nbad")
        assert child.printed_bytes == len(child.output_tail) + 1


@pytest.mark.parametrize(("network", "status"), [(False, 1), (True, 0)])
async def test_program_has_a_network_only_if_it_asked_for_it(tmp_path: Path, network: bool, status: int) -> None:
    command = [sys.executable, "-c", "import socket; socket.socket(socket.AF_INET)"]
    async with running(tmp_path, *command, network=network) as child:
        await child.ended.wait()
        assert child.exit_code == status


async def test_keeper_that_is_killed_is_missed(tmp_path: Path) -> None:
    child = await Child.start(
        ["sleep", "600"], cwd=tmp_path, env={}, folder=tmp_path / "private", output=ProgramOutput()
    )
    os.kill(child.keeper.pid, signal.SIGKILL)
    await child.ended.wait()
    assert (child.has_lost_keeper, child.exit_code, child.describe_end()) == (True, None, "it killed its keeper")
    await child.stop()
    os.kill(child.pid, signal.SIGKILL)


async def test_gentle_program_that_is_ended_has_not_killed_its_keeper(tmp_path: Path) -> None:
    async with running(tmp_path, "sleep", "600", nice=10) as child:
        assert psutil.Process(child.pid).nice() == psutil.Process().nice() + 10
        assert child.describe_end() == "still running"
        child.end()
        await child.ended.wait()
        assert (child.has_lost_keeper, child.describe_end()) == (False, "it was ended")


async def test_program_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"no-such-program.*No such file"):
        async with running(tmp_path, "no-such-program"):
            raise AssertionError


async def test_much_output_neither_blocks_the_program_nor_fills_memory(tmp_path: Path) -> None:
    much = 5 * MAX_KEPT_BYTES
    async with running(tmp_path, "sh", "-c", f"head -c {much} /dev/zero; echo; echo done") as child:
        await child.ended.wait()
        await eventually(lambda: child.printed_bytes > much)
        await eventually(lambda: child.output_tail.endswith("done"))
        with pytest.raises(Exception, match="faster than they could be read"):
            child.output.read(0, 1)


async def test_background_processes_of_a_program_that_has_ended_go_when_it_is_stopped(tmp_path: Path) -> None:
    async with running(tmp_path, "sh", "-c", "setsid sleep 600 & exit 0") as child:
        await child.ended.wait()
        left = descendants(child.keeper.pid)
        assert len(left) == 1
    assert not psutil.pid_exists(left[0])


async def test_program_knows_no_descriptor_of_its_keepers(tmp_path: Path) -> None:
    code = "import os; names = os.listdir('/proc/self/fd'); print(sorted(map(int, names))[:3], len(names))"
    async with running(tmp_path, sys.executable, "-c", code) as child:
        await child.ended.wait()
        # The fourth is the folder that it lists.
        await eventually(lambda: child.output_tail == "[0, 1, 2] 4")
