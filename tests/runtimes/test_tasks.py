"""The shipped tasks pass their audit."""

from pathlib import Path
from typing import Final

import pytest
from pluriverse_authoring.audit import audit
from pluriverse_server.manifest.runtime import load
from support.remotes import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.browser]

RUNTIMES: Final = [ROOT / "runtimes/tasks", ROOT / "runtimes/tasks-web"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.name)
def test_a_runtimes_first_task_passes_its_audit(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(runtime, [load(runtime).runtime.default_env], 2) == 0, capsys.readouterr().out


@pytest.mark.nightly
@pytest.mark.timeout(3 * 3600)
@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.name)
def test_all_tasks_pass_their_audit_with_twenty_seeds(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(runtime, [], 20) == 0, capsys.readouterr().out
