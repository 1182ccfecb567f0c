"""Recording as the command does it: real remotes, whose recording begins, or is refused with the reason."""

import errno
import os
from pathlib import Path

import pluriverse_server.display.screen
import pytest
from pluriverse_authoring import record
from pluriverse_authoring.cli import app
from pluriverse_authoring.record import RecordedRemote, RecordingOptions
from pluriverse_authoring.recording import recorder
from pluriverse_server.manifest.runtime import FILE_NAME, ManifestError
from pluriverse_server.process import StartError
from pluriverse_server.settings import Settings
from support.ports import free_port
from typer.testing import CliRunner

pytestmark = pytest.mark.display

PROGRAM = """
[runtime]
id = "still"
version = "1.0.0"
title = "Nothing moves"
default_env = "still.Still-v0"
screen = { width = 320, height = 200 }
[program]
command = ["sleep", "600"]
[reset]
by = "restart"
[[envs]]
id = "still.Still-v0"
[[rewards]]
"""
REPORTING = PROGRAM + 'source = "reports"\n'
SCRAPED = PROGRAM + 'source = "bar"\n[sources.bar]\nfrom = "screen"\nread = "bar"\ncolour = "#00ff00"\n'
SCRAPED_ON_SCREEN = SCRAPED + "region = [220, 10, 100, 10]\n"
SCRAPED_OFF_SCREEN = SCRAPED + "region = [221, 10, 100, 10]\n"


def recorded_remote(directory: Path, manifest: str, options: RecordingOptions) -> RecordedRemote:
    (directory / FILE_NAME).write_text(manifest)
    return RecordedRemote(Settings(directory, vnc_port=free_port(), rewarder_port=free_port()), options)


async def test_a_number_of_which_something_unfinished_is_there_is_not_taken(tmp_path: Path) -> None:
    left = tmp_path / "recordings" / "1.plrec.partial"
    left.parent.mkdir()
    left.write_bytes(b"what is left")
    recorded = await recorded_remote(tmp_path, SCRAPED_ON_SCREEN, RecordingOptions(seconds=0.1, keep="regions")).run()
    assert recorded is not None
    assert recorded.path.name == "2.plrec"
    assert left.read_bytes() == b"what is left"


async def test_regions_of_an_environment_that_reads_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ManifestError, match=r"no source of still\.Still-v0 reads the screen, .*so --keep needs to be all"
    ):
        await recorded_remote(tmp_path, REPORTING, RecordingOptions(seconds=1, keep="regions")).run()
    assert not (tmp_path / "recordings").exists()


async def test_a_region_off_the_screen_is_refused_with_its_source(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"bar: region \[221, 10, 100, 10\] isn't on the screen of 320x200 pixels"):
        await recorded_remote(tmp_path, SCRAPED_OFF_SCREEN, RecordingOptions(seconds=1, keep="regions")).run()


async def test_recording_without_a_limit_ends_as_a_whole_file_when_it_is_as_long_as_one_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(record, "MAX_SECONDS", 0.5)
    with caplog.at_level("INFO"):
        recorded = await recorded_remote(tmp_path, REPORTING, RecordingOptions()).run()
    assert recorded is not None
    assert recorded.path.name == "1.plrec"
    assert "the recording ends: it is 0.5 s long" in caplog.text


@pytest.mark.parametrize("name", ["a.plrec", "a.plrec.partial"])
def test_output_that_is_there_already_finished_or_not_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    result = CliRunner().invoke(app, ["record", str(tmp_path), "--output", str(tmp_path / "a.plrec")])
    assert result.exit_code == 2
    assert f"{name} already exists; name another file with --output" in result.output


async def test_a_disk_without_room_is_told_with_what_was_to_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object, window_log: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(recorder, "RecordingFile", no_room)
    output = tmp_path / "a.plrec"
    with pytest.raises(StartError, match=f"{output} can't be written: No space left on device"):
        await recorded_remote(tmp_path, REPORTING, RecordingOptions(output)).run()


async def test_an_error_of_the_remote_is_not_taken_for_one_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pluriverse_server.display.screen, "write_cookie", no_room)
    with pytest.raises(StartError, match=r"^the screen could not be started: \[Errno 28\]"):
        await recorded_remote(tmp_path, REPORTING, RecordingOptions(tmp_path / "a.plrec")).run()


async def test_one_that_is_stopped_while_it_starts_records_nothing(tmp_path: Path) -> None:
    remote = recorded_remote(tmp_path, REPORTING, RecordingOptions())
    remote.stop()
    assert await remote.run() is None
    assert not (tmp_path / "recordings").exists()
