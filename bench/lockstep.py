"""Steps a second in lockstep, beside the same games in the agent's own process, EnvPool and Gymnasium's vectors.

And what it costs not to step: while the agent thinks, and where the same game is played in real time.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import urlopen

import ale_py
import envpool as envpool_itself
import gymnasium
import numpy as np
import psutil
import vizdoom
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
from pluriverse.adapters import envpool
from pluriverse.adapters.gymnasium import PluriverseEnv
from report import Effort, Figures, Line, Measurement, Target
from support.remotes import ROOT, MachineRemote, engine_has_image, on_machine

PONG: Final = "gym-core.PongNoFrameskip-v3"
GAME: Final = "desktop.SlimeVolley-v0"
NOISY: Final = "desktop.HexAHop-v0"
GAME_BINARY: Final = "slimevolley"
MANY: Final = 16
PROCESSES: Final = 8
SKIP: Final = 4
SIZE: Final = 84
STEPS: Final = 20
PERCENT: Final = 100
SETTLE_S: Final = 3.0
LOOK_S: Final = 0.1


def run(effort: Effort) -> Figures:
    """Steps a second of what is compared, in turns; per cent of a core while the agent thinks."""
    rounds = effort.of(12, 4)
    gymnasium.register_envs(ale_py)
    with ExitStack() as stack:
        makers = [*ONE.items(), *(ONE_IN_DOCKER.items() if engine_has_image() else ())]
        one = {name: stack.enter_context(make()) for name, make in makers}
        figures = _turns(one, rounds, 10 * STEPS)
    # Where no other is played beside it.
    with _one(PONG, "local:1") as step:
        figures |= _still(step, effort.of(60, 10))
    for makers in (DOOM, SOUND):
        with ExitStack() as stack:
            steps = {name: stack.enter_context(make()) for name, make in makers.items()}
            figures |= _turns(steps, rounds, 2 * STEPS)
    with ExitStack() as stack:
        many = {name: stack.enter_context(make()) for name, make in VECTORS.items()}
        steps = {name: step for name, (step, _) in many.items()}
        of_all = _turns(steps, rounds, STEPS)
        figures |= {name: rate * many[name][1] for name, rate in of_all.items()}
    return figures | _in_real_time(effort.of(60, 10))


def _turns(steps: Mapping[str, Callable[[], Any]], rounds: int, count: int) -> Figures:
    rates: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            began = time.perf_counter()
            for _ in range(count):
                step()
            rates[name].append(count / (time.perf_counter() - began))
    return {name: float(np.median(each)) for name, each in rates.items()}


def _still(step: Callable[[], Any], seconds: float) -> Figures:
    """Per cent of a core that the program, and the whole remote, take while nobody steps it."""
    step()
    # What was shown last is drawn a moment later, and what a start leaves to do is done.
    time.sleep(SETTLE_S)
    before = {process: _cpu(process) for process in psutil.Process().children(recursive=True) if _is_ours(process)}
    time.sleep(seconds)
    spent = {process: _cpu(process) - cpu for process, cpu in before.items() if process.is_running()}
    program = sum(cpu for process, cpu in spent.items() if "main.py" in process.cmdline())
    return {"still": PERCENT * program / seconds, "still_remote": PERCENT * sum(spent.values()) / seconds}


def _is_ours(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def _cpu(process: psutil.Process) -> float:
    """Seconds that the threads of a process have run; finer than the hundredths that it says of itself."""
    threads = Path(f"/proc/{process.pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def _in_real_time(seconds: float) -> Figures:
    """Per cent of a core that a game takes in real time where it has lockstep too, and where it hasn't."""
    with ExitStack() as stack:
        plain = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "desktop"
        shutil.copytree(ROOT / "runtimes/desktop", plain, ignore=shutil.ignore_patterns("recordings"))
        for game in (plain / "games").glob("*.toml"):
            game.write_text(re.sub(r"(?m)^clock = .*\n", "", game.read_text()))
        remotes = [stack.enter_context(on_machine("--env", GAME, runtime=name)) for name in ("desktop", str(plain))]
        for remote in remotes:
            while not _is_ready(remote):
                time.sleep(LOOK_S)
        time.sleep(SETTLE_S)
        processes = [_games(remote) for remote in remotes]
        before = [sum(map(_cpu, each)) for each in processes]
        time.sleep(seconds)
        spent = [sum(map(_cpu, each)) - cpu for each, cpu in zip(processes, before, strict=True)]
    return {"real_time": PERCENT * spent[0] / seconds, "real_time_alone": PERCENT * spent[1] / seconds}


def _is_ready(remote: MachineRemote) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{remote.port}/readyz") as answer:
            return answer.status == HTTPStatus.OK
    except HTTPError:
        return False


def _games(remote: MachineRemote) -> list[psutil.Process]:
    children = psutil.Process(remote.process.pid).children(recursive=True)
    return [process for process in children if GAME_BINARY in process.name()]


@contextmanager
def _one(env_id: str, remotes: str, **options: Any) -> Generator[Callable[[], Any]]:
    env = PluriverseEnv(env_id, remotes=remotes, clock="lockstep", **options)
    try:
        yield _stepping(env, env.action_space.n)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
    finally:
        env.close()


@contextmanager
def _one_itself() -> Generator[Callable[[], Any]]:
    env = gymnasium.make("PongNoFrameskip-v4")
    try:
        yield _stepping(env, 6)
    finally:
        env.close()


@contextmanager
def _doom_itself() -> Generator[Callable[[], Any]]:
    """ViZDoom with the pictures and buttons of the runtime."""
    game = vizdoom.DoomGame()
    game.load_config(str(Path(vizdoom.scenarios_path) / "basic.cfg"))
    game.set_screen_resolution(vizdoom.ScreenResolution.RES_640X480)
    game.set_screen_format(vizdoom.ScreenFormat.RGB24)
    game.set_window_visible(False)
    # It leaves a file and a folder where it is started.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        game.set_doom_config_path(str(Path(folder) / "engine.ini"))
        game.init()
        try:
            game.new_episode()
            actions = np.random.default_rng(0)
            nothing = [0.0] * game.get_available_buttons_size()

            def step() -> Any:
                pressed = int(actions.integers(len(nothing) + 1))
                game.make_action([float(button == pressed - 1) for button in range(len(nothing))])
                state: Any = game.get_state()
                if state is None:
                    game.new_episode()
                    state = game.get_state()
                return state.screen_buffer

            yield step
        finally:
            game.close()


def _stepping(env: gymnasium.Env[Any, Any], n: int) -> Callable[[], None]:
    env.reset(seed=0)
    actions = np.random.default_rng(0)

    def step() -> None:
        _, _, terminated, truncated, _ = env.step(int(actions.integers(n)))
        if terminated or truncated:
            env.reset()

    return step


Vector = tuple[Callable[[], Any], int]


@contextmanager
def _pool(module: Any, **options: Any) -> Generator[Vector]:
    pool = module.make_gymnasium("Pong-v5", num_envs=MANY, seed=0, **options)
    try:
        pool.reset()
        actions = np.zeros(MANY, np.int32)
        yield lambda: pool.step(actions), MANY
    finally:
        pool.close()


@contextmanager
def _processes() -> Generator[Vector]:
    vector = gymnasium.vector.AsyncVectorEnv([_preprocessed] * PROCESSES)
    try:
        vector.reset(seed=0)
        actions = np.zeros(PROCESSES, np.int64)
        yield lambda: vector.step(actions), PROCESSES
    finally:
        vector.close()


def _preprocessed() -> gymnasium.Env[Any, Any]:
    gymnasium.register_envs(ale_py)
    env = gymnasium.make("PongNoFrameskip-v4")
    return FrameStackObservation(AtariPreprocessing(env, frame_skip=SKIP, screen_size=SIZE), SKIP)


ONE: Final[Mapping[str, Callable[[], Any]]] = {"one": partial(_one, PONG, "local:1"), "one_itself": _one_itself}
ONE_IN_DOCKER: Final[Mapping[str, Callable[[], Any]]] = {"docker": partial(_one, PONG, "docker:1")}
DOOM: Final[Mapping[str, Callable[[], Any]]] = {
    "doom": partial(_one, "doom.Basic-v0", "local:1"),
    "doom_itself": _doom_itself,
}
SOUND: Final[Mapping[str, Callable[[], Any]]] = {
    "heard": partial(_one, NOISY, "local:1", frame_skip=SKIP, audio=True),
    "unheard": partial(_one, NOISY, "local:1", frame_skip=SKIP),
}
VECTORS: Final[Mapping[str, Callable[[], Any]]] = {
    "many": partial(_pool, envpool, remotes="local:1", clock="lockstep"),
    "many_envpool": partial(_pool, envpool_itself),
    "many_processes": _processes,
}

MEASUREMENT: Final = Measurement(
    "lockstep",
    (
        Line(
            "Pong, 210x160x3, one environment on this machine, a frame a step",
            "steps/s",
            "one",
            Target(low=3000),
            "one_itself",
            "Gymnasium in its own process",
        ),
        Line(
            "the same in a container, over loopback TCP",
            "steps/s",
            "docker",
            Target(low=0.5, of_plain=True),
            "one",
            "as processes of this machine",
        ),
        Line(
            f"Pong x{MANY}, 84x84 grey stacks, {SKIP} frames a step",
            "steps/s",
            "many",
            Target(low=0.5, of_plain=True),
            "many_envpool",
            "EnvPool",
        ),
        Line(
            f"the same beside AsyncVectorEnv x{PROCESSES}",
            "steps/s",
            "many",
            Target(low=2, of_plain=True),
            "many_processes",
            "AsyncVectorEnv",
        ),
        Line(
            "Doom's Basic, 640x480x3, a tic a step",
            "steps/s",
            "doom",
            Target(low=0.5, of_plain=True),
            "doom_itself",
            "ViZDoom in its own process",
        ),
        Line(
            f"Hex-a-hop, 800x600x3, {SKIP} frames a step, with what it plays",
            "steps/s",
            "heard",
            Target(low=0.95, of_plain=True),
            "unheard",
            "without",
        ),
        Line("standing still while the agent thinks: the program", "% of a core", "still", Target(0.1)),
        Line("the whole remote, with its daemon and servers", "% of a core", "still_remote", Target(0.1)),
        Line(
            "a game of desktop in real time that has lockstep, too",
            "% of a core",
            "real_time",
            Target(1.02, 0.98, of_plain=True),
            "real_time_alone",
            "the same without lockstep",
        ),
    ),
    run,
)
