import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from pluriverse.spaces import ScreenObservation
from pluriverse.wrappers import Monitor, Render
from pluriverse.wrappers.monitor import STATISTICS, cubes
from pluriverse.wrappers.video import VideoWriter
from support.scripted import Result, Script, ScriptedEnv, seen


def pictures(film: Path) -> list[Any]:
    capture = cv2.VideoCapture(str(film))
    found: list[Any] = []
    while (read := capture.read())[0]:
        found.append(read[1])
    return found


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / STATISTICS).read_text().splitlines()]


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
    (film,) = (tmp_path / "run").glob("*.mp4")
    assert film.name == "episode-000000.mp4"
    assert len(pictures(film)) == 2
    assert env.closed == 1


def test_picture_that_changes_in_size_ends_the_film(tmp_path: Path) -> None:
    large: ScreenObservation = {"vision": np.zeros((8, 8, 3), np.uint8), "text": []}
    results: list[Result] = [(seen(1), 0.0, False, {}), (large, 0.0, False, {}), (seen(1), 0.0, False, {})]
    monitor = Monitor(ScriptedEnv(Script(results)), tmp_path)
    monitor.reset()
    for _ in range(3):
        monitor.step([[]])
    monitor.close()
    (film,) = tmp_path.glob("*.mp4")
    assert len(pictures(film)) == 1


def test_films_grow_rarer() -> None:
    assert [number for number in range(3001) if cubes(number)] == [*(each**3 for each in range(11)), 2000, 3000]


def test_film_has_every_picture_nearly_as_it_was(tmp_path: Path) -> None:
    writer = VideoWriter(tmp_path / "film.mp4", 64, 48, 50.0)
    shades = [0, 80, 160, 240]
    for shade in shades:
        writer.write(np.full((48, 64, 3), shade, np.uint8))
    writer.close()
    assert [round(float(picture.mean()) / 10) * 10 for picture in pictures(tmp_path / "film.mp4")] == shades


def test_each_step_is_shown() -> None:
    env = ScriptedEnv()
    render = Render(env)
    render.reset()
    render.step([[]])
    render.step([[]])
    assert env.shown == ["human", "human"]
