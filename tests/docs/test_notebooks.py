import json
from pathlib import Path

import pytest
from support.author import Author
from support.leftovers import Leftovers
from support.remotes import ROOT

NOTEBOOKS = [pytest.param(path, id=path.stem) for path in sorted((ROOT / "docs/notebooks").glob("*.ipynb"))]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_notebook_runs_to_its_end_and_leaves_nothing(notebook: Path, tmp_path: Path) -> None:
    leftovers = Leftovers()
    Author(tmp_path).type(f"pytest --nbmake {notebook}", timeout_s=290)
    leftovers.assert_none(60)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_notebook_is_kept_without_what_it_showed(notebook: Path) -> None:
    cells = json.loads(notebook.read_text())["cells"]
    shown = [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")]
    assert not shown, f"jupyter nbconvert --clear-output {notebook.relative_to(ROOT)}"
