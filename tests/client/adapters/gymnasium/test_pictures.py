from __future__ import annotations

from collections.abc import Generator

import numpy as np
import pytest
from pluriverse.adapters.core import Core
from pluriverse.adapters.gymnasium.pictures import Renderer
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.errors import ConfigurationError, ResetNeeded


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


def test_people_without_a_display_see_half_blocks(
    core: Core, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    renderer = Renderer(core, "human")
    renderer.show()
    assert "▀" in capsys.readouterr().out
    renderer.close()
    renderer.close()


def test_nothing_is_shown_in_other_modes(core: Core, capsys: pytest.CaptureFixture[str]) -> None:
    Renderer(core, "rgb_array").show()
    assert capsys.readouterr().out == ""


def test_mode_that_does_not_exist_is_refused(core: Core) -> None:
    with pytest.raises(ConfigurationError, match="human, rgb_array"):
        Renderer(core, "ansi")
