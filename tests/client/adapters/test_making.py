from typing import Any

import numpy as np
import pytest
from pluriverse.adapters import alf, envpool, making
from pluriverse.adapters.core import Core
from pluriverse.adapters.gymnasium.vector import PluriverseVectorEnv
from pluriverse.errors import ConfigurationError

pytestmark = pytest.mark.display

PONG = "gym-core.PongDeterministic-v3"
UP, DOWN = 2, 3


def test_more_slots_than_a_remote_has_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"slots is 65; a remote of .* holds 64"):
        Core(PONG, "local:1", clock="lockstep", slots=65)
    with pytest.raises(ConfigurationError, match="slots need clock='lockstep'"):
        Core(PONG, "local:1", slots=2)


def test_no_remote_is_started_to_learn_how_many_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int]] = []

    def note(_: str, remotes: int, *, slots: int, clock: str) -> None:
        made.append((remotes, slots))

    monkeypatch.setattr(making, "Core", note)
    for env_id, n in ((PONG, 16), (PONG, 100), ("doom.Basic-v0", 3), ("elsewhere.Game-v0", 3)):
        making.make_copies(env_id, n, None, clock="lockstep")
    # The folder of the last one's runtime isn't here, so that its remotes must say.
    assert made == [(1, 16), (2, 50), (3, 1), (1, 3)]


def test_every_interface_of_many_puts_them_on_one_remote(address: str) -> None:
    def check(core: Core) -> None:
        assert (core.n, core.env.n) == (3, 1)

    options: dict[str, Any] = {"remotes": address, "clock": "lockstep"}
    vector = PluriverseVectorEnv(PONG, num_envs=3, **options)
    check(vector.core)
    vector.reset(seed=1)
    assert vector.step(np.array([UP, DOWN, 0]))[0].shape == (3, 210, 160, 3)
    vector.close()
    pool = envpool.make_gymnasium("Pong-v5", num_envs=3, batch_size=2, **options)
    check(pool.core)
    pool.async_reset()
    for _ in range(5):
        observations, _, _, _, info = pool.recv()
        assert observations.shape == (2, 4, 84, 84)
        pool.send(np.zeros(2, np.int32), info["env_id"])
    pool.close()
    batch = alf.load(PONG, batch_size=3, **options)
    check(batch.core)
    assert batch.reset().observation.shape[0] == 3
    batch.close()
