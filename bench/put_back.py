"""Puts faults of this project's past back, one by one, and says which of them the tests catch; see bench/README.md."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import pytest
import typer

ROOT: Final = Path(__file__).parents[1]
FAULTS: Final = Path(__file__).with_suffix(".toml")
RESULTS: Final = Path(__file__).with_suffix(".json")

# What make test runs, and make test-all but for what needs more than this checkout.
QUICK: Final = "not slow and not nightly and not rllib and not container"
ALL: Final = "not nightly and not rllib and not container"

# Tests that are broken off have so long to end what they have started.
END_S: Final = 30.0

# In pytest's summary.
_FAILURE: Final = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)

# The client's part in C, and how it is compiled.
NATIVE: Final = ROOT / "client/src/pluriverse/rfb/_native.abi3.so"
BUILD: Final = (sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", "--force")

Outcome = Literal["caught", "missed", "not tried"]


@dataclass(frozen=True, slots=True)
class Fault:
    """``file`` has the text ``present`` once, and was at fault with ``faulty`` there; ``tests`` should notice."""

    name: str
    file: str
    present: str
    faulty: str
    tests: list[str]


@dataclass(frozen=True, slots=True)
class Row:
    """``by``: the test that caught it, or else what pytest said last, or why it could not be tried."""

    name: str
    file: str
    outcome: Outcome
    by: str
    seconds: float


def main(
    parts: Annotated[list[str] | None, typer.Argument(help="Parts of the names of some; if not given, all.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Run slow tests, too.")] = False,
    limit: Annotated[float, typer.Option(min=1, help="Seconds that the tests of one fault may take.")] = 900.0,
) -> None:
    """Try each fault, and write bench/put_back.json. Exit status 1 if one could not be tried; a missed one is none."""
    faults = [Fault(**table) for table in tomllib.loads(FAULTS.read_text())["faults"]]
    wanted = [each for each in faults if not parts or any(part.lower() in each.name.lower() for part in parts)]
    if not wanted:
        raise typer.BadParameter(f"no fault's name has one of {parts} in it")
    status = ["git", "status", "--porcelain", "--", ".", f":!{RESULTS.relative_to(ROOT)}"]
    if changed := subprocess.run(status, cwd=ROOT, capture_output=True, text=True, check=True).stdout:
        typer.echo(f"commit these first, since files are changed and put back:\n{changed}", err=True)
        raise typer.Exit(2)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rows: list[Row] = []
    for fault in wanted:
        began = time.monotonic()
        outcome, by = _try(fault, ALL if everything else QUICK, limit)
        rows.append(Row(fault.name, fault.file, outcome, by, round(time.monotonic() - began, 1)))
        typer.echo(f"{outcome:<9}  {fault.name}\n           {by} ({rows[-1].seconds:.0f} s)")
        _write(faults, rows)
    typer.echo(f"{sum(row.outcome == 'caught' for row in rows)} of {len(rows)} caught")
    raise typer.Exit(int(any(row.outcome == "not tried" for row in rows)))


def _try(fault: Fault, marks: str, limit_s: float) -> tuple[Outcome, str]:
    """Put a fault back for as long as its tests run; return a row's outcome and reason."""
    if (count := (ROOT / fault.file).read_text().count(fault.present)) != 1:
        return "not tried", f"the present text is there {count} times"
    try:
        with _put_back(fault):
            status, output = _run_tests(fault.tests, marks, limit_s)
    except subprocess.SubprocessError as error:
        return "not tried", str(error)
    last = output.strip().rpartition("\n")[2]
    if status == pytest.ExitCode.TESTS_FAILED and (found := _FAILURE.search(output)):
        return "caught", found[1]
    return ("missed", last) if status == pytest.ExitCode.OK else ("not tried", f"pytest's status {status}: {last}")


@contextlib.contextmanager
def _put_back(fault: Fault) -> Generator[None]:
    path = ROOT / fault.file
    paths = [path, NATIVE] if path.suffix == ".c" else [path]
    kept = [(each, each.read_bytes(), each.stat()) for each in paths]
    try:
        path.write_text(path.read_text().replace(fault.present, fault.faulty))
        if path.suffix == ".c":
            subprocess.run(BUILD, cwd=ROOT / "client", env=os.environ | {"PLURIVERSE_NATIVE": "require"}, check=True)
        yield
    finally:
        for each, content, status in kept:
            each.write_bytes(content)
            # Python compares the time with that of its bytecode, which may be of the fault.
            os.utime(each, ns=(status.st_atime_ns, status.st_mtime_ns))


def _run_tests(tests: Sequence[str], marks: str, limit_s: float) -> tuple[int, str]:
    """Return pytest's exit status and output."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", marks, *tests]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=limit_s)
    except BaseException:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=END_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, output


def _write(faults: Sequence[Fault], rows: Sequence[Row]) -> None:
    """Write the rows, beside those of faults that weren't tried now."""
    before: list[dict[str, Any]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    by_name = {row["name"]: row for row in (*before, *map(asdict, rows))}
    written = [by_name[fault.name] for fault in faults if fault.name in by_name]
    RESULTS.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
