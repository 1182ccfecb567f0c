from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pluriverse_authoring import AuthoringError
from pluriverse_authoring.cli import app
from pluriverse_authoring.crop import crop
from support.recorded import HEIGHT, WIDTH, colour_of, write_recording
from typer.testing import CliRunner

MANIFEST = """
program.command = ["toy"]
reset.by = "restart"
rewards = [{ source = "health" }]
envs = [{ id = "toy.First-v0" }]
[runtime]
id = "toy"
version = "1.0.0"
title = "Toy"
default_env = "toy.First-v0"
screen = { width = 160, height = 100 }
[sources]
health = { from = "screen", read = "bar", region = [10, 20, 30, 40], colour = "#ff0000" }
exit = { from = "process", read = "exit" }
"""


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    (tmp_path / "runtime.toml").write_text(MANIFEST)
    return write_recording(tmp_path / "recordings/first.plrec")


def test_picture_is_what_was_shown_at_that_moment(recording: Path, tmp_path: Path) -> None:
    picture = tmp_path / "templates/first.png"
    assert crop(recording, picture, at=1.05, source=None, region=None) == (WIDTH, HEIGHT)
    with Image.open(picture) as image:
        pixels = np.asarray(image)
    # The left half is drawn in even frames, the right half in odd ones.
    assert tuple(pixels[0, 0]) == colour_of(10)
    assert tuple(pixels[0, WIDTH - 1]) == colour_of(9)


def test_region_may_be_a_sources_or_any(recording: Path, tmp_path: Path) -> None:
    picture = tmp_path / "first.png"
    assert crop(recording, picture, at=1, source="health", region=None) == (30, 40)
    assert crop(recording, picture, at=1, source=None, region=(0, 0, 5, 6)) == (5, 6)


@pytest.mark.parametrize("written", [["--region", "0,0,5,6"], ["--region=0,0,5,6"], ["--region", "0", "0", "5", "6"]])
def test_region_is_one_word_or_four(recording: Path, tmp_path: Path, written: list[str]) -> None:
    done = CliRunner().invoke(app, ["crop", *written, str(recording), str(tmp_path / "first.png"), "--at", "1"])
    assert done.exit_code == 0, done.output
    assert "5x6 pixels" in done.output


@pytest.mark.parametrize(
    ("source", "region", "at", "complaint"),
    [
        ("healht", None, 1.0, "isn't a source on the screen; expected one of: health"),
        ("exit", None, 1.0, "isn't a source on the screen"),
        ("health", (0, 0, 5, 5), 1.0, "not both"),
        (None, (150, 0, 20, 20), 1.0, "aren't on the screen of 160x100"),
        (None, None, 99.0, "ends after 24.9"),
    ],
)
def test_what_is_not_there_is_told(
    recording: Path,
    tmp_path: Path,
    source: str | None,
    region: tuple[int, int, int, int] | None,
    at: float,
    complaint: str,
) -> None:
    with pytest.raises(AuthoringError, match=complaint):
        crop(recording, tmp_path / "first.png", at=at, source=source, region=region)
