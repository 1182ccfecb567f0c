"""What a process that is killed leaves in /tmp, and who removes it."""

import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from pluriverse_server.private_folder import LOCK, PREFIX, SHORT, PrivateFolder, sweep
from pluriverse_server.programs.program import PROGRAM_FOLDER
from pluriverse_server.scraper.page_session import FOLDER

pytestmark = pytest.mark.browser

SCRIPT = """
import signal
from pluriverse_server.private_folder import PrivateFolder
folder = PrivateFolder()
(folder.path / "below").mkdir()
print(*folder.folders, flush=True)
signal.pause()
"""


@pytest.fixture(autouse=True, params=[0, 8, 200], ids=["short", "longer", "long"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A place for temporary files that no other test shares, whose path has so many characters more."""
    with tempfile.TemporaryDirectory(prefix="pv-", dir=SHORT) as folder:
        place = Path(folder, "x" * request.param)
        place.mkdir(exist_ok=True)
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        monkeypatch.setenv("TMPDIR", str(place))
        yield place


def test_folder_is_private_and_removed_with_all_that_is_in_it() -> None:
    folder = PrivateFolder()
    (folder.path / "below").mkdir()
    assert all(made.stat().st_mode & 0o077 == 0 for made in folder.folders)
    folder.remove()
    assert not any(made.exists() for made in folder.folders)


def test_files_are_where_temporary_files_belong_and_the_path_fits_a_browsers_socket(place: Path) -> None:
    folder = PrivateFolder()
    (folder.path / "file").touch()
    assert [file.parent.parent for file in place.glob("*/file")] == [place]
    scraper = folder.path / PROGRAM_FOLDER
    scraper.mkdir()
    socket_path = Path(tempfile.mkdtemp(prefix="", dir=scraper), FOLDER, "org.chromium.Chromium.123456/SingletonSocket")
    socket_path.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(socket_path))
    folder.remove()


@pytest.mark.parametrize("unshared", [False, True], ids=["beside", "in another pid namespace"])
def test_folder_of_a_killed_process_is_swept_and_that_of_a_living_one_never(unshared: bool) -> None:
    # In a namespace of its own the process has the id 1 or 2, as anything that lives here may.
    namespace = ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child"] if unshared else []
    if unshared and subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system gives no namespaces to ordinary users")
    with subprocess.Popen([*namespace, sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        folders = [Path(folder) for folder in process.stdout.readline().decode().split()]
        sweep()
        assert all(folder.exists() for folder in folders)
        process.send_signal(signal.SIGKILL)
        process.wait()
        # Its standard output is closed with its last process.
        process.stdout.read()
    sweep()
    assert not any(folder.exists() for folder in folders)


def test_own_folder_and_what_is_no_folder_of_ours_stay(place: Path) -> None:
    folder = PrivateFolder()
    others = [place / name for name in (f"{PREFIX}-1-unlocked", f"{PREFIX}-local-x", "other-1-x")]
    for other in others:
        other.mkdir()
    (others[2] / LOCK).touch()
    link = place / f"{PREFIX}-1-link"
    link.symlink_to(others[2])
    sweep()
    assert folder.path.exists()
    assert link.exists()
    assert all(other.exists() for other in others)
    folder.remove()
