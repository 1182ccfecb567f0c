from typing import Any

import pytest
from pluriverse_server.display import Screen
from pluriverse_server.manifest.runtime import Manifest
from pluriverse_server.process import StartError
from pluriverse_server.remote.overlay import overlay_arguments, start_overlay
from support.leftovers import Leftovers

pytestmark = pytest.mark.display

PAGE: dict[str, Any] = {"url": "https://example.org/"}

CORNER = ["--block", "1018", "766", "--fps", "30"]


def manifest(*, metadata: dict[str, Any] | None = None, page: dict[str, Any] | None = None) -> Manifest:
    runtime = {"id": "a", "version": "1.0.0", "title": "", "default_env": "a", "fps": 30.0, "metadata": metadata}
    program = {"program": {"command": ["true"]}, "rewards": [{"source": "reports"}]}
    played = {"page": page, "reset": {"by": "page"}, "rewards": [{"source": "page", "value": "0"}]}
    return Manifest.model_validate({"runtime": runtime, "envs": [{"id": "a"}], **(played if page else program)})


def test_program_that_paints_its_block_needs_none() -> None:
    assert overlay_arguments(manifest(metadata={"x": 3, "y": 4})) == []


def test_program_that_does_not_gets_a_block_at_its_place() -> None:
    place = {"x": 3, "y": 4, "painted_by": "overlay"}
    assert overlay_arguments(manifest(metadata=place)) == ["--block", "3", "4", "--fps", "30"]


def test_runtime_that_says_nothing_of_a_block_gets_one_in_the_corner() -> None:
    assert overlay_arguments(manifest()) == CORNER


def test_page_is_guarded_but_for_what_it_allows() -> None:
    assert overlay_arguments(manifest(page=PAGE)) == [*CORNER, "--filter-keys"]
    page = {**PAGE, "allow": ["menus"], "keys": ["Control+s", "F5"]}
    assert overlay_arguments(manifest(page=page)) == [
        *CORNER,
        *("--filter-keys", "--allow", "0x73:4", "--allow", "0xffc2:0", "--middle-button"),
    ]


async def test_overlay_that_can_not_start_says_why_and_leaves_nothing(screen: Screen) -> None:
    leftovers = Leftovers()
    with pytest.raises(StartError, match=r"exit status 1:\noverlay: no X server answers at DISPLAY=':0x'"):
        await start_overlay(["--filter-keys"], {**screen.environment, "DISPLAY": ":0x"})
    leftovers.assert_none()
