"""Demonstrations as a Minari dataset."""

from __future__ import annotations

import contextlib
import importlib
import shutil
import warnings
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from pluriverse.errors import ConfigurationError, needed

from .demonstrations import Demonstration

# HDF5 crashes the whole process where the disk is full, so that room is made sure of before each write. The pictures
# are nearly all of it.
SPARE_BYTES: Final = 16 * 1024 * 1024


def write_dataset(dataset_id: str, episodes: Iterable[Demonstration]) -> int:
    """Write the dataset ``dataset_id`` to Minari's folder, and return how many episodes it has.

    Observations are pixels, uint8 (height, width, channels); actions those of the environment's action space. No
    dataset is left if this fails.
    """
    with needed("Minari", extra="minari"):
        minari: Any = importlib.import_module("minari")
        importlib.import_module("h5py")
    with _configuration_errors(dataset_id):
        folder: Path = minari.storage.get_dataset_path(dataset_id)
        if folder.exists():
            raise ValueError("it already exists")
    remaining = iter(episodes)
    first = next(remaining, None)
    if first is None:
        raise ConfigurationError("the recording has no episode; play until one begins")
    try:
        return _write(minari, dataset_id, first, remaining)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _write(minari: Any, dataset_id: str, first: Demonstration, remaining: Iterator[Demonstration]) -> int:
    from gymnasium.spaces import Box

    from pluriverse.adapters.gymnasium.gym_spaces import action_space

    root: Path = minari.storage.get_dataset_path()
    actions = action_space(first.actions_of)
    with _configuration_errors(dataset_id), warnings.catch_warnings():
        # Warnings about a missing author and code link, which only published datasets need.
        warnings.simplefilter("ignore", UserWarning)
        _require_room(root, first)
        dataset = minari.create_dataset_from_buffers(
            dataset_id,
            [_buffer(minari, first)],
            observation_space=Box(0, 255, first.shape, np.uint8),
            action_space=actions,
            algorithm_name="human",
            description=f"Recorded in {first.env_id}, played by hand in real time.",
            jpeg_encoding=False,
        )
    count = 1
    for episode in remaining:
        if episode.shape != first.shape or action_space(episode.actions_of) != actions:
            raise ConfigurationError(
                f"{episode.env_id} has different pictures or actions from {first.env_id}; "
                "export them into separate datasets"
            )
        with _configuration_errors(dataset_id):
            _require_room(root, episode)
            dataset.storage.update_episodes([_buffer(minari, episode)])
        count += 1
    return count


@contextlib.contextmanager
def _configuration_errors(dataset_id: str) -> Generator[None]:
    try:
        yield
    except ValueError as error:
        raise ConfigurationError(
            f"the dataset {dataset_id!r} can't be written: {error}; expected an id such as greed/human-v0 that is new "
            "(minari list local shows the existing ones, minari delete removes one)"
        ) from error
    except OSError as error:
        raise ConfigurationError(f"the dataset {dataset_id!r} can't be written: {error}") from error


def _require_room(folder: Path, episode: Demonstration) -> None:
    needed = sum(picture.nbytes for picture in episode.observations) + SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(
            f"an episode takes {needed / 1e6:.0f} MB, and {folder} has room for {free / 1e6:.0f} MB; make room, "
            "or make the pictures smaller with --size or fewer with --fps"
        )


def _buffer(minari: Any, episode: Demonstration) -> Any:
    steps = len(episode.actions)
    last = steps - 1
    actions: Any = episode.actions
    if isinstance(actions[0], dict):
        actions = {name: [action[name] for action in episode.actions] for name in episode.actions[0]}
    return minari.data_collector.EpisodeBuffer(
        seed=episode.seed,
        observations=episode.observations,
        actions=actions,
        rewards=episode.rewards,
        terminations=[episode.terminated and step == last for step in range(steps)],
        truncations=[episode.truncated and step == last for step in range(steps)],
    )
