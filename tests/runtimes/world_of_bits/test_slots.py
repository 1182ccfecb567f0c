"""Many tasks in one remote, through the interfaces of agents."""

import numpy as np
import pytest
from pluriverse.adapters.computer import Computer
from pluriverse.adapters.gymnasium import PluriverseVectorEnv
from pluriverse.errors import Closed, ConfigurationError, Misuse

pytestmark = [pytest.mark.slow, pytest.mark.display]

TASK = "wob.mini.ClickTest-v0"


def test_vector_of_one_remote_sees_the_same_of_a_seed_in_each_slot(vendored: None) -> None:
    env = PluriverseVectorEnv(TASK, num_envs=3, remotes="local:1", clock="lockstep")
    try:
        observations, _ = env.reset(seed=[4, 4, 5])
        pictures = observations["vision"]
        assert (pictures[0] == pictures[1]).all()
        assert (pictures[0] != pictures[2]).any()
        action = {name: np.zeros_like(value) for name, value in env.action_space.sample().items()}
        action["pointer"][:] = 80, 120
        observations, rewards, *_ = env.step(action)
        assert (observations["vision"][0] == observations["vision"][1]).all()
        assert rewards[0] == rewards[1]
    finally:
        env.close()


def test_computers_beside_each_other_have_episodes_and_tasks_of_their_own(vendored: None) -> None:
    with Computer(TASK, "local:1", clock="lockstep") as own:
        with pytest.raises(Misuse, match="begin one before"):
            own.beside(2)
        own.begin(3)
        first, second = own.beside(2)
        told = first.begin(3).text
        assert (own.pixels() == first.pixels()).all()
        assert second.begin(3, env="wob.mini.EnterText-v0").text != told
        with pytest.raises(ConfigurationError, match=r"wob\.mini\.Nothing-v0"):
            second.begin(3, env="wob.mini.Nothing-v0")
        assert second.begin(4, env=TASK).text == told
        assert not first.over
        own.begin(3, env="wob.mini.EnterText-v0")
        with pytest.raises(Closed):
            second.begin(4)
