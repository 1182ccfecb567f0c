"""Our Gymnasium interface beside the installed original."""

from __future__ import annotations

import inspect
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np
import pytest
from ale_py import ALEInterface
from ale_py.env import AtariEnv
from gymnasium import wrappers
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers import vector as vector_wrappers
from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv
from pluriverse.adapters.gymnasium.atari import Ale
from pluriverse.errors import PluriverseError
from support.cart_poles import CART, assert_answers_as_gymnasium
from support.films import films
from support.originals import Row, check_table, compare, compare_members
from support.remotes import on_machine

BREAKOUT: Final = "pluriverse/gym-core.BreakoutNoFrameskip-v3"
# Its episodes last, however slow a wrapper is.
PONG: Final = "pluriverse/gym-core.PongDeterministic-v3"
UNIMPORTED: Final = "gymnasium.make(name), with nothing else imported"

EMULATOR: Final = "can't: the emulator runs behind a screen, on another machine"
OPTION: Final = "differs: given in `env_options={…}`, to `make` and `make_vec`"
JOYSTICK: Final = "can't: actions are the keys of a joystick, which is not continuous"
REASONS: Final[dict[str, str]] = {
    "AtariEnv(continuous=…)": JOYSTICK,
    "AtariEnv(continuous_action_threshold=…)": JOYSTICK,
    "AtariEnv(difficulty=…)": OPTION,
    "AtariEnv(frameskip=…)": "differs: the id says what the game skips, and `frame_skip` how many frames a step takes",
    "AtariEnv(full_action_space=…)": OPTION,
    "AtariEnv(game=…)": "differs: the id says the game",
    "AtariEnv(max_num_frames_per_episode=…)": "differs: `max_episode_steps` counts steps",
    "AtariEnv(mode=…)": OPTION,
    "AtariEnv(obs_type=…)": "differs: pictures, with `grey=True` in one channel; no screen shows the memory",
    "AtariEnv(repeat_action_probability=…)": OPTION,
    "AtariEnv(sound_obs=…)": "can't: VNC carries no sound",
    "AtariEnv.clone_state": EMULATOR,
    "AtariEnv.get_keys_to_action": "differs: a person plays in the browser's viewer, by the keys of the game",
    "AtariEnv.load_game": EMULATOR,
    "AtariEnv.map_action_idx": JOYSTICK,
    "AtariEnv.restore_state": EMULATOR,
    "AtariEnv.seed_game": "differs: `reset(seed=…)` seeds the game",
    UNIMPORTED: "can't: Gymnasium 1 loads no plugins; `pluriverse.adapters.gymnasium:` before the name imports us",
}
ALE: Final = Row(
    "AtariEnv.ale: all other methods",
    "can't: they step, save, or read the memory of an emulator that runs behind a screen",
)
REAL_TIME: Final = Row(
    "the same seed and actions give the same episode",
    "differs: time goes on while an agent thinks; `Sync` variants wait, and do with lossless pictures",
)

# Each wrapper that takes pixels and choices, with what it is to be given; nobody's screen is needed.
WRAPPERS: Final[dict[str, Callable[[Any], Any]]] = {
    "AddRenderObservation": wrappers.AddRenderObservation,
    "AddWhiteNoise": lambda env: wrappers.AddWhiteNoise(env, 0.5),
    "Autoreset": wrappers.Autoreset,
    "ClipReward": lambda env: wrappers.ClipReward(env, -1, 1),
    "DelayObservation": lambda env: wrappers.DelayObservation(env, 1),
    "DtypeObservation": lambda env: wrappers.DtypeObservation(env, np.float32),
    "FlattenObservation": wrappers.FlattenObservation,
    "FrameStackObservation": lambda env: wrappers.FrameStackObservation(env, 4),
    "GrayscaleObservation": wrappers.GrayscaleObservation,
    "MaxAndSkipObservation": lambda env: wrappers.MaxAndSkipObservation(env, 2),
    "NormalizeObservation": wrappers.NormalizeObservation,
    "NormalizeReward": wrappers.NormalizeReward,
    "OrderEnforcing": wrappers.OrderEnforcing,
    "PassiveEnvChecker": wrappers.PassiveEnvChecker,
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "RenderCollection": wrappers.RenderCollection,
    "ResizeObservation": lambda env: wrappers.ResizeObservation(env, (84, 84)),
    "StickyAction": lambda env: wrappers.StickyAction(env, 0.25),
    "TimeAwareObservation": lambda env: wrappers.TimeAwareObservation(wrappers.TimeLimit(env, 9)),
    "TimeLimit": lambda env: wrappers.TimeLimit(env, 9),
}
VECTOR_WRAPPERS: Final[dict[str, Callable[[Any], Any]]] = {
    "DictInfoToList": vector_wrappers.DictInfoToList,
    "NormalizeReward": vector_wrappers.NormalizeReward,
    "RecordEpisodeStatistics": vector_wrappers.RecordEpisodeStatistics,
    "ResizeObservation": lambda env: vector_wrappers.ResizeObservation(env, (84, 84)),
}

pytestmark = pytest.mark.filterwarnings("ignore:.*is out of date:DeprecationWarning")


def test_env_vectors_and_atari_have_and_do_all_that_gymnasiums_do(tmp_path: Path) -> None:
    with on_machine() as remote:
        place = remote.address
        of_atari = sorted(public(AtariEnv) - public(gymnasium.Env))
        rows = [
            *compare_members("Env.", PluriverseEnv, gymnasium.Env, REASONS),
            *compare_members("VectorEnv.", PluriverseVectorEnv, VectorEnv, REASONS),
            *(
                compare(f"AtariEnv({name}=…)", name in parameters(PluriverseEnv), REASONS)
                for name in parameters(AtariEnv)
            ),
            *compare_members("AtariEnv.", PluriverseEnv, AtariEnv, REASONS, of_atari),
            *compare_members("AtariEnv.ale.", Ale, ALEInterface, REASONS, sorted(public(Ale))),
            ALE,
        ]
        tried = [*making(place), *playing(place, tmp_path)]
    check_table("gymnasium", [*rows, *(compare(name, holds, REASONS) for name, holds in tried), REAL_TIME])


def public(original: type) -> set[str]:
    return {name for name in dir(original) if not name.startswith("_")}


def parameters(original: type) -> list[str]:
    return list(inspect.signature(original).parameters)


def making(place: str) -> Iterator[tuple[str, bool]]:
    """How environments are made, in a fresh interpreter where it matters what was imported."""
    pickled = pickle.dumps(gymnasium.spec(PONG))
    make = f"gymnasium.make({{name!r}}, remotes={place!r}).close()"
    ours = make.format(name=PONG)
    yield "gymnasium.make(name), once pluriverse is imported", runs(f"import gymnasium, pluriverse; {ours}")
    yield UNIMPORTED, runs(f"import gymnasium; {ours}")
    prefixed = make.format(name=f"pluriverse.adapters.gymnasium:{PONG}")
    yield "gymnasium.make(module:name), with nothing else imported", runs(f"import gymnasium; {prefixed}")
    yield (
        "a spec that was pickled makes its environment, with nothing else imported",
        runs(f"import pickle; pickle.loads({pickled!r}).make(remotes={place!r}).close()"),
    )
    spec = gymnasium.spec(PONG)
    yield "a spec is plain data, as JSON and back", EnvSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


def playing(place: str, folder: Path) -> Iterator[tuple[str, bool]]:
    """The contracts of environments and vectors, and the wrappers around them."""
    env = gymnasium.make(PONG, remotes=place, render_mode="rgb_array")
    try:
        checked = holds(check_env, env, skip_render_check=True, skip_close_check=True)
        yield "utils.env_checker.check_env passes", checked
        for name, wrap in WRAPPERS.items():
            yield f"wrappers.{name}", holds(play, wrap(env))
        with films() as written:
            recorder = wrappers.RecordVideo(env, str(folder / "films"), episode_trigger=lambda _: True)
            play(recorder)
            recorder.stop_recording()
        yield "wrappers.RecordVideo", len(written) == 1
    finally:
        env.close()
    breakout = gymnasium.make(BREAKOUT, remotes=place)
    try:
        yield "wrappers.AtariPreprocessing", holds(play, wrappers.AtariPreprocessing(breakout, noop_max=2))
    finally:
        breakout.close()
    vectors = gymnasium.make_vec(PONG, num_envs=1, remotes=place)
    try:
        for name, wrap in VECTOR_WRAPPERS.items():
            yield f"wrappers.vector.{name}", holds(play, wrap(vectors))
    finally:
        vectors.close()
    for mode in AutoresetMode:
        ours = PluriverseVectorEnv(CART, remotes=place, autoreset_mode=mode)
        try:
            yield f"VectorEnv's answers with AutoresetMode.{mode.name}", holds(assert_answers_as_gymnasium, ours)
        finally:
            ours.close()


def play(env: Any) -> None:
    """Take some steps, whose observations are in the space that the wrapper says."""
    observation, _ = env.reset(seed=1)
    for _ in range(6):
        assert observation in env.observation_space
        observation = env.step(env.action_space.sample())[0]


def holds(trial: Callable[..., object], *arguments: Any, **options: Any) -> bool:
    """Whether it goes through."""
    try:
        trial(*arguments, **options)
    except (AssertionError, gymnasium.error.Error, PluriverseError, TypeError, ValueError):
        return False
    return True


def runs(code: str) -> bool:
    """Whether a fresh interpreter runs it."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
