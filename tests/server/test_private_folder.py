"""What a process that is killed leaves in /tmp, and who removes it."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from pluriverse_server.private_folder import LOCK, PREFIX, PrivateFolder, sweep

SCRIPT = """
import signal
from pluriverse_server.private_folder import PrivateFolder
folder = PrivateFolder()
(folder.path / "below").mkdir()
print(folder.path, flush=True)
signal.pause()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place for temporary files that no other test shares."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def test_folder_is_private_and_removed_with_all_that_is_in_it() -> None:
    folder = PrivateFolder()
    (folder.path / "below").mkdir()
    assert folder.path.stat().st_mode & 0o077 == 0
    folder.remove()
    assert not folder.path.exists()


@pytest.mark.parametrize("unshared", [False, True], ids=["beside", "in another pid namespace"])
def test_folder_of_a_killed_process_is_swept_and_that_of_a_living_one_never(unshared: bool) -> None:
    # In a namespace of its own the process has the id 1 or 2, as anything that lives here may.
    namespace = ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child"] if unshared else []
    if unshared and subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system gives no namespaces to ordinary users")
    with subprocess.Popen([*namespace, sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        path = Path(process.stdout.readline().decode().strip())
        sweep()
        assert path.exists()
        process.send_signal(signal.SIGKILL)
        process.wait()
        # Its standard output is closed with its last process.
        process.stdout.read()
    sweep()
    assert not path.exists()


def test_own_folder_and_what_is_no_folder_of_ours_stay(tmp_path: Path) -> None:
    folder = PrivateFolder()
    others = [tmp_path / name for name in (f"{PREFIX}-1-unlocked", f"{PREFIX}-local-x", "other-1-x")]
    for other in others:
        other.mkdir()
    (others[2] / LOCK).touch()
    link = tmp_path / f"{PREFIX}-1-link"
    link.symlink_to(others[2])
    sweep()
    assert folder.path.exists()
    assert link.exists()
    assert all(other.exists() for other in others)
    folder.remove()
