import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from pluriverse_server.process import ChildProcess, child_user, share
from pluriverse_server.remote.child_user import CHILD_USER, let_in, user_for_children

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")

PYTHON = Path("/usr/bin/python3")
OUR_PYTHON = sys.executable


@pytest.fixture(autouse=True)
def open_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that every user may run, which that of the tests may not be."""
    monkeypatch.setattr(sys, "executable", str(PYTHON))
    monkeypatch.setattr(sys, "prefix", "/usr")


def test_children_get_a_user_where_everybody_can_reach_what_they_need() -> None:
    assert user_for_children(Path("/usr/share"), Path("/tmp")) == CHILD_USER  # noqa: S108 - nothing is written


def test_folder_that_others_cannot_enter_leaves_children_this_user(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    closed = tmp_path / "closed"
    (closed / "runtime").mkdir(parents=True)
    closed.chmod(0o700)
    assert user_for_children(closed / "runtime") is None
    assert "others can't access" in caplog.text


def test_process_without_privileges_changes_no_user() -> None:
    code = "from pluriverse_server.remote.child_user import user_for_children; print(user_for_children())"
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--reuid=0", "--", OUR_PYTHON, "-c", code]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "None\n"


async def test_child_runs_as_its_user_in_the_folder_that_it_is_let_into(tmp_path: Path) -> None:
    folder = Path("/tmp") / f"pv-{os.getpid()}"  # noqa: S108 - pytest's own folder is closed to others
    folder.mkdir(mode=0o700)
    output = tmp_path / "output"
    token = child_user.set(CHILD_USER)
    try:
        let_in(CHILD_USER, folder)
        with output.open("wb") as file:
            script = f"id -u; id -g; id -G; echo $HOME; touch {folder}/made && echo made"
            child = await ChildProcess.start("toy", ["sh", "-c", script], cwd=Path("/"), stdout=file.fileno())
            assert await child.wait() == 0
        made = (folder / "made").stat()
    finally:
        child_user.reset(token)
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    user, group, groups, home, word = output.read_text().splitlines()
    assert {user, group, groups} == {str(CHILD_USER)}
    assert word == "made"
    assert (made.st_uid, made.st_gid) == (CHILD_USER, CHILD_USER)
    assert home != os.environ["HOME"]


def test_folder_is_shared_with_one_group_alone(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o700)
    let_in(CHILD_USER, folder)
    share(above := folder / "of all programs")
    share(inside := above / "of one")
    for each in (folder, inside):
        assert each.stat().st_gid == CHILD_USER
        assert stat.S_IMODE(each.stat().st_mode) & 0o007 == 0
