from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pluriverse_server.task import TaskError, chance, load_functions, load_tasks

TASK = """
from hands import WORDS

from pluriverse_server.kit import Task


class _Base(Task):
    words = WORDS


class One(_Base):
    pass
"""


def write(folder: Path, tasks: str) -> Path:
    (folder / "hands.py").write_text('WORDS = "Do it."')
    (folder / "some.py").write_text(tasks)
    return folder / "some.py"


def test_the_tasks_of_a_file_are_its_classes_without_an_underscore(tmp_path: Path) -> None:
    tasks = load_tasks(write(tmp_path, TASK))
    assert {name: task.words for name, task in tasks.items()} == {"One": "Do it."}


@pytest.mark.parametrize(
    ("tasks", "what"),
    [
        ("class One(", "some.py, line 1: not Python"),
        ("\n\nraise ValueError('no')", "some.py, line 3: ValueError: no"),
        ("WORDS = 3", "some.py: no tasks"),
        ("class One:\n    pass", "some.py: One: expected a Task with words"),
        (TASK.replace("    pass", "    grade = 'never'"), "some.py: One: expected a Task with words"),
        (TASK.replace("    pass", "    seconds = 0"), "some.py: One: expected a Task with words"),
        (TASK.replace("    pass", "    split = 'te' + 'st'"), 'some.py: One: expected split = "test" in the class'),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(tmp_path: Path, tasks: str, what: str) -> None:
    with pytest.raises(TaskError, match=what):
        load_tasks(write(tmp_path, tasks))


def test_files_that_are_loaded_at_once_keep_what_they_import(tmp_path: Path) -> None:
    # The others have time to take it away.
    text = "import hands, time\ntime.sleep(0.001)\nimport hands as again\nassert again is hands"
    write(tmp_path, "")
    files = [tmp_path / f"file{number}.py" for number in range(8)]
    for each in files:
        each.write_text(text)
    with ThreadPoolExecutor(len(files)) as threads:
        assert all("again" in named for named in threads.map(load_functions, files))


def test_chance_follows_from_environment_and_seed() -> None:
    seeded = (("a.A-v0", 1), ("a.A-v0", 1), ("a.A-v0", 2), ("a.B-v0", 1))
    drawn = [chance(env_id, seed).random() for env_id, seed in seeded]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 3
