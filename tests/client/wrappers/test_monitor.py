from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence
from pluriverse.spaces import ScreenObservation
from pluriverse.wrappers import Monitor, Render
from pluriverse.wrappers.monitor import STATISTICS, cubes
from pluriverse.wrappers.video import ApngWriter, VideoError, open_video
from support.scripted import Result, Script, ScriptedEnv, seen


@pytest.fixture
def no_ffmpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / STATISTICS).read_text().splitlines()]


@pytest.mark.usefixtures("no_ffmpeg")
def test_each_episode_is_a_line_and_some_are_filmed(tmp_path: Path) -> None:
    ending = (None, 3.0, True, {"terminated": True, "env_status.complete.episode_id": "4"})
    broken = (None, 0.0, True, {"truncated": True, "error": "it broke"})
    env = ScriptedEnv(
        Script([(seen(1), 1.0, False, {}), (seen(2), 1.0, False, {}), ending, (seen(9), 0.0, False, {})]),
        Script([broken]),
    )
    monitor = Monitor(env, tmp_path / "run", films=lambda number: number == 0)
    monitor.reset()
    for _ in range(4):
        monitor.step([[], []])
    monitor.close()
    second, first = lines(tmp_path / "run")
    assert (first["index"], first["episode"], first["reward"], first["length"]) == (0, 0, 5.0, 3)
    assert (first["terminated"], first["truncated"], first["episode_id"]) == (True, False, "4")
    assert (second["index"], second["error"], second["truncated"]) == (1, "it broke", True)
    (film,) = (tmp_path / "run").glob("*.png")
    assert film.name == "episode-000000.png"
    with Image.open(film) as pictures:
        frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(pictures)]
    assert [int(frame.max()) for frame in frames] == [1, 2]
    assert env.closed == 1


@pytest.mark.usefixtures("no_ffmpeg")
def test_picture_that_changes_in_size_ends_the_film(tmp_path: Path) -> None:
    large: ScreenObservation = {"vision": np.zeros((8, 8, 3), np.uint8), "text": []}
    results: list[Result] = [(seen(1), 0.0, False, {}), (large, 0.0, False, {}), (seen(1), 0.0, False, {})]
    monitor = Monitor(ScriptedEnv(Script(results)), tmp_path)
    monitor.reset()
    for _ in range(3):
        monitor.step([[]])
    monitor.close()
    (film,) = tmp_path.glob("*.png")
    with Image.open(film) as picture:
        assert getattr(picture, "n_frames", 1) == 1


def test_films_grow_rarer() -> None:
    assert [number for number in range(3001) if cubes(number)] == [
        0,
        1,
        8,
        27,
        64,
        125,
        216,
        343,
        512,
        729,
        1000,
        2000,
        3000,
    ]


def test_animated_png_holds_every_picture_at_its_rate(tmp_path: Path) -> None:
    writer = ApngWriter(tmp_path / "film.png", 3, 2, 50.0)
    pictures = [np.random.default_rng(seed).integers(0, 256, (2, 3, 3), np.uint8) for seed in range(4)]
    for picture in pictures:
        writer.write(picture)
    writer.close()
    with Image.open(tmp_path / "film.png") as film:
        assert film.info["duration"] == 20.0
        frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(film)]
    assert all(np.array_equal(frame, picture) for frame, picture in zip(frames, pictures, strict=True))


@pytest.mark.usefixtures("no_ffmpeg")
def test_film_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="No such file"):
        open_video(tmp_path / "nowhere" / "film", np.zeros((2, 2, 3), np.uint8), 60.0)


def test_each_step_is_shown() -> None:
    env = ScriptedEnv()
    render = Render(env, "terminal")
    render.reset()
    render.step([[]])
    render.step([[]])
    assert env.shown == ["terminal", "terminal"]
