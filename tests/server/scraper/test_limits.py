import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import psutil
import pytest
from pluriverse_server.manifest.game import LimitsTable
from pluriverse_server.scraper import limits
from pluriverse_server.scraper.limits import Limits, below, can_raise_priority, raise_priority
from support.waiting import until


def look(home: Path, *, printed: int = 0, **table: int) -> str | None:
    return Limits(LimitsTable(**table), lambda: below(os.getpid()), home, lambda: printed).exceeded()


def test_modest_program_is_within_its_limits(tmp_path: Path) -> None:
    (tmp_path / "save").write_bytes(bytes(1024))
    (tmp_path / "root").symlink_to("/")
    assert look(tmp_path, printed=1024) is None
    assert look(tmp_path / "gone") is None


def test_processes_are_counted_with_all_that_they_start(tmp_path: Path) -> None:
    with subprocess.Popen(["sh", "-c", "sleep 600 & sleep 600 & echo; wait"], stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        try:
            assert look(tmp_path, processes=3) is None
            assert look(tmp_path, processes=2) == "the program started more than 2 processes"
        finally:
            for child in psutil.Process(shell.pid).children():
                child.kill()


@pytest.mark.parametrize("is_denied", [False, True])
def test_memory_counts_also_of_a_program_that_lets_nobody_look_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_denied: bool
) -> None:
    def denied(process: psutil.Process) -> None:
        raise psutil.AccessDenied(process.pid)

    if is_denied:  # root may look into all of them
        monkeypatch.setattr(psutil.Process, "memory_full_info", denied)
    code = "import os; held = os.urandom(64 * 1024**2); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        try:
            assert look(tmp_path, memory_mib=32) == "the program took more than 32 MiB of memory"
        finally:
            program.kill()


def test_output_counts_in_mib(tmp_path: Path) -> None:
    assert look(tmp_path, printed=1024**2, output_mib=1) is None
    assert look(tmp_path, printed=1024**2 + 1, output_mib=1) == "the program printed more than 1 MiB"


def test_home_counts_what_is_on_the_disk_with_its_folders(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1024**3)
    assert look(tmp_path, home_mib=1) is None
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(os.urandom(1024**2))
    assert look(tmp_path, home_mib=1) == "the program wrote more than 1 MiB into its HOME"


def test_many_small_files_are_too_much_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_FILES", 10)
    for number in range(12):
        (tmp_path / str(number)).touch()
    assert look(tmp_path) == "the program wrote more than 10 files into its HOME"


def test_file_that_vanishes_while_it_is_counted_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(os.urandom(1024**2))
    scan: Callable[[Path], Any] = os.scandir

    @contextlib.contextmanager
    def scan_what_changes(folder: Path) -> Generator[list[os.DirEntry[str]]]:
        with scan(folder) as entries:
            found = list(entries)
        Path(found[0].path).unlink()
        yield found

    def scan_home(folder: Path) -> Any:
        return scan_what_changes(folder) if folder == tmp_path else scan(folder)

    monkeypatch.setattr(os, "scandir", scan_home)
    assert look(tmp_path, home_mib=1) == "the program wrote more than 1 MiB into its HOME"


def test_hurried_processes_are_as_important_as_any() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    possible = can_raise_priority()
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
    if not possible:
        pytest.skip("niceness can't be taken back here")
    with subprocess.Popen(["nice", "-n", "10", "sleep", "600"]) as process:
        try:
            until(psutil.Process(process.pid).nice, lambda niceness: niceness >= 10)
            raise_priority([process.pid, 2**22 + 1])
            assert psutil.Process(process.pid).nice() == 0
        finally:
            process.kill()
