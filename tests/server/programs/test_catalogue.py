import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from pluriverse_server.manifest.runtime import FILE_NAME, EnvTable, Manifest, ManifestError, load
from pluriverse_server.programs import catalogue as catalogue_module
from pluriverse_server.programs.catalogue import load_catalogue, python_command, refusal, suggest
from support.waiting import eventually

ENTRIES: list[dict[str, Any]] = [{"id": "toy.A-v0", "level": 1}, {"id": "toy.B-v0", "fps": 30, "sync": True}]


def manifest(command: list[str] | None = None, timeout_s: float = 10.0, **changed: Any) -> Manifest:
    document: dict[str, Any] = {
        "runtime": {"id": "toy", "version": "1.2.3", "title": "", "default_env": "toy.A-v0"},
        "program": {"command": ["true"]},
        "rewards": [{"source": "reports"}],
    }
    if command is not None:
        document["catalogue"] = {"command": command, "timeout_s": timeout_s}
    return Manifest.model_validate({**document, **changed})


async def complaint(directory: Path, loaded: Manifest) -> str:
    with pytest.raises(ManifestError) as refused:
        await load_catalogue(directory, loaded)
    prefix = f"{directory / FILE_NAME}: "
    assert str(refused.value).startswith(prefix)
    return str(refused.value).removeprefix(prefix)


async def complaint_about(directory: Path, command: list[str]) -> str:
    """What is said of a script, without the file's name and the command."""
    found = await complaint(directory, manifest(command))
    return found.removeprefix(f"catalogue.command ({' '.join(command)}) ")


async def test_script_runs_in_the_runtimes_folder_with_the_daemons_python_and_none_of_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLURIVERSE_PASSWORD", "secret12")
    text = (
        "import json, os, sys\n"
        "print('a word beside', file=sys.stderr)\n"
        "told = {'cwd': os.getcwd(), 'python': sys.executable, 'password': os.environ.get('PLURIVERSE_PASSWORD')}\n"
        f"print(json.dumps([{{**entry, **told}} for entry in {ENTRIES!r}]))"
    )
    (tmp_path / "catalogue.py").write_text(text)
    found = await load_catalogue(tmp_path, manifest(["python", "catalogue.py"]))
    assert list(found) == list(await load_catalogue(tmp_path, manifest(envs=ENTRIES))) == ["toy.A-v0", "toy.B-v0"]
    assert found["toy.B-v0"].fps == 30
    assert found["toy.A-v0"].model_extra == {
        "level": 1,
        "cwd": str(tmp_path),
        "python": sys.executable,
        "password": None,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo no ROMs: run make roms >&2; exit 1", "ended with status 1: no ROMs: run make roms"),
        ("echo '[]'; kill -9 $$", "ended with status -9: "),
    ],
)
async def test_script_that_fails_is_quoted(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "script").write_text(text)
    assert await complaint_about(tmp_path, ["sh", "script"]) == expected


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        *[(text, "catalogue.command didn't print JSON: ") for text in ("", "hello", "[" * 100_000, "\xff")],
        ("{}", "catalogue's output : input should be a valid list"),
        ('[{"id": "toy.A-v0"}, {"fps": 60}]', "catalogue's output [1].id: missing"),
        ('[{"id": "toy.B-v0"}]', "runtime.default_env 'toy.A-v0' is not among its environments"),
        ('[{"id": "toy.A-v0"}, {"id": "toy.A-v0"}]', "the environment 'toy.A-v0' is listed twice"),
    ],
)
async def test_script_that_prints_another_list_is_told_what_is_wrong_with_it(
    tmp_path: Path, printed: str, expected: str
) -> None:
    (tmp_path / "list").write_bytes(printed.encode("latin-1"))
    assert (await complaint_about(tmp_path, ["cat", "list"])).startswith(expected)


HANGING = """
import os, pathlib, subprocess, sys, time
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("pids.new").write_text(f"{os.getpid()} {grandchild.pid}")
os.rename("pids.new", "pids")
time.sleep(600)
"""


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_script_that_hangs_or_isnt_wanted_is_ended_with_all_that_it_started(
    tmp_path: Path, is_cancelled: bool
) -> None:
    (tmp_path / "catalogue.py").write_text(HANGING)
    command = ["python", "catalogue.py"]
    if is_cancelled:
        loading = asyncio.create_task(load_catalogue(tmp_path, manifest(command)))
        await eventually((tmp_path / "pids").exists)
        loading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loading
    else:
        assert (await complaint(tmp_path, manifest(command, timeout_s=3))).endswith("ran for over 3 s")
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    await eventually(lambda: not any(alive(pid) for pid in pids))


async def test_script_that_prints_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue_module, "MAX_OUTPUT_BYTES", 1_000_000)
    assert (await complaint(tmp_path, manifest(["yes"]))).endswith("printed over 1000000 bytes")


@pytest.mark.parametrize("command", [["no-such-program"], ["./no-such-script"], ["/"], [""], ["a\0b"]])
async def test_script_that_cannot_be_run_is_told_so(tmp_path: Path, command: list[str]) -> None:
    assert "could not be run: " in await complaint(tmp_path, manifest(command))


def test_python_is_the_one_that_runs_the_daemon() -> None:
    assert python_command(["python", "a.py"]) == python_command(["python3", "a.py"]) == [sys.executable, "a.py"]
    assert python_command(["/usr/bin/python", "a.py"]) == ["/usr/bin/python", "a.py"]
    assert os.access(sys.executable, os.X_OK)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("toy.Pong-v1", "toy.Pong-v0, toy.Pong-v3"),
        ("TOY.PONG-V0", "toy.Pong-v0"),
        ("toy.P", "toy.Pong-v0, toy.Pong-v3, toy.Pooyan-v0"),
        ("something else", "toy.Alien-v0, toy.Pong-v0, toy.Pong-v3"),
        ("", "toy.Alien-v0, toy.Pong-v0, toy.Pong-v3"),
        ("toy.Pong-v0" + "x" * 200, "toy.Pong-v0"),
    ],
)
def test_suggestions_begin_as_what_was_wanted_does(wanted: str, expected: str) -> None:
    names = ("toy.Alien-v0", "toy.Pong-v0", "toy.Pong-v3", "toy.Pooyan-v0")
    assert suggest({name: EnvTable(id=name) for name in names}, wanted) == expected


def test_who_asks_for_what_can_not_be_there_is_told_what_is_near_and_why() -> None:
    why = "The game is its publisher's."
    loaded = manifest(envs=ENTRIES, missing=[{"ids": "toy.Old*", "why": why}])
    catalogue = {entry["id"]: EnvTable(**entry) for entry in ENTRIES}
    told = "unknown environment 'toy.{}Racer-v0'; runtime toy has 2, such as toy.A-v0, toy.B-v0"
    assert refusal(loaded, catalogue, "toy.OldRacer-v0") == f"{told.format('Old')}. {why}"
    assert refusal(loaded, catalogue, "toy.NewRacer-v0") == told.format("New")


@pytest.mark.parametrize(
    ("runtime", "wanted", "near"),
    [
        ("world-of-bits", "wob.real.BookFlight-Alaska-v0", "wob.flight.*"),
        ("flashgames", "flashgames.NeonRace2-v0", "flashgames.Racer-v0"),
        ("internet", "internet.SlitherIO-v0", "internet.2048-v0"),
    ],
)
async def test_who_asks_for_universes_environments_that_are_gone_is_told_why(
    runtime: str, wanted: str, near: str
) -> None:
    directory = Path(__file__).parents[3] / "runtimes" / runtime
    loaded = load(directory)
    told = refusal(loaded, await load_catalogue(directory, loaded), wanted)
    assert near in told
    assert ". Universe's " in told
