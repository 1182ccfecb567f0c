"""Demonstrations as a Minari dataset."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from pluriverse.errors import ConfigurationError

from .demonstrations import Demonstration

MISSING = 'datasets need Minari: pip install "pluriverse[minari]"'


def write_dataset(dataset_id: str, episodes: Iterable[Demonstration]) -> int:
    """Write the dataset ``dataset_id`` to Minari's folder; returns how many episodes it has.

    Observations are pixels, uint8 (height, width, channels); actions those of the environment's action space.

    Raises:
        ConfigurationError: Minari isn't installed, there is such a dataset, the id is none, there are no episodes, or
            they have different spaces.
    """
    try:
        minari: Any = importlib.import_module("minari")
        gymnasium_spaces: Any = importlib.import_module("gymnasium.spaces")
        importlib.import_module("h5py")
    except ImportError as error:
        raise ConfigurationError(f"{MISSING} ({error})") from error
    from pluriverse.adapters.gymnasium.spaces import action_space

    remaining = iter(episodes)
    first = next(remaining, None)
    if first is None:
        raise ConfigurationError("there is no episode that ran in what was recorded; play until one begins")
    observations = gymnasium_spaces.Box(0, 255, first.shape, np.uint8)
    actions = action_space(first.actions_of)
    try:
        with warnings.catch_warnings():
            # That nobody says where its code and its author are found: datasets that people publish name theirs.
            warnings.simplefilter("ignore", UserWarning)
            dataset = minari.create_dataset_from_buffers(
                dataset_id,
                [_buffer(minari, first)],
                observation_space=observations,
                action_space=actions,
                algorithm_name="human",
                description=f"Recorded in {first.env_id}, played by hand in real time.",
                jpeg_encoding=False,
            )
    except (ValueError, OSError) as error:
        raise ConfigurationError(
            f"the dataset {dataset_id!r} can't be written: {error}; expected an id such as greed/human-v0 that is new "
            "(minari list local shows those that are there, minari delete removes one)"
        ) from error
    count = 1
    for episode in remaining:
        if episode.shape != first.shape or action_space(episode.actions_of) != actions:
            raise ConfigurationError(
                f"{episode.env_id} has other pictures or actions than {first.env_id}; "
                "export them into datasets of their own"
            )
        dataset.storage.update_episodes([_buffer(minari, episode)])
        count += 1
    return count


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
