"""What a program shows follows from its seed and its actions, not from the session that its remote was started in."""

import itertools
from collections.abc import Mapping
from pathlib import Path

import pytest
from pluriverse.adapters.gymnasium import PluriverseEnv
from support import sessions
from support.remotes import on_machine
from support.repeated import Step, played

FRAMES = 100

# Folders of runtimes that are named otherwise than their environments begin.
FOLDERS = {"wob": "world-of-bits"}

# Each runtime's default environment; and every desktop game that is exact, since each has a toolkit's ways of its own.
DEFAULTS = ("gym-core.PongDeterministic-v3", "internet.2048-v0")
SLOW = (
    *("doom.Basic-v0", "desktop.FrozenBubble-v0", "flashgames.Racer-v0", "wob.mini.ClickTest-v0"),
    *("desktop.Gnome2048-v0", "desktop.HexAHop-v0", "desktop.KoboDeluxe-v0", "desktop.LTris-v0"),
    *("desktop.MoonBuggy-v0", "desktop.Powermanga-v0", "desktop.SlimeVolley-v0", "desktop.Vitetris-v0"),
)

pytestmark = [pytest.mark.slow, pytest.mark.display, pytest.mark.timeout(600)]


def first_frames(env_id: str, session: Mapping[str, str]) -> list[Step]:
    """Return what is seen and earned in the first frames of a remote in a session, episodes on end."""
    frames: list[Step] = []
    family = env_id.partition(".")[0]
    with on_machine("--env", env_id, runtime=FOLDERS.get(family, family), env=dict(session)) as remote:
        env = PluriverseEnv(env_id, remotes=remote.address, clock="lockstep")
        try:
            for seed in itertools.count(3):
                if len(frames) >= FRAMES:
                    return frames
                frames += played(env, seed, FRAMES - len(frames))
        finally:
            env.close()
    raise AssertionError


@pytest.mark.parametrize("env_id", [*DEFAULTS, *(pytest.param(each, marks=pytest.mark.nightly) for each in SLOW)])
def test_hostile_session_and_an_empty_one_give_the_same_frames(env_id: str, tmp_path: Path) -> None:
    hostile = first_frames(env_id, sessions.hostile(tmp_path / "h"))
    empty = first_frames(env_id, sessions.empty(tmp_path))
    assert hostile == empty
    assert len({step.seen for step in empty}) > FRAMES / 10
