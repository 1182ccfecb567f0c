from __future__ import annotations

import numpy as np
import pytest
from pluriverse.adapters.gymnasium.opening import checked_seed, drawn_seed, generator_of, open_core
from pluriverse.errors import ConfigurationError, Misuse
from pluriverse_protocol.limits import MAX_SEED

LAKE = "gym-core.FrozenLake-v1"


def test_other_number_of_remotes_than_wanted_is_refused_before_any_is_started() -> None:
    with pytest.raises(ConfigurationError, match=r"num_envs=3, remotes='local:3'"):
        open_core(LAKE, "local:3", 1)


def test_options_that_do_not_exist_are_refused() -> None:
    with pytest.raises(TypeError, match="no_such_option"):
        open_core(LAKE, "local:1", 1, no_such_option=3)
    with pytest.raises(ConfigurationError, match="crop"):
        open_core(LAKE, "local:1", 1, crop=(1, 2))


def test_seeds_are_what_remotes_take() -> None:
    assert checked_seed(MAX_SEED) == MAX_SEED
    assert type(checked_seed(np.int64(3))) is int  # pyright: ignore[reportArgumentType] - agents do
    for wrong in (-1, MAX_SEED + 1):
        with pytest.raises(Misuse, match="0 to"):
            checked_seed(wrong)


def test_later_seeds_follow_from_the_first() -> None:
    one, other = generator_of(5), generator_of(5)
    seeds = [drawn_seed(one) for _ in range(9)]
    assert seeds == [drawn_seed(other) for _ in range(9)]
    assert len(set(seeds)) == 9
    assert drawn_seed(None) is None
