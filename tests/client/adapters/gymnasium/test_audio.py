"""What a program plays as a part of observations: exact in lockstep, and the latest in real time."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pluriverse.adapters import alf
from pluriverse.adapters.alf import tensors
from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv
from pluriverse.errors import ConfigurationError
from pluriverse_protocol.sound import RATE
from support.noise import NOISE
from support.remotes import on_machine
from support.scraped import ENV, write_runtime
from support.scraped_steps import COUNTER

pytestmark = [pytest.mark.slow, pytest.mark.display]

FRAME = RATE // 60


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a remote that plays noise."""
    folder = tmp_path_factory.mktemp("noisy")
    write_runtime(
        folder,
        program={"clock": ["realtime", "lockstep"]},
        reset={"by": "restart", "start": []},
        rewards=[{"source": "score", "scale": 20}],
    )
    (folder / "game.py").write_text(NOISE + COUNTER)
    with on_machine(runtime=str(folder)) as remote:
        yield remote.address


def played(env: PluriverseEnv, steps: int, seed: int) -> list[NDArray[np.int16]]:
    """Return what is heard at a reset and in so many steps."""
    observations = [env.reset(seed=seed)[0], *(env.step([])[0] for _ in range(steps))]
    assert all(env.observation_space.contains(observation) for observation in observations)
    return [observation["audio"] for observation in observations]


def test_audio_in_lockstep_follows_from_the_seed_and_comes_in_vectors_too(noisy: str) -> None:
    options: dict[str, Any] = {"clock": "lockstep", "frame_skip": 4, "actions": "events", "audio": True}
    with contextlib.closing(PluriverseEnv(ENV, remotes=noisy, **options)) as env:
        assert env.metadata["audio_rate"] == RATE
        once, again, other = played(env, 10, 3), played(env, 10, 3), played(env, 10, 4)
        assert once[0].shape == (4 * FRAME, 2)
        assert not once[0].any()
        assert np.array_equal(once, again)
        assert not np.array_equal(once[1:], other[1:])
        heard = env.core.result(0).sound
        assert heard is not None
        assert np.array_equal(heard, other[-1])
    with contextlib.closing(PluriverseVectorEnv(ENV, num_envs=2, remotes=noisy, **options)) as envs:
        envs.reset(seed=[3, 4])
        heard = envs.step([[], []])[0]["audio"]
        assert np.array_equal(heard, [once[1], other[1]])
    with alf.load(ENV, noisy, clock="lockstep", frame_skip=4, seed=3, audio=True) as batch:
        assert batch.observation_spec()["audio"].shape == once[0].shape
        silent = batch.reset().observation["audio"]
        idle = {name: tensors.tensor(spec.numpy_zeros((1,))) for name, spec in batch.action_spec().items()}
        heard = batch.step(idle).observation["audio"]
        assert np.array_equal(np.concatenate([tensors.as_array(each) for each in (silent, heard)]), once[:2])


def test_audio_in_real_time_is_the_last_that_came(noisy: str) -> None:
    with PluriverseEnv(ENV, remotes=noisy, actions="events", audio=True) as env:
        played(env, 5, 3)
        came = 0
        for _ in range(120):
            observation = env.step([])[0]
            sound = env.core.result(0).sound
            assert sound is not None
            came += len(sound)
            last = sound[-FRAME:]
            assert np.array_equal(observation["audio"][: len(last)], last)
        assert came == pytest.approx(2 * RATE, rel=0.2)


def test_remotes_without_sound_refuse_audio(address: str) -> None:
    with pytest.raises(ConfigurationError, match="no sound"):
        PluriverseEnv(remotes=address, audio=True)
