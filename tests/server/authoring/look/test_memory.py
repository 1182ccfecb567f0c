from __future__ import annotations

import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pluriverse_server.authoring.look.found import Found
from pluriverse_server.authoring.look.memory import MemorySearch
from pluriverse_server.manifest.sources import MemorySource
from pluriverse_server.sources.program import ProgramOutput, Target, make_program_reader

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")

# A score of each kind: a variable, on the heap behind one pointer, and behind two; each line says what it is now.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct player { char name[40]; double gold; };
struct game { long fill[20]; struct player *player; };
int score = 5;
int *lives;
struct game *game;
int main(void) {
    int now;
    lives = malloc(64);
    game = malloc(sizeof *game);
    memset(game, 0, sizeof *game);
    free(malloc(8192));
    malloc(8192);
    game->player = malloc(sizeof *game->player);
    memset(game->player, 0, sizeof *game->player);
    while (scanf("%d", &now) == 1) {
        score = now;
        lives[3] = now + 1000;
        game->player->gold = now + 0.5;
        printf("told\\n");
        fflush(stdout);
    }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scores")
    (folder / "scores.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-o", folder / "scores", folder / "scores.c"], check=True)
    return folder / "scores"


class Running:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def set(self, value: int) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{value}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "told\n"


@contextmanager
def running(program: Path) -> Generator[Running]:
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Running(process)
        finally:
            process.kill()


def found_in(program: Path, offset: float) -> list[Found]:
    """What is left of the values plus ``offset``, after two were seen."""
    with running(program) as one:
        search = MemorySearch([one.process.pid])
        for value in (123457, 234569):
            one.set(value)
            search.narrow(value + offset)
        assert 0 < search.count <= 4
        return search.sources()


def read_anew(program: Path, found: Found, value: int, home: Path) -> object:
    """What a source reads in another run of the program."""
    with running(program) as another:
        another.set(value)
        target = Target(lambda: another.process.pid, home, ProgramOutput(), lambda: None, {})
        reader = make_program_reader(MemorySource.model_validate(dict(found.table)), target)
        try:
            return reader.look()
        finally:
            reader.close()


@pytest.mark.parametrize(
    ("offset", "kind", "how"),
    [
        (0, "i32", "at scores + 0x"),
        (1000, "i32", "by a pointer at scores"),
        (0.5, "f64", "by two pointers from scores"),
    ],
)
def test_a_value_is_found_so_that_another_run_has_it_too(
    program: Path, tmp_path: Path, offset: float, kind: str, how: str
) -> None:
    first = found_in(program, offset)[0]
    assert (first.value, first.table["type"]) == (234569 + offset, kind)
    assert first.how.startswith(f"{kind} {how}")
    assert read_anew(program, first, 777, tmp_path) == 777 + offset


def test_what_is_everywhere_rules_nothing_out(program: Path) -> None:
    with running(program) as one:
        search = MemorySearch([one.process.pid])
        one.set(0)
        search.narrow(0)
        one.set(345671)
        search.narrow(345671)
        assert any(found.how.startswith("i32 at scores") for found in search.sources())


def test_a_process_that_has_ended_has_no_memory(program: Path) -> None:
    with running(program) as one:
        search = MemorySearch([one.process.pid])
    search.narrow(5)
    assert (search.count, search.sources()) == (0, [])
