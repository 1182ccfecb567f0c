import gallery
from pluriverse.runtimes import listed


def test_each_task_has_its_picture() -> None:
    tasks = {env_id for env_id in listed() if env_id.startswith(("tasks.", "tasks-web."))}
    assert {path.stem for path in gallery.TASKS.iterdir()} == tasks
