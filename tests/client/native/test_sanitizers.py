"""The decoder's C, built with AddressSanitizer and UndefinedBehaviorSanitizer, fed with damaged streams."""

import struct
import subprocess
from pathlib import Path

import pytest
from support.rfb_damage import HEIGHT, WIDTH

ROOT = Path(__file__).parents[3]
NATIVE = ROOT / "client" / "native"
ITERATIONS = 4000
SEED = 1

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("fuzz") / "fuzz"
    sources = [Path(__file__).with_name("fuzz.c"), NATIVE / "frames.c", *sorted(NATIVE.glob("rfb_*.c"))]
    flags = [
        "-std=c11",
        f"-I{NATIVE}",
        f"-I{ROOT / 'protocol/native'}",
        "-g",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fno-sanitize-recover=all",
    ]
    command = ["gcc", "-fsanitize=address,undefined", *flags, *map(str, sources), "-ljpeg", "-lz", "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return program


def test_damaged_streams_break_nothing(fuzzer: Path, streams: list[bytes], tmp_path: Path) -> None:
    files: list[str] = []
    for index, stream in enumerate(streams):
        path = tmp_path / f"stream{index}"
        path.write_bytes(struct.pack(">HH", WIDTH, HEIGHT) + stream)
        files.append(str(path))
    ran = subprocess.run([fuzzer, str(ITERATIONS), str(SEED), *files], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert f"of {ITERATIONS} damaged streams" in ran.stdout
