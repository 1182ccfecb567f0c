"""Ctrl-C at any line of a call: the next call gives the answer that was still to come, or says to reset."""

from __future__ import annotations

import contextlib
import linecache
import random
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np
import pluriverse
import pytest
from pluriverse.adapters import alf, dm_env, envpool
from pluriverse.adapters.computer import Computer, Press
from pluriverse.adapters.core import Core
from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv
from pluriverse.errors import Misuse, ResetNeeded

pytestmark = pytest.mark.display

POLE: Final = "gym-core.CartPole-v0"
SOURCES: Final = str(Path(pluriverse.__file__).parent)
LEFT: Final = 0
STEPS: Final = 5
# So that episodes end, and the next ones begin, in the middle.
LIMIT: Final = 2
TRIALS: Final = 8


class CtrlC:
    """Presses Ctrl-C at one line of our sources; ``pressed`` is where."""

    def __init__(self, line: int) -> None:
        self.left = line
        self.pressed: FrameType | None = None

    def __enter__(self) -> CtrlC:
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(SOURCES):
            return None
        # Python calls no handler between the last line of a with and its end, where a lock is let go of.
        code = frame.f_code.co_filename
        if event == "line" and not linecache.getline(code, frame.f_lineno).lstrip().startswith("with "):
            self.left -= 1
            if not self.left:
                # The end of a with belongs to who wrote it.
                self.pressed = frame.f_back if frame.f_code.co_name == "__exit__" else frame
                signal.raise_signal(signal.SIGINT)
        return self._trace


class Played:
    """One environment by some interface: ``reset`` and ``step`` return all that it answers."""

    def __init__(self, env: Any, reset: Callable[[Any], Any], action: Any) -> None:
        self.env = env
        self.reset: Callable[[], Any] = lambda: flat(reset(env))
        self.step: Callable[[], Any] = lambda: flat(env.step(action))
        self.close: Callable[[], Any] = env.close


def flat(answer: Any) -> str:
    """Return an answer in a form that can be compared."""
    with np.printoptions(threshold=sys.maxsize):
        match answer:
            case dict():
                return str({key: flat(value) for key, value in answer.items()})  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            case np.ndarray() if answer.dtype != object:  # pyright: ignore[reportUnknownMemberType]
                return str((answer.dtype, answer.shape, hash(answer.tobytes())))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
            case tuple() | list() | np.ndarray():
                return str([flat(each) for each in answer])  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            case _:
                return str(answer)


def played_by(interface: str, address: str, clock: str) -> Played:
    options: dict[str, Any] = {"clock": clock, "max_episode_steps": LIMIT}
    both = np.array([LEFT, LEFT])
    match interface:
        case "gymnasium":
            return Played(PluriverseEnv(POLE, remotes=address, clock=clock), lambda env: env.reset(seed=3), LEFT)
        case "NextStep" | "SameStep":
            more: dict[str, Any] = {"slots": 2, "measured": False, "autoreset_mode": interface, **options}
            env = PluriverseVectorEnv(POLE, num_envs=2, remotes=address, **more)
            return Played(env, lambda env: env.reset(seed=3), both)
        case "dm_env":
            env = dm_env.load(POLE, address, clock=clock)

            def reset(env: Any) -> Any:
                env._seed = 3
                return env.reset()

            return Played(env, reset, LEFT)
        case "envpool":
            n = 2 if clock == "lockstep" else 1
            env = envpool.make_gymnasium(POLE, num_envs=n, remotes=address, seed=3, **options)

            def begin(env: Any) -> Any:
                for game in env._games:
                    game._seed, game._random = 3, random.Random(3)
                return env.reset()

            return Played(env, begin, both[:n])
        case _:
            env = alf.PluriverseAlfEnvironment(POLE, address, batch_size=2, slots=2, **options)

            def seeded(env: Any) -> Any:
                env.seed(3)
                return env.reset()

            return Played(env, seeded, both)


INTERFACES: Final = ["gymnasium", "NextStep", "SameStep", "dm_env", "envpool", "alf"]


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_run_that_is_interrupted_anywhere_goes_on_as_if_it_was_not_or_says_to_reset(
    interface: str, address: str
) -> None:
    with contextlib.closing(played_by(interface, address, "lockstep")) as played:
        expected = [played.reset(), *(played.step() for _ in range(STEPS))]
        for line in lines_of(played):
            said: list[str] = []
            where = interrupted(played, line, said)
            answered = len(said)
            if not goes_on(played, said):
                said = [played.reset()]
            while len(said) < len(expected):
                said.append(played.step())
            # An answer that was on its way to the caller, and to nobody else, can't be had again.
            without = expected[:answered] + expected[answered + 1 :]
            in_core = re.search(r"/adapters/(core|backend|lockstep)\.py", where)
            assert said == expected or (in_core is None and said[:-1] == without), where


@pytest.mark.parametrize("interface", ["gymnasium", "envpool"])
def test_in_real_time_too_the_next_call_goes_on_or_says_to_reset(interface: str, address: str) -> None:
    with contextlib.closing(played_by(interface, address, "realtime")) as played:
        for line in lines_of(played):
            said: list[str] = []
            interrupted(played, line, said)
            if not goes_on(played, said):
                played.reset()
            played.step()


def goes_on(played: Played, said: list[str]) -> bool:
    """Go on after an interrupted call; return whether it could, and wasn't told to reset."""
    why = ""
    try:
        said.append(played.step() if said else played.reset())
    except ResetNeeded as error:
        why = str(error)
    assert not why or "call reset()" in why
    return not why


def lines_of(played: Played) -> list[int]:
    """Some lines of a reset and the first two steps, each of which is passed anew."""
    with CtrlC(0) as reset:
        played.reset()
    with CtrlC(0) as steps:
        played.step()
        played.step()
    drawn = random.Random(1)
    within = range(-reset.left, -reset.left - steps.left)
    return [*drawn.sample(range(1, -reset.left), TRIALS // 4), *drawn.sample(within, TRIALS - TRIALS // 4)]


def interrupted(played: Played, line: int, said: list[str]) -> str:
    """Press Ctrl-C at a line of a run; return where it was."""
    ctrl_c = CtrlC(line)
    with contextlib.suppress(KeyboardInterrupt), ctrl_c:
        said.append(played.reset())
        said.append(played.step())
        said.append(played.step())
    return f"{ctrl_c.pressed}, {len(said)} answers"


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
def test_the_step_after_an_interrupted_one_gives_its_answer(
    clock: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.closing(PluriverseEnv(POLE, remotes=address, clock=clock)) as env:
        env.reset(seed=1)
        press_at_wait(env.core, monkeypatch)
        with pytest.raises(KeyboardInterrupt):
            env.step(0)
        with pytest.raises(
            Misuse, match="receive that answer first: with recv, or after an interrupted step with the next"
        ):
            env.core.send({0: 1})
        env.step(0)
        assert env.core.result(0).elapsed == 1
        env.step(0)
        assert env.core.result(0).elapsed == 2


def test_a_computer_goes_on_after_an_interrupted_act(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Computer(POLE, address, clock="lockstep") as computer:
        computer.begin(1)
        press_at_wait(computer._core, monkeypatch)  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(KeyboardInterrupt):
            computer.do(Press((ord("x"),)))
        computer.send([], frames=2)
        status = computer.standing()
        assert status.elapsed == 3
        assert status.reward == computer.total_reward == 3.0


def press_at_wait(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C as soon as an answer is waited for."""

    def wait(count: int, timeout_s: float = 0.0) -> None:
        monkeypatch.undo()
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(core, "wait", wait)
