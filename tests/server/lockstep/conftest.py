"""Programs to give a clock to: compiled here, and ended with the test."""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from pluriverse_server.lockstep import PreloadedClock
from support.process_tree import end


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[..., str]:
    """Compile a file of this folder, or C text; return the program's path."""

    def compile_it(source: str, *options: str) -> str:
        path = Path(__file__).parent / source if source.endswith(".c") else tmp_path / "source.c"
        if not source.endswith(".c"):
            path.write_text(source)
        program = tmp_path / path.stem
        subprocess.run(["gcc", "-O1", "-w", "-pthread", str(path), "-o", str(program), *options], check=True)
        return str(program)

    return compile_it


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a command in a session of its own, with its output in ``tmp_path / "output"``."""
    processes: list[subprocess.Popen[bytes]] = []

    def start_it(command: Sequence[str], **environment: str) -> subprocess.Popen[bytes]:
        with (tmp_path / "output").open("wb") as output:
            process = subprocess.Popen(
                command,
                env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        processes.append(process)
        return process

    yield start_it
    for process in processes:
        end(process)


@pytest.fixture
def clock(tmp_path: Path) -> Iterator[PreloadedClock]:
    with PreloadedClock(tmp_path, seed=1, frame_time=1 / 60) as clock:
        yield clock
