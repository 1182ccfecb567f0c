from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from msgspec.structs import replace
from pluriverse.errors import ConfigurationError
from pluriverse.recording import dataset as dataset_module
from pluriverse.recording.export import Export
from support.recordings import HEADER, HEIGHT, WIDTH, played, write

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
    assert minari.load_dataset(DATASET).total_episodes == 1


def test_recording_that_cannot_be_read_is_told_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.plrec can't be read"):
        export(write(tmp_path / "a.plrec", played()), tmp_path / "none.plrec")
    assert not (tmp_path / "datasets").exists()


def test_of_recordings_that_do_not_fit_together_no_dataset_is_left(tmp_path: Path) -> None:
    path = write(tmp_path / "a.plrec", played())
    larger = write(tmp_path / "b.plrec", played(), replace(HEADER, width=2 * WIDTH))
    with pytest.raises(ConfigurationError, match="different pictures or actions"):
        export(path, larger)
    assert "1 episodes" in export(path)[-1]


def test_of_an_export_that_is_interrupted_no_dataset_is_left(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{name}.plrec", played()) for name in "ab"]

    def interrupt(line: str) -> None:
        if "b.plrec" in line:
            assert list(minari.list_local_datasets()) == [DATASET]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Export(paths, fps=None, size=None, kind=None, report=interrupt).to_minari(DATASET)
    assert list(minari.list_local_datasets()) == []


def test_disk_without_room_for_an_episode_is_told_before_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_module, "SPARE_BYTES", 2**62)
    with pytest.raises(ConfigurationError, match=r"can't be written: an episode takes .* has room for .*; make room"):
        export(write(tmp_path / "a.plrec", played()))
    assert list(minari.list_local_datasets()) == []


@pytest.mark.parametrize("dataset_id", ["no version of anything!", "toy/human-v0/"])
def test_id_that_is_none_leaves_nothing(tmp_path: Path, dataset_id: str) -> None:
    exported = Export([write(tmp_path / "a.plrec", played())], fps=None, size=None, kind=None, report=print)
    with pytest.raises(ConfigurationError, match="expected an id such as"):
        exported.to_minari(dataset_id)
    assert list((tmp_path / "datasets").rglob("*.hdf5")) == []
