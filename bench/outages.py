"""Injects faults into remotes while one agent plays them all, and measures how long it was without fresh pictures.

The agent steps several remotes at once; each has one fault after another, by the process ids of what was started here.
What the agent was given is compared with the books that the program keeps: see ``books``.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pluriverse
import psutil
from books import Audit, Ledger
from pluriverse.env.vector import VectorEnv
from pluriverse.remotes import Address, Attached, Progress, parse
from pluriverse.remotes.address import VNC_PORT
from pluriverse.remotes.manager import no_progress
from pluriverse.rewarder.result import Result
from pluriverse.runtimes import VARIABLE
from processes import DAEMON, PROGRAM, parts_of_remote
from relay import HOST, relaying
from rich.console import Console
from rich.progress import Progress as Bar

ENV_ID: Final = "earning.Earning-v0"
RUNTIME: Final = Path(__file__).with_name("earning")
START_S: Final = 60.0

# A remote gives up at five crashes within a minute, which is another case than one crash after the other.
SPACING_S: Final = 15.5

# Pictures older than this aren't fresh: several frames, and what a busy machine makes of them.
FRESH_S: Final = 0.25

# An outage is over when pictures have been fresh for so long, so that one which flickers counts to its end.
CALM_S: Final = 1.0

# A remote that isn't back by then is counted as such, and what was stopped goes on.
HOPELESS_S: Final = 60.0

# An agent's loop.
STEP_S: Final = 0.02

X_SERVER: Final = "Xvfb"
VNC_SERVER: Final = "X0tigervnc"
PARTS: Final = {"program": PROGRAM, "X": X_SERVER, "VNC": VNC_SERVER, "daemon": DAEMON}


@dataclass
class Fault:
    """One fault, from its moment until the agent has fresh pictures again; times are UNIX seconds."""

    kind: str
    ends_episode: bool
    at: float
    undo: Callable[[], None]
    """Ends it where it ends by itself, and cleans up after one that nobody healed."""
    lasts_s: float | None = None
    fresh_since: float | None = None
    ends: int = 0
    outage_s: float | None = None

    @property
    def from_s(self) -> float:
        """When nothing is in the way of fresh pictures any more: its moment, or its end where it ends by itself."""
        return self.at + (self.lasts_s or 0.0)

    @property
    def false_ends(self) -> int:
        """How many episodes were ended beside the one that the fault ends itself."""
        return max(0, self.ends - self.ends_episode)


@dataclass(frozen=True)
class Found:
    """All faults of a section, and what the books say."""

    faults: Sequence[Fault]
    audit: Audit

    def outages(self, kind: str) -> list[float]:
        """Seconds of each outage of a kind; of remotes that didn't come back, the time that was waited."""
        return [fault.outage_s or 0.0 for fault in self.faults if fault.kind == kind]

    @property
    def hopeless(self) -> int:
        """How many didn't heal."""
        return sum((fault.outage_s or 0.0) >= HOPELESS_S for fault in self.faults)

    @property
    def false_ends(self) -> int:
        """Of all faults."""
        return sum(fault.false_ends for fault in self.faults)


class Noted:
    """Local remotes, whose present addresses are to be known; a ``RemoteManager``."""

    def __init__(self, n: int, env_id: str = ENV_ID) -> None:
        self._local = parse(f"local:{n}", env_id, start_timeout_s=START_S)
        self.addresses: list[Address] = []

    @property
    def n(self) -> int:
        """How many."""
        return self._local.n

    def start(self, progress: Progress) -> Sequence[Address]:
        """See ``RemoteManager.start``."""
        self.addresses = list(self._local.start(progress))
        return self.addresses

    def replace(self, index: int) -> Address:
        """See ``RemoteManager.replace``."""
        self.addresses[index] = self._local.replace(index)
        return self.addresses[index]

    def close(self) -> None:
        """See ``RemoteManager.close``."""
        self._local.close()

    def parts(self, index: int) -> dict[str, psutil.Process]:
        """Return the processes of a remote, daemon first; empty while it is away."""
        port = str(self.addresses[index].rewarder_port)
        for process in psutil.Process().children():
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()
                if "pluriverse_server" in words and port in words:
                    return parts_of_remote(process.pid)
        return {}


# Makes the fault of an index, which has happened; None while the remote isn't complete.
Inject = Callable[[int], Fault | None]


def kill_and_stop(remotes: Noted, signum: signal.Signals, count: int, ledger: Ledger) -> Inject:
    """Return what sends ``signum`` to the program, the X server, the VNC server and the daemon in turns."""
    word = "killed" if signum is signal.SIGKILL else "stopped"
    kinds = [part for _, part in zip(range(count), _cycle(PARTS), strict=False)]

    def inject(index: int) -> Fault | None:
        processes = remotes.parts(index)
        if not set(PARTS.values()) <= set(processes):
            return None
        part = kinds[-1]
        victim = processes[PARTS[part]]
        at = time.time()
        victim.send_signal(signum)
        kinds.pop()
        if part == "daemon":
            ledger.doomed.add(processes[PROGRAM].pid)
        return Fault(f"{part} {word}", part != "VNC", at, lambda: _go_on([victim]))

    return inject


def pause(remotes: Noted, shortest_s: float, longest_s: float) -> Inject:
    """Return what stops all of a remote for a while, as ``docker pause`` does."""

    def inject(index: int) -> Fault | None:
        processes = list(remotes.parts(index).values())
        if not processes:
            return None
        at = time.time()
        for process in processes:
            process.suspend()
        return Fault("paused", False, at, lambda: _go_on(processes), random.uniform(shortest_s, longest_s))

    return inject


def play(
    env: VectorEnv, name: str, inject: Inject, count: int, seconds: float, ledger: Ledger, spacing_s: float
) -> list[Fault]:
    """Play until ``count`` faults have happened and were healed, or ``seconds`` have passed; return them."""
    done: list[Fault] = []
    under_way: dict[int, Fault] = {}
    free_at = dict.fromkeys(range(env.n), time.time() + CALM_S)
    until = time.monotonic() + seconds
    injected = 0
    env.reset()
    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=count)
        fresh_since: dict[int, float | None] = dict.fromkeys(range(env.n))
        while under_way or (injected < count and time.monotonic() < until):
            time.sleep(STEP_S)
            results = env.poll(range(env.n))
            now = time.time()
            for index, result in results.items():
                _enter(ledger, result)
                fault = under_way.get(index)
                since = fault.from_s if fault is not None else 0.0
                fresh_since[index] = (fresh_since[index] or now) if _is_fresh(result, since, now) else None
                if fault is not None:
                    fault.ends += result.done and not result.terminated
                    if _is_over(fault, fresh_since[index], now):
                        done.append(under_way.pop(index))
                        free_at[index] = fault.at + spacing_s
                        bar.update(task, completed=len(done))
                elif injected < count and time.monotonic() < until and free_at[index] < now and fresh_since[index]:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        if (begun := inject(index)) is not None:
                            under_way[index] = begun
                            fresh_since[index] = None
                            injected += 1
        _calm_down(env, ledger)
    return done


def _enter(ledger: Ledger, result: Result) -> None:
    name = result.info.get("books")
    if name is not None:
        ledger.given[name] += result.reward


def _is_fresh(result: Result, since: float, now: float) -> bool:
    painted_at = result.image_remote_time
    return not result.masked_observation and painted_at is not None and painted_at > max(since, now - FRESH_S)


def _is_over(fault: Fault, fresh_since: float | None, now: float) -> bool:
    """End a fault whose time has come; return whether the remote plays again, or never will."""
    if fault.lasts_s is not None and now >= fault.from_s:
        fault.undo()
        # What the loop was late is no outage.
        fault.lasts_s, fault.at = None, now
    if fresh_since is not None and now - fresh_since > CALM_S:
        fault.outage_s = fresh_since - fault.from_s
    elif now - fault.from_s > HOPELESS_S:
        fault.outage_s = HOPELESS_S
        fault.undo()
    return fault.outage_s is not None


def _calm_down(env: VectorEnv, ledger: Ledger) -> None:
    """Take what is still on its way."""
    until = time.monotonic() + CALM_S
    while time.monotonic() < until:
        time.sleep(STEP_S)
        for result in env.poll(range(env.n)).values():
            _enter(ledger, result)


def _go_on(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.resume()


def _cycle(parts: dict[str, str]) -> Iterator[str]:
    while True:
        yield from parts


# ── sections ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Plan:
    """How much is done: faults in all, seconds of a section at most, remotes at once."""

    faults: int
    seconds: float
    remotes: int
    longest_blackout_s: float = 20.0
    said: Callable[[str], None] = field(default=print)


def killed(plan: Plan) -> Found:
    """Kill each part in turns; two fifths of all faults."""
    return _signalled(plan, signal.SIGKILL)


def stopped(plan: Plan) -> Found:
    """Stop each part in turns; two fifths of all faults."""
    return _signalled(plan, signal.SIGSTOP)


def paused(plan: Plan) -> Found:
    """Stop all of a remote for one to eight seconds; a tenth of all faults.

    The agent is attached, as to remotes that somebody else runs: it can only wait, and replaces none.
    """
    with _books() as books, contextlib.closing(Noted(plan.remotes)) as remotes:
        there = remotes.start(no_progress)
        return _attached(plan, "paused", there, pause(remotes, 1.0, 8.0), books)


def blackouts(plan: Plan) -> Found:
    """Silence both lines to a remote for a while; a tenth of all faults."""
    with _books() as books, contextlib.closing(Noted(plan.remotes)) as remotes:
        there = remotes.start(no_progress)
        ports = [(each.vnc_port or VNC_PORT, each.rewarder_port) for each in there]
        with relaying([port for both in ports for port in both]) as relay:

            def inject(index: int) -> Fault:
                both = ports[index]
                at = time.time()
                relay.silence(both, silent=True)
                lasts_s = random.uniform(1.0, plan.longest_blackout_s)
                return Fault("blackout", False, at, lambda: relay.silence(both, silent=False), lasts_s)

            relayed = [
                Address(HOST, *(relay.ports[port] for port in both), password=each.password)
                for each, both in zip(there, ports, strict=True)
            ]
            return _attached(plan, "blackouts", relayed, inject, books)


def _attached(plan: Plan, name: str, addresses: Sequence[Address], inject: Inject, books: Path) -> Found:
    ledger = Ledger()
    with contextlib.closing(pluriverse.make(ENV_ID, remotes=Attached(addresses))) as env:
        faults = play(env, name, inject, _share(plan, 10), plan.seconds, ledger, 0.0)
    return _found(plan, faults, ledger, books)


def _signalled(plan: Plan, signum: signal.Signals) -> Found:
    with _books() as books:
        remotes = Noted(plan.remotes)
        with contextlib.closing(pluriverse.make(ENV_ID, remotes=remotes)) as env:
            ledger, count = Ledger(), _share(plan, 2.5)
            inject = kill_and_stop(remotes, signum, count, ledger)
            name = "killed" if signum is signal.SIGKILL else "stopped"
            faults = play(env, name, inject, count, plan.seconds, ledger, SPACING_S)
        return _found(plan, faults, ledger, books)


def _share(plan: Plan, part: float) -> int:
    return max(1, round(plan.faults / part))


def _found(plan: Plan, faults: Sequence[Fault], ledger: Ledger, books: Path) -> Found:
    audit = ledger.audit(books)
    for line in audit.wrong:
        plan.said(line)
    return Found(faults, audit)


@contextlib.contextmanager
def _books() -> Generator[Path]:
    """Put the runtime into a folder of its own, where its program may write whoever it runs as; yield its books."""
    place = Path(tempfile.mkdtemp(prefix="pluriverse-faults-"))
    before = os.environ.get(VARIABLE)
    try:
        place.chmod(0o755)
        runtime = Path(shutil.copytree(RUNTIME, place / RUNTIME.name))
        books = runtime / "books"
        books.mkdir()
        books.chmod(0o1777)
        os.environ[VARIABLE] = str(place)
        yield books
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before
        shutil.rmtree(place, ignore_errors=True)
