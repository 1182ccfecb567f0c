import sys
from pathlib import Path

import pytest
from pluriverse_server.manifest.sources import ProcessSource
from pluriverse_server.sources.program import make_program_reader
from support.program import running, target


@pytest.mark.parametrize(("code", "value"), [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", -9)])
def test_exit_code_is_nothing_until_the_program_has_ended(tmp_path: Path, code: str, value: int) -> None:
    with running([sys.executable, "-c", f"input(); {code}"]) as program:
        table = ProcessSource.model_validate({"from": "process", "read": "exit"})
        reader = make_program_reader(table, target(tmp_path, program=program))
        assert reader.read().value is None
        program.communicate(b"\n")
        assert reader.read().value == value
        reader.close()
