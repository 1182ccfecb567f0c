import ctypes
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from pluriverse_server.manifest.sources import MemorySource
from pluriverse_server.sources.program import ProgramOutput, ProgramReader, Target, make_program_reader
from pluriverse_server.sources.program.memory import CHUNK_BYTES, SCAN_BYTES
from support.program import running, target, until_value
from support.waiting import until

# Says where its things are, and does what it is told: "score 5" sets a number.
PROGRAM = """
import ctypes, subprocess, sys
class Things(ctypes.Structure):
    _fields_ = [("mark", ctypes.c_char * 8), ("score", ctypes.c_int32), ("health", ctypes.c_double),
                ("level", ctypes.c_uint8), ("down", ctypes.c_int16)]
memory = bytearray(%d + 64)
things = Things.from_buffer(memory, len(memory) - 64)
things.mark, things.score, things.health, things.level, things.down = b"\\x7fmArK\\x01\\x02", 17, 0.5, 200, -3
player = (ctypes.c_uint64 * 2)(0, ctypes.addressof(things))
world = ctypes.c_uint64(ctypes.addressof(player))
child = subprocess.Popen(["sleep", "1000"]) if "child" in sys.argv else None
print(ctypes.addressof(things), ctypes.addressof(world), child.pid if child else 0, flush=True)
for line in sys.stdin:
    name, value = line.split()
    setattr(things, name, type(getattr(things, name))(float(value)))
    print("done", flush=True)
"""

# What is around the score.
MARK = "7f 6d 41 72 4b 01 02 00 ?? ?? ?? ?? ?? ?? ?? ?? 00 00 00 00 00 00 e0 3f"
ELF = int.from_bytes(b"\x7fELF", "little")


class Game:
    """The program, and its answers."""

    def __init__(self, process: subprocess.Popen[bytes], home: Path) -> None:
        assert process.stdin
        assert process.stdout
        self.process = process
        self.target = target(home, program=process)
        self._stdin, self._stdout = process.stdin, process.stdout
        self.things, self.world, self.child = (int(word) for word in self._stdout.readline().split())

    def put(self, name: str, value: float) -> None:
        self._stdin.write(f"{name} {value}\n".encode())
        self._stdin.flush()
        assert self._stdout.readline() == b"done\n"


@pytest.fixture
def game(tmp_path: Path) -> Generator[Game]:
    with running([sys.executable, "-c", PROGRAM % 1]) as process:
        yield Game(process, tmp_path)


def reader_of(target: Target, **table: Any) -> ProgramReader:
    return make_program_reader(MemorySource.model_validate({"from": "memory", "type": "i32", **table}), target)


def test_value_of_each_type_is_read_where_it_is(game: Game) -> None:
    for kind, offset, value in (
        *[("i32", 8, 17), ("u32", 8, 17), ("f64", 16, 0.5), ("u8", 24, 200), ("i8", 24, -56), ("i16", 26, -3)],
        *[("u16", 26, 65533), ("i64", 0, 0x0002014B72416D7F), ("u64", 0, 0x0002014B72416D7F), ("f32", 20, 1.75)],
    ):
        reader = reader_of(game.target, type=kind, address=game.things, offset=offset)
        assert reader.read().value == value, kind
        reader.close()
    reader = reader_of(game.target, address=game.world, pointers=[8, 8])
    assert reader.read().value == 17
    reader.close()


def test_pattern_is_found_once_and_then_read(game: Game) -> None:
    reader = reader_of(game.target, pattern=MARK, offset=8)
    until_value(reader, 17)
    game.put("score", 1_000_000)
    game.put("health", 0.25)
    assert reader.read().value == 1_000_000
    reader.close()


def test_large_memory_is_searched_in_parts(tmp_path: Path) -> None:
    with running([sys.executable, "-c", PROGRAM % (4 * SCAN_BYTES)]) as process:
        game = Game(process, tmp_path)
        reader = reader_of(game.target, pattern=MARK, offset=8)
        assert reader.read().value is None
        until_value(reader, 17)
        reader.close()


def test_pattern_is_found_where_two_chunks_meet(game: Game) -> None:
    own = ctypes.create_string_buffer(3 * CHUNK_BYTES)
    address = ctypes.addressof(own)
    with (Path("/proc") / str(os.getpid()) / "maps").open() as maps:
        bounds = [[int(word, 16) for word in line.split()[0].split("-")] for line in maps]
    start = next(start for start, end in bounds if start <= address < end)
    edge = start + ((address - start) // CHUNK_BYTES + 1) * CHUNK_BYTES
    # Put together here, so that it is nowhere else in this process.
    marks = bytes([0x5A + 1, 0xC3 + 1, 0x11, 0x9E + 1, 0x77, 0x33 + 1, 0xEE, 0x01])
    ctypes.memmove(edge - 3, marks + (4711).to_bytes(4, "little"), 12)
    this = Target(os.getpid, Path("/"), ProgramOutput(), lambda: None, {})
    reader = reader_of(this, pattern="5b c4 11 9f 77 34 ee 01 67", offset=8)
    until_value(reader, 4711)
    reader.close()


def test_module_is_where_a_file_was_loaded_first(game: Game) -> None:
    reader = reader_of(game.target, type="u32", module=Path(sys.executable).resolve().name)
    assert reader.read().value == ELF
    within = reader_of(game.target, type="u32", module="libc.so.6", pattern="7f 45 4c 46")
    until_value(within, ELF)
    reader.close()
    within.close()


def test_what_is_not_there_has_no_value(game: Game) -> None:
    tables: list[dict[str, Any]] = [
        {"address": 16},
        {"address": 0, "offset": -8},
        {"address": 2**64 - 1},
        {"address": 2**63},
        {"module": "no-such-module"},
        {"pattern": "de ad be ef 00 de ad be ef 5a 5a a5 a5"},
        {"module": "libc.so.6", "pointers": [0, 0, 0]},
        {"module": "libc.so.6", "offset": -(2**46)},
    ]
    for table in tables:
        reader = reader_of(game.target, **table)
        assert [reader.read().value for _ in range(3)] == [None] * 3, table
        reader.close()


def test_dead_program_has_no_value_and_the_next_one_is_looked_at(tmp_path: Path) -> None:
    processes: list[subprocess.Popen[bytes]] = []
    place = Target(
        lambda: processes[-1].pid if processes else None, tmp_path, target(tmp_path).output, lambda: None, {}
    )
    reader = reader_of(place, pattern=MARK, offset=8)
    assert reader.read().value is None
    for score in (3, 4):
        with running([sys.executable, "-c", PROGRAM % 1]) as process:
            game = Game(process, tmp_path)
            game.put("score", score)
            processes.append(process)
            until_value(reader, score)
        assert reader.read().value is None
    reader.close()


def test_program_that_becomes_another_is_looked_at_anew(tmp_path: Path) -> None:
    becomes = "import os, sys; input(); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    with running([sys.executable, "-c", becomes, "-c", PROGRAM % 1]) as process:
        reader = reader_of(target(tmp_path, program=process), type="u32", module=Path(sys.executable).resolve().name)
        until_value(reader, ELF)
        assert process.stdin
        process.stdin.write(b"\n")
        process.stdin.flush()
        Game(process, tmp_path)
        until_value(reader, ELF)
        reader.close()


def test_child_of_the_program_is_found_by_its_name(tmp_path: Path) -> None:
    with running([sys.executable, "-c", PROGRAM % 1, "child"]) as process:
        game = Game(process, tmp_path)
        reader = reader_of(game.target, type="u32", module="sleep", process="sleep")
        until_value(reader, ELF)
        os.kill(game.child, 9)
        until(reader.read, lambda sample: sample.value is None)
        reader.close()
    other = reader_of(game.target, address=game.things, process="no-such-process")
    assert other.read().value is None
