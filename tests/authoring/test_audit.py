from pathlib import Path

import pytest
from pluriverse_authoring import AuthoringError
from pluriverse_authoring.audit import audit
from support.typing_tasks import TASKS, write_tasks

pytestmark = [pytest.mark.slow, pytest.mark.display]

# Of tasks that are wrong in one way each: what is written instead, and what is said of it.
WRONG = {
    "can't be solved": ("""rng.choices("abcdef", k=6)""", '"xyz"', "oracle earns 0; expected 1"),
    "is solved as it begins": ("return float((", "return 1 or float((", "nothing earns 1; expected 0"),
    "takes a trap for done": ('read_text() == p["word"]', 'read_text() in p["word"] * 2', "trap_half earns 1"),
    "begins by chance": ("rng.randrange(1, 32)", "(__import__('os').urandom(1)[0] % 31 + 1)", "set up differently"),
    "is always the same": ("(self, rng, home):", "(self, _, home):\n        rng = random.Random(5)", "1 different"),
    "follows the screen": ("return float((", "return float(look.picture.mean() > 99 or (", "screen alone"),
    "tells the answer": ('"Type {word}."', '"Type {word}, no rhubarb."', "secret is 'rhubarb'"),
    "fails": ("def oracle(self, p, computer):", "def oracle(self, p, computer):\n        1 / 0", "ZeroDivisionError"),
}


def test_a_good_task_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = write_tasks(tmp_path / "typing")
    assert audit(directory, ["typing.TypeWord-v0"], 2) == 0, capsys.readouterr().out
    assert "0 problems" in capsys.readouterr().out


def test_tasks_that_are_played_beside_each_other_are_told_in_their_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit(write_tasks(tmp_path / "typing"), ["typing.TypeAsItChanges-v0", "typing.TypeWord-v0"], 1)
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "typing.TypeWord-v0: 0 problems"
    assert second.startswith("typing.TypeAsItChanges-v0: ")


@pytest.mark.parametrize("wrong", WRONG)
def test_a_task_fails_that(tmp_path: Path, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    right, written, said = WRONG[wrong]
    assert right in TASKS
    directory = write_tasks(tmp_path / "typing", f"import random\n{TASKS.replace(right, written)}")
    assert audit(directory, ["typing.TypeWord-v0"], 2 if "same" in wrong else 1) == 1
    assert said in capsys.readouterr().out


def test_what_is_no_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AuthoringError, match=r"no task typing\.Other-v0"):
        audit(write_tasks(tmp_path / "typing"), ["typing.Other-v0"], 1)
