"""Whether a small X program has the same start with each seed, as it declares."""

from pathlib import Path
from typing import Any

import pytest
from pluriverse_authoring.validate import validate
from support.scraped import ENV, write_runtime
from support.scraped_steps import COUNTER

pytestmark = pytest.mark.display

SPACES: dict[str, Any] = {"discrete": [{"name": "wait", "keys": []}, {"name": "score", "keys": ["Right"]}]}


@pytest.mark.parametrize(
    ("chance", "drawn", "expected"),
    [
        ("random.Random()", "", "when it is ready"),
        ("random.Random()", "score and ", "alike"),
        ("random.SystemRandom()", "score and ", None),
    ],
)
def test_start_that_depends_on_the_seed_is_found_at_once_or_by_what_follows(
    tmp_path: Path, chance: str, drawn: str, expected: str | None
) -> None:
    changed: dict[str, dict[str, Any] | list[Any]] = {
        "program": {"clock": ["realtime", "lockstep"], "same_start": True},
        "reset": {"by": "restart", "start": []},
        "envs": [{"id": ENV, "spaces": SPACES}],
    }
    write_runtime(tmp_path, **changed)
    game = COUNTER.replace("random.Random()", chance).replace("        fill(chance", f"        {drawn}fill(chance")
    (tmp_path / "game.py").write_text(game)
    found = validate(tmp_path)
    assert not found.mistakes
    found.check_starts(tmp_path)
    assert (found.compared.get(ENV, 0) > 100) == (expected is None)
    said = [str(mistake) for mistake in found.mistakes]
    assert len(said) == (expected is not None)
    assert all("program.same_start" in mistake and str(expected) in mistake for mistake in said), said
