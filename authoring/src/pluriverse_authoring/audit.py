"""Audits tasks: that they can be solved, aren't solved by anything else, and are the same each time."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import random
import re
import string
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any, Final, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pluriverse.adapters.computer import Answer, Click, Computer, Press, Type
from pluriverse.adapters.computer.key_names import chord
from pluriverse.errors import PluriverseError
from pluriverse.runtimes import VARIABLE
from pluriverse_server.manifest.runtime import EnvTable, Manifest, load
from pluriverse_server.manifest.sources import TaskSource
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.task import Assignment
from pluriverse_server.task import Look, TaskError, described
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Column, Table

from pluriverse_authoring import AuthoringError

# What random play does in each seed, and what it may earn at the mean.
RANDOM_ACTS: Final = 20
RANDOM_SHARE: Final = 0.05
RANDOM_KEYS: Final = ("Return", "Tab", "Escape", "Delete", "Down", "Up", "space", "ctrl+a", "ctrl+s", "ctrl+v")

# A share of pixels that may differ between two beginnings in real time: of carets and clocks.
BLINKING: Final = 0.01

# What is shorter is in other texts by chance.
LEAST_SECRET_CHARS: Final = 4

Screen = NDArray[np.uint8]


@dataclass
class Found:
    """What came of the audit of one task: the shares that were earned, the times of beginnings, and what is wrong."""

    env_id: str
    earned: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    begins_s: list[float] = field(default_factory=list[float])
    begun: list[tuple[str, str, bytes]] = field(default_factory=list[tuple[str, str, bytes]])
    """Of each seed: words, parameters, and the first picture."""
    problems: list[str] = field(default_factory=list[str])

    def judge(self) -> None:
        """Find what is wrong with all seeds together."""
        if (share := float(np.mean(self.earned.get("random", [0.0])))) > RANDOM_SHARE:
            self.problems.append(f"random play earns {share:.2f}")
        words, parameters, pictures = (
            (set(column) for column in zip(*self.begun, strict=True)) if self.begun else ((),) * 3
        )
        if 2 * len(parameters) <= len(self.begun) and len(self.begun) > 1:
            self.problems.append(f"{len(self.begun)} seeds have {len(parameters)} different set-ups")
        elif len(parameters) > len(words) == len(pictures) == 1:
            self.problems.append("neither the words nor the first picture say what varies")


class Audit:
    """The audit of one task."""

    def __init__(self, directory: Path, manifest: Manifest, entry: EnvTable, source: TaskSource) -> None:
        self.found = Found(entry.id)
        self._manifest = manifest
        self._entry = entry
        self._source, self._directory = source, directory
        self._clock: Literal["realtime", "lockstep"] = (
            "lockstep" if "lockstep" in manifest.clocks(entry.id) else "realtime"
        )

    def run(self, computer: Computer, seeds: int) -> None:
        for seed in range(seeds):
            self._audit(computer, seed)
        self.found.judge()

    def _audit(self, computer: Computer, seed: int) -> None:
        # In lockstep the second beginning goes back to the first, so set-ups are compared as well.
        assignment, *made = self._made(seed)
        if made != [*self._made(seed)[1:]]:
            self._tell(seed, "it is set up differently the second time")
        parameters = dict(assignment.parameters)
        first = self._begin(computer, seed)
        self._compare_words(assignment, computer, first)
        pixels = computer.pixels().copy()
        self.found.begun.append((first.text, json.dumps(parameters, sort_keys=True), pixels.tobytes()))
        self._expect(seed, "nothing", self._graded(computer), 0.0)
        self._begin_again(computer, seed, first, pixels)
        self._act(seed, "oracle", assignment, lambda: assignment.task.oracle(dict(parameters), computer))
        self._expect(seed, "oracle", self._graded(computer), 1.0)
        self._begin_again(computer, seed, first, pixels)
        self._act_randomly(computer, random.Random(seed))  # noqa: S311
        self.found.earned.setdefault("random", []).append(self._graded(computer))
        for name in sorted(name for name in dir(assignment.task) if name.startswith("trap_")):
            trap = getattr(assignment.task, name)
            if list(inspect.signature(trap).parameters)[-1] == "computer":
                self._begin_again(computer, seed, first, pixels)
                self._act(seed, name, assignment, lambda trap=trap: trap(dict(parameters), computer))
                self._expect(seed, "traps", self._graded(computer), 0.0, name)
            else:
                self._check_trap(seed, name, trap, computer.pixels().shape)

    def _made(self, seed: int) -> tuple[Assignment, Mapping[str, Any], Mapping[str, bytes]]:
        """Return the task as it is set up for a seed, its parameters, and what is in its files."""
        with tempfile.TemporaryDirectory() as folder:
            assignment = self._set_up(seed, Path(folder))
            files = {
                str(path.relative_to(folder)): path.read_bytes()
                for path in sorted(Path(folder).rglob("*"))
                if path.is_file()
            }
        return assignment, assignment.parameters, files

    def _set_up(self, seed: int, home: Path) -> Assignment:
        """Set the task up beside the remote's, which does the same."""
        assignment = Assignment(self._source, self._directory, self._entry.id, home)
        assignment.set_up(seed)
        return assignment

    def _begin(self, computer: Computer, seed: int) -> Answer:
        began = time.monotonic()
        answer = computer.begin(seed, env=self._entry.id, clock=self._clock)
        self.found.begins_s.append(time.monotonic() - began)
        return answer

    def _begin_again(self, computer: Computer, seed: int, first: Answer, pixels: Screen) -> None:
        again = self._begin(computer, seed)
        if again.text != first.text or not self._alike(computer.pixels(), pixels):
            self._tell(seed, "it begins differently another time")

    def _graded(self, computer: Computer) -> float:
        if not computer.over:
            computer.submit()
        return computer.total_reward

    def _compare_words(self, assignment: Assignment, computer: Computer, first: Answer) -> None:
        """Find parameters that the words don't name, where an agent could read them beforehand."""
        if first.text != assignment.words:
            self.found.problems.append(f"the words are {first.text!r:.80}; expected {assignment.words!r:.80}")
        named = {name for _, name, _, _ in string.Formatter().parse(assignment.task.words) if name}
        hidden = {name: value for name, value in assignment.parameters.items() if name not in named}
        info = str(computer.standing().info)
        for name, value in hidden.items():
            # A part of a table is in the words by chance, as a column's heading is.
            public = info if isinstance(value, (dict, list)) else f"{self._entry.title} {first.text} {info}"
            for secret in _leaves(value):
                told = any(secret in str(assignment.parameters[each]) for each in named)
                public_too = re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", public) is not None
                if len(secret) >= LEAST_SECRET_CHARS and public_too and not told:
                    self.found.problems.append(f"what nobody was told can be read: {name} is {secret!r:.40}")

    def _check_trap(self, seed: int, name: str, trap: Callable[..., None], shape: Sequence[int]) -> None:
        """Grade an end that was made without the program, on a black screen and on any."""
        chance = np.random.default_rng(seed)
        screens = np.zeros(shape, np.uint8), chance.integers(0, 256, shape, np.uint8)
        with tempfile.TemporaryDirectory() as folder:
            assignment = self._set_up(seed, Path(folder))
            self._act(seed, name, assignment, lambda: trap(dict(assignment.parameters), Path(folder)))
            try:
                shares = [assignment.check(_look(Path(folder), screen)) for screen in screens]
            except SourceError as error:
                self._tell(seed, f"{name}: {error}")
                return
        self._expect(seed, "traps", max(shares), 0.0, name)
        if shares[0] != shares[1]:
            self._tell(seed, f"{name}: the check moves with the screen alone")

    def _act(self, seed: int, what: str, assignment: Assignment, do: Callable[[], None]) -> None:
        try:
            do()
        except PluriverseError as error:
            self._tell(seed, f"{what}: {error}")
        except Exception as error:  # noqa: BLE001 - it is the task's own
            self._tell(seed, f"{what}: {described(assignment.path, error)}")

    def _act_randomly(self, computer: Computer, chance: random.Random) -> None:
        for _ in range(RANDOM_ACTS):
            if computer.over:
                return
            at = chance.randrange(computer.view.width), chance.randrange(computer.view.height)
            word = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz ", k=8))
            keys = chord(chance.choice(RANDOM_KEYS))
            computer.do(chance.choice((Click(at=at), Click(at=at, count=2), Type(word), Press(keys))))

    def _alike(self, one: Screen, other: Screen) -> bool:
        differ = float((one != other).any(axis=2).mean())
        return differ <= (0.0 if self._clock == "lockstep" else BLINKING)

    def _expect(self, seed: int, what: str, earned: float, expected: float, name: str = "") -> None:
        self.found.earned.setdefault(what, []).append(earned)
        if abs(earned - expected) > 1e-6:
            self._tell(seed, f"{name or what} earns {earned:g}; expected {expected:g}")

    def _tell(self, seed: int, what: str) -> None:
        self.found.problems.append(f"seed {seed}: {what}")


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, (dict, list)):
        many = cast("dict[str, Any] | list[Any]", value)
        for each in many.values() if isinstance(many, dict) else many:
            yield from _leaves(each)
    else:
        yield str(value)


def _look(home: Path, screen: Screen) -> Look:
    def without(*_: Any) -> Any:
        raise TaskError("a trap that is made without the program has neither widgets nor a page; give it a computer")

    return Look(home, lambda: screen, without, without)


def audit(directory: Path, env_ids: Sequence[str], seeds: int) -> int:
    """Audit the tasks of a runtime, all or these, and print what was found; return the exit status."""
    directory = directory.absolute()
    manifest = load(directory)
    entries = [entry for entry in manifest.envs if not env_ids or entry.id in env_ids]
    unknown = set(env_ids) - {entry.id for entry in entries}
    tasks = [(entry, task) for entry in entries if (task := manifest.game(entry.id).task) is not None]
    if unknown or not tasks:
        what = f"no task {min(unknown)}" if unknown else "no tasks"
        raise AuthoringError(f"{directory}: {what}; expected classes in the tasks of a game's file")
    console = Console(soft_wrap=True)
    table = Table(Column("task", no_wrap=True), *_COLUMNS, "begins, ms", box=SIMPLE, padding=(0, 1))
    problems: list[str] = []
    with _found_in(directory):
        for found in _audits([Audit(directory, manifest, entry, task) for entry, task in tasks], seeds):
            table.add_row(*_row(found))
            problems += [f"{found.env_id}: {problem}" for problem in found.problems]
            console.print(f"{found.env_id}: {len(found.problems)} problems", highlight=False)
    console.print(table)
    for problem in problems:
        console.print(problem, markup=False, highlight=False)
    return 1 if problems else 0


@contextlib.contextmanager
def _found_in(directory: Path) -> Generator[None]:
    """Have remotes be started of the runtime in ``directory``."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(directory)
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        if before is not None:
            os.environ[VARIABLE] = before


def _audits(audits: Sequence[Audit], seeds: int) -> Iterator[Found]:
    """Run audits on remotes, one for each core, and yield what each finds, in their order."""
    free: list[Computer] = []
    try:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            yield from threads.map(_run, audits, repeat(seeds), repeat(free))
    finally:
        for computer in free:
            computer.close()


def _run(audit: Audit, seeds: int, free: list[Computer]) -> Found:
    """Run an audit on a remote that is free, or on another; one that breaks isn't used again."""
    with contextlib.ExitStack() as opened:
        try:
            computer = opened.enter_context(free.pop() if free else Computer(audit.found.env_id, "local:1", clock=None))
            audit.run(computer, seeds)
            free.append(computer)
            opened.pop_all()
        except (PluriverseError, TaskError) as error:
            audit.found.problems.append(f"{type(error).__name__}: {error}")
    return audit.found


def _row(found: Found) -> list[str]:
    shares = [f"{np.mean(earned):.2f}" if (earned := found.earned.get(what)) else "-" for what in _COLUMNS]
    times = ", ".join(f"{1000 * np.percentile(found.begins_s, p):.0f}" for p in (50, 95)) if found.begins_s else "-"
    return [found.env_id, *shares, times]


_COLUMNS: Final = ("oracle", "nothing", "random", "traps")
