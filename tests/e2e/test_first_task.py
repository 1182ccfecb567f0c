"""The first task of docs/tasks.md, followed to the letter."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.remotes import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.display]

PAGE = (ROOT / "docs/tasks.md").read_text().split("\n## ")[1]


@pytest.mark.timeout(600)
def test_the_first_task_is_made_audited_and_begun_as_its_page_says(tmp_path: Path) -> None:
    for name, text in re.findall(r"(?s)```\w+\n# ([\w./]+)[^\n]*\n(.*?)```", PAGE):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (commands,) = re.findall(r"(?s)```console\n(.*?)```", PAGE)
    done = subprocess.run(
        ["bash", "-eux", "-c", re.sub(r"(?m)^\$ ", "", commands)],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(
        r"Rename the file (\w+) in your home folder to (?!\1)\w+\.\n0\.0", "\n".join(done.stdout.splitlines()[-2:])
    )
