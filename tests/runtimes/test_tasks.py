"""The shipped tasks pass their audit, whole."""

from pathlib import Path
from typing import Final

import pytest
from pluriverse_authoring.audit import audit
from pluriverse_server.manifest.runtime import load

pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.browser]

TASKS: Final = Path(__file__).parents[2] / "tasks"
RUNTIMES: Final = [TASKS, *(path.parent for path in TASKS.glob("*/runtime.toml"))]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("runtime", "env_id"),
    [(runtime, entry.id) for runtime in RUNTIMES for entry in load(runtime).envs],
    ids=lambda named: named if isinstance(named, str) else "",
)
def test_a_task_passes_its_audit(runtime: Path, env_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(runtime, [env_id], 2) == 0, capsys.readouterr().out
