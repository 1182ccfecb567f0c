"""Each script plays its task, on a remote of this machine in lockstep."""

from typing import Any

import pytest
from pluriverse_eval.agents.scripted import ScriptedAgent
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play
from realtime.atari import LEFT, RIGHT, Pong
from realtime.flash import Racer
from support.remotes import on_machine
from support.solved import TASKS, blank, fill, seen

# Of environments that aren't called as their runtimes are.
RUNTIMES = {"wob": "world-of-bits"}

OWN, OTHER = (224, 64, 48), (59, 111, 208)

# The seed, for how long if not for the whole of its time, and what is earned at least if not its success.
PLAYED: dict[str, dict[str, Any]] = {
    "breakout": {"seconds": 4, "enough": 1},
    "doom-basic": {"enough": 0},
    "health-gathering": {"enough": 560},
    "door-key": {"seed": 5},
    "go-to-object": {},
    "hex-a-hop": {"enough": TASKS["hex-a-hop"].reference},
    "ltris": {"seconds": 5, "enough": 100},
}
PLAYED_IN_PAGES: dict[str, dict[str, Any]] = {
    "tiles-2048": {"seconds": 5, "enough": 101},
    "minesweeper": {"seed": 9, "enough": 60},
    "lights": {},
    **{name: {"seed": 3} for name in ("click-button", "click-link", "click-checkboxes", "enter-text", "login-user")},
    "find-word": {"seed": 3},
    "drag-box": {"seed": 2},
    "click-shades": {"seed": 2},
    "chase-circle": {"seed": 1},
}


def check(name: str, *, seed: int = 0, seconds: float | None = None, enough: float | None = None) -> None:
    task = TASKS[name] if seconds is None else TASKS[name].model_copy(update={"seconds": seconds})
    runtime = RUNTIMES.get(prefix := task.env.partition(".")[0], prefix)
    (paused,) = parse_modes("paused")
    with on_machine(runtime=runtime) as remote, Play(task, paused, remote.address) as computer:
        computer.start(seed, paused)
        ScriptedAgent().play(computer)
        assert computer.total_reward >= (task.success if enough is None else enough)


@pytest.mark.slow
@pytest.mark.display
@pytest.mark.parametrize("name", PLAYED)
def test_program_is_played(name: str) -> None:
    check(name, **PLAYED[name])


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", PLAYED_IN_PAGES)
def test_page_is_played(name: str) -> None:
    check(name, **PLAYED_IN_PAGES[name])


@pytest.mark.parametrize(("goes", "choice"), [(-4, RIGHT), (4, LEFT)])
def test_pong_goes_to_where_the_ball_will_be(goes: int, choice: int) -> None:
    pong, held = Pong(), None
    for number in range(2):
        picture = blank(160, 210, (144, 72, 17))
        fill(picture, (140, 106, 144, 122), (92, 186, 92))
        x, y = 100 + 4 * number, 113 + goes * number
        fill(picture, (x, y, x + 2, y + 4), (236, 236, 236))
        held = pong(seen(picture, 17.0 * number))
    assert held is not None
    assert held.action == choice


@pytest.mark.parametrize(
    ("lane", "others", "choice"),
    [
        (2, [], Racer.UP),
        (2, [(2, 150), (3, 200)], Racer.LEFT),
        (2, [(2, 150), (1, 200)], Racer.RIGHT),
        pytest.param(1, [(1, 150), (2, 300)], Racer.UP, id="there is a car beside it"),
    ],
)
def test_lane_is_left_for_the_nearest_that_is_free(lane: int, others: list[tuple[int, int]], choice: int) -> None:
    picture = blank(400, 400, (68, 68, 72))
    for column, top, colour in [(lane, 320, OWN), *((column, top, OTHER) for column, top in others)]:
        fill(picture, (column * 100 - 20, top, column * 100 + 20, top + 50), colour)
    assert Racer()(seen(picture)).action == choice
