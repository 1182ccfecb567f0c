from __future__ import annotations

from collections.abc import Generator

import numpy as np
import pytest
from pluriverse.adapters.core import Core
from pluriverse.adapters.gymnasium.shared import Renderer, drawn_seed, generator_of, open_core
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.errors import ConfigurationError, ResetNeeded

pytestmark = pytest.mark.display

LAKE = "gym-core.FrozenLake-v1"


def test_other_number_of_remotes_than_wanted_is_refused_before_any_is_started() -> None:
    with pytest.raises(ConfigurationError, match=r"num_envs=3, remotes='local:3'"):
        open_core(LAKE, "local:3", 1)


def test_options_that_do_not_exist_are_refused() -> None:
    with pytest.raises(TypeError, match="no_such_option"):
        open_core(LAKE, "local:1", 1, no_such_option=3)
    with pytest.raises(ConfigurationError, match="crop"):
        open_core(LAKE, "local:1", 1, crop=(1, 2))


def test_later_seeds_follow_from_the_first() -> None:
    one, other = generator_of(5), generator_of(5)
    seeds = [drawn_seed(one) for _ in range(9)]
    assert seeds == [drawn_seed(other) for _ in range(9)]
    assert len(set(seeds)) == 9
    assert drawn_seed(None) is None


@pytest.fixture(scope="module")
def core() -> Generator[Core]:
    with Core("gym-core.FrozenLake-v1", "local:1", pictures=PictureOptions(size=(32, 32), grey=True)) as core:
        with pytest.raises(ResetNeeded, match="first render"):
            Renderer(core, "rgb_array").picture(0)
        core.reset(0)
        core.receive(1)
        yield core


def test_people_see_colours_in_full_size_whatever_the_agent_is_given(core: Core) -> None:
    picture = Renderer(core, "rgb_array").picture(0)
    assert core.picture(0).shape == (32, 32, 1)
    assert (picture.shape, picture.dtype) == ((256, 256, 3), np.uint8)
    assert not np.shares_memory(picture, core.result(0).screen)


def test_nothing_is_shown_in_other_modes(core: Core, capsys: pytest.CaptureFixture[str]) -> None:
    Renderer(core, "rgb_array").show()
    assert capsys.readouterr().out == ""
