"""What readers' tests have in common: a program to read, and waiting for what it does from a plain test."""

import contextlib
import os
import subprocess
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from pluriverse_server.manifest.conditions import Value
from pluriverse_server.sources.program import ProgramOutput, ProgramReader, Target

from .waiting import until


def target(
    home: Path,
    *,
    program: subprocess.Popen[bytes] | None = None,
    output: ProgramOutput | None = None,
    environment: Mapping[str, str] | None = None,
) -> Target:
    """A program, or none, in ``home``."""
    return Target(
        pid=lambda: program.pid if program is not None else None,
        home=home,
        output=output or ProgramOutput(),
        exit_code=lambda: program.poll() if program is not None else None,
        environment=environment or os.environ,
    )


@contextlib.contextmanager
def running(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Generator[subprocess.Popen[bytes]]:
    """A program that is killed in the end; its output can be read, its input written."""
    program = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield program
    finally:
        program.kill()
        program.wait()
        for pipe in (program.stdin, program.stdout):
            if pipe is not None:
                pipe.close()


def until_value(reader: ProgramReader, value: Value) -> None:
    """Return once that is what the reader reads."""
    until(lambda: reader.read().value, lambda seen: seen == value and isinstance(seen, bool) == isinstance(value, bool))
