"""Demonstrations go into Minari and come back the same."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.recording.export import Export
from support.recordings import HEIGHT, WIDTH, played, write

DATASET = "toy/human-v0"
minari: Any = import_module("minari")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))


def export(*paths: Path, kind: str | None = None) -> list[str]:
    told: list[str] = []
    Export(paths, fps=None, size=None, kind=kind, report=told.append).to_minari(DATASET)
    return told


def test_dataset_is_loaded_with_its_spaces_and_every_step(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{name}.plrec", played()) for name in "ab"]
    assert "2 episodes" in export(*paths)[-1]
    dataset = minari.load_dataset(DATASET)
    assert dataset.observation_space == gymnasium.spaces.Box(0, 255, (HEIGHT, WIDTH, 3), np.uint8)
    assert dataset.action_space == gymnasium.spaces.Discrete(3)
    assert dataset.total_episodes == 2
    episode = dataset[1]
    assert episode.actions.tolist() == [0, 2, 2, 2, 0, 1, 0, 0, 0, 0]
    assert episode.rewards.sum() == 3
    assert episode.terminations.tolist() == [False] * 9 + [True]
    assert not episode.truncations.any()
    assert [int(picture[0, 0, 2]) for picture in episode.observations] == [10] * 3 + [200] * 8


@pytest.mark.parametrize(
    ("kind", "space"),
    [("keys", gymnasium.spaces.MultiBinary(2)), ("pointer", None)],
)
def test_other_actions_go_in_as_well(tmp_path: Path, kind: str, space: gymnasium.Space[object] | None) -> None:
    export(write(tmp_path / "a.plrec", played()), kind=kind)
    dataset = minari.load_dataset(DATASET)
    assert space is None or dataset.action_space == space
    actions = dataset[0].actions
    keys = actions if kind == "keys" else actions["keys"]
    assert keys[:, 1].tolist() == [0, 1, 1, 1, 0, 0, 0, 0, 0, 0]


def test_dataset_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = write(tmp_path / "a.plrec", played())
    export(path)
    with pytest.raises(ConfigurationError, match="expected an id such as"):
        export(path)


def test_recording_without_an_episode_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no episode that ran"):
        export(write(tmp_path / "a.plrec", played()[:2]))


def test_unknown_kind_of_actions_names_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="discrete, keys, pointer"):
        export(kind="events")
