"""Episodes in lockstep that are played twice, and what is said of them."""

from __future__ import annotations

import itertools
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_protocol.messages import Describe
from pluriverse_server.authoring.twice import Frame, actions, differences, judge, play_twice
from support.pages import make_remote, short_folder, write_runtime

GYM_CORE = Path(__file__).parents[3] / "runtimes" / "gym-core"
DESCRIBED = Describe("toy.First-v0", env_state="running", fps=50.0, frame_time=0.02, lockstep="exact")
SHAPE = (20, 30, 3)

# Whatever a page asks for time and chance is the agent's, but these names are not.
PAGES = {
    "Same": "<script>game.begin(pluriverse.seed); game.state = [Math.random()]</script>",
    "Other": """<script>
      game.begin(pluriverse.seed);
      setTimeout(() => { game.state = [Math.random(), URL.createObjectURL(new Blob())] }, 50);
    </script>""",
}


def a_frame(*, at: tuple[int, int, int, int] | None = None, asked: dict[str, int] | None = None, **said: Any) -> Frame:
    """A frame; ``at``: x, y, width and height of what is white in it."""
    pixels = np.zeros(SHAPE, np.uint8)
    if at is not None:
        x, y, width, height = at
        pixels[y : y + height, x : x + width] = 255
    given: dict[str, Any] = {"reward": 0.0, "end": None, "text": "", "observation": None, **said}
    return Frame(SHAPE, zlib.compress(pixels.tobytes()), asked=Counter(asked or {}), **given)


def test_equal_frames_do_not_differ() -> None:
    assert differences(a_frame(at=(1, 2, 3, 4)), a_frame(at=(1, 2, 3, 4))) == []


def test_difference_is_told_by_place_and_value() -> None:
    found = differences(a_frame(at=(5, 6, 2, 3), reward=1.0), a_frame(text="hello"))
    assert found == [
        "pixels: 6 within (5, 6) to (6, 8) of the picture",
        "reward: 1.0, then 0.0",
        "text: '', then 'hello'",
    ]


def test_verdict_names_the_first_frame_and_who_asked_otherwise() -> None:
    first = [a_frame(), a_frame(asked={"time by game": 2}), a_frame(asked={"time by game": 5}, end="won")]
    second = [a_frame(), a_frame(asked={"time by game": 3}), a_frame(asked={"time by game": 6}, end="lost")]
    verdict = judge(DESCRIBED, 7, first, second, 1.0)
    assert not verdict.exact
    assert str(verdict).splitlines() == [
        "toy.First-v0, seed 7: differs first at frame 2, 0.040 s into the episode",
        "  end: 'won', then 'lost'",
        "  in this frame it asked: time by game (3)",
        "  it asked otherwise first in frame 1: time by game (2, then 3)",
    ]


def test_verdict_on_equal_runs_says_how_long_they_were() -> None:
    run = [a_frame(), a_frame(), a_frame()]
    verdict = judge(DESCRIBED, 7, run, run, 0.5)
    assert verdict.exact
    assert str(verdict) == "toy.First-v0, seed 7: the same over 2 frames, 0.0 s of its time; 4 frames a second"


def test_what_is_frozen_is_never_exact() -> None:
    run = [a_frame(), a_frame()]
    described = Describe("toy.First-v0", env_state="running", fps=50.0, frame_time=0.02, lockstep="frozen")
    verdict = judge(described, 7, run, run, 0.5)
    assert not verdict.exact
    assert "by chance" in str(verdict)


def test_actions_follow_from_the_seed_and_hold_what_the_spaces_name() -> None:
    spaces = Spaces((Choice("NOOP", ()), Choice("LEFT", (0xFF51,))), pointer=True)
    box = (10, 20, 100, 50)
    first, again, other = ([*itertools.islice(actions(spaces, box, seed), 200)] for seed in (1, 1, 2))
    assert first == again != other
    held: set[int] = set()
    for event in itertools.chain(*first):
        if isinstance(event, KeyEvent):
            assert (event.keysym in held) is not event.down
            held ^= {event.keysym}
        else:
            assert isinstance(event, PointerEvent)
            assert 10 <= event.x < 110
            assert 20 <= event.y < 70


async def test_environment_that_is_exact_is_the_same_twice() -> None:
    verdict = await play_twice(GYM_CORE, "gym-core.PongDeterministic-v3", seed=3, frames=40)
    assert verdict.exact, str(verdict)
    assert "the same over 40 frames" in str(verdict)


async def test_page_says_what_it_asked_where_it_first_differs() -> None:
    assert make_remote  # starts a browser
    with short_folder() as folder:
        write_runtime(folder, PAGES)
        verdict = await play_twice(folder, "pages.Same-v0", seed=3, frames=20)
        assert verdict.exact, str(verdict)
        verdict = await play_twice(folder, "pages.Other-v0", seed=3, frames=20)
        head, said, asked, *_ = str(verdict).splitlines()
        assert "differs first at frame" in head
        assert "blob:" in said
        assert "Math.random (1)" in asked
