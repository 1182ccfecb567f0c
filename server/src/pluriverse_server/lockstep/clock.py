"""The clock that is preloaded into a program: the end that lets it go on. Blocking, for one thread at a time."""

from __future__ import annotations

import ctypes
import itertools
import os
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Collection, Sequence
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from pluriverse_protocol.sound import CHANNELS, FRAME_BYTES

LIBRARY: Final = Path(__file__).parent / "preloaded.so"

# For the X server of a program whose moments are kept.
XSERVER_LIBRARY: Final = LIBRARY.with_name("xserver.so")
XSERVER_HUB_VARIABLE: Final = "PLURIVERSE_HUB"

# How programs find the page of their clock.
PAGE_VARIABLE: Final = "PLURIVERSE_CLOCK"

# In the folder that a clock is given.
PAGE_NAME: Final = "clock"

# 1 January 2026. What a program makes of the date follows from the seed, as one that begins with it expects to vary.
EPOCH_S: Final = 1_767_225_600
SEEDS_S: Final = 300_000_000

NS: Final = 1_000_000_000

# A step of a program that isn't done by then is late: one that computes for so long may never wait.
PATIENCE_S: Final = 5.0

# Where this is set, a program's clock counts who asks for the time and for random numbers.
ASKED_VARIABLE: Final = "PLURIVERSE_ASKED"

_ASKED_CHARS: Final = 128
_TURNS_CHARS: Final = 128

# How often to see whether the program has come to its clock.
LOOK_S: Final = 0.005

# Order in hash tables is chance, too; Mesa's threads would draw in any order, and OpenMP's wait where nothing sees it.
# Mono's counters, in a file that all worlds would share. The last digits of libm's are others on processors with FMA.
_ENVIRONMENT: Final = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4",
    "PERL_HASH_SEED": "0",
    "PYTHONHASHSEED": "0",
    "QT_HASH_SEED": "0",
    "LP_NUM_THREADS": "0",
    "OMP_NUM_THREADS": "1",
    "MONO_DISABLE_SHARED_AREA": "1",
    "mesa_glthread": "false",
}


class NoClock(Exception):
    """The clock can't be preloaded; the message gives the reason and the fix."""


class Advance(Enum):
    DONE = 0
    """All that was to happen in it has, and all of the program waits."""
    LATE = 1
    """The program still computes. Its clock is behind, and the next step makes up for that."""
    ENDED = 2
    """The program has ended."""


class Phase(Enum):
    """What a thread does, as the page has it."""

    FREE = 0
    RUNS = 1
    WAITS = 2
    READY = 3


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread that has come to the clock, and the number of its slot."""

    slot: int
    phase: Phase
    pid: int
    tid: int


@dataclass(frozen=True, slots=True)
class Kin:
    """A process that others may wait for: its parent, 0 if that is none of them, and its wait status once it ended."""

    parent: int
    pid: int
    status: int | None = None


@dataclass(frozen=True, slots=True)
class KeptClock:
    """A clock as it was at a moment, with all that its page says of the program's threads."""

    page: bytes
    rest_ns: float


class PreloadedClock:
    """The clock of one program and its children. ``command`` returns its command line; ``close`` ends no program."""

    def __init__(self, folder: Path, *, seed: int, frame_time: float) -> None:
        """``folder`` is private and stays until the program has ended. ``frame_time`` is between two buffer swaps."""
        self._library = library()
        self.page = folder / PAGE_NAME
        self._control: int | None = self._library.lockstep_open(
            os.fsencode(self.page), _epoch_ns(seed), round(frame_time * NS), seed % 2**64
        )
        if self._control is None:
            raise NoClock(f"the page of a clock can't be made: {self.page}: {os.strerror(ctypes.get_errno())}")
        if os.environ.get(ASKED_VARIABLE):
            self._library.lockstep_count(self._control)
        self._rest_ns = 0.0
        # A page isn't given back under a step that another thread still takes.
        self._lock = threading.Lock()

    def command(self, command: Sequence[str], *, before: Sequence[Path] = ()) -> list[str]:
        """Return ``command`` so that it runs by this clock, and where the machine lets it, with the same addresses.

        Without privileges of its files' (set-uid), since such programs have nothing preloaded. ``before``: what is
        preloaded before the clock.
        """
        same_addresses = ["setarch", "-R"] if can_fix_addresses() else []
        preloaded = ":".join(map(str, (*before, LIBRARY)))
        environment = {"LD_PRELOAD": preloaded, PAGE_VARIABLE: str(self.page), **_ENVIRONMENT}
        variables = [f"{name}={value}" for name, value in environment.items()]
        return ["setpriv", "--no-new-privs", *same_addresses, "env", *variables, *command]

    def watch(self, pid: int) -> None:
        """Wait for process ``pid``, too, whenever the program waits: for its X server, which may have to answer it."""
        self._library.lockstep_watch(self._control, pid)

    def turns(self) -> bytes:
        """Return what changes with each turn of the watched process; nothing: that isn't known."""
        text = ctypes.create_string_buffer(_TURNS_CHARS)
        with self._lock:
            size = 0 if self._control is None else self._library.lockstep_turns(self._control, text, _TURNS_CHARS)
        return text.raw[:size]

    def await_program(self, timeout_s: float) -> bool:
        """Wait until the program has come to its clock; return whether it has in time."""
        until = time.monotonic() + timeout_s
        while not self.threads:
            if time.monotonic() > until:
                return False
            time.sleep(LOOK_S)
        return True

    def rules(self, pids: Collection[int]) -> bool:
        """Return whether all these processes that still run have the library; static ones can't."""
        return all(_has_library(pid) for pid in pids)

    @property
    def threads(self) -> int:
        return self._library.lockstep_threads(self._control)

    @property
    def elapsed(self) -> float:
        return self._library.lockstep_elapsed(self._control) / NS

    def asked(self) -> Counter[str]:
        """Return how often the time and random numbers were asked for so far, as ``time by libSDL.so``.

        Empty unless ``PLURIVERSE_ASKED`` is set.
        """
        text = ctypes.create_string_buffer(_ASKED_CHARS)
        counts: Counter[str] = Counter()
        for number in itertools.count():
            times = self._library.lockstep_asked(self._control, number, text, _ASKED_CHARS)
            if times < 0:
                break
            counts[text.value.decode(errors="replace")] += times
        return counts

    def advance(self, seconds: float, *, patience_s: float = PATIENCE_S) -> Advance:
        """Let ``seconds`` of the program's time pass, and return once it waits for more, or after ``patience_s``."""
        # Parts of nanoseconds add up: sixty frames are a second.
        wanted = seconds * NS + self._rest_ns
        ns = round(wanted)
        self._rest_ns = wanted - ns
        with self._lock:
            if self._control is None:
                return Advance.ENDED
            return Advance(self._library.lockstep_advance(self._control, ns, round(patience_s * NS)))

    def sound(self) -> NDArray[np.int16]:
        """Return what the program played in the last ``advance``, of shape (frames, 2), left and right."""
        sound = c_void_p()
        with self._lock:
            frames = 0 if self._control is None else self._library.lockstep_sound(self._control, ctypes.byref(sound))
        return np.frombuffer(ctypes.string_at(sound, FRAME_BYTES * frames), np.int16).reshape(frames, CHANNELS)

    def draw_from(self, seed: int) -> None:
        """Have what the program draws from now on follow from ``seed``; its date stays."""
        self._library.lockstep_seed(self._control, seed % 2**64)

    def date_from(self, seed: int) -> None:
        """Have the date follow from ``seed``, too."""
        self._library.lockstep_date(self._control, _epoch_ns(seed))

    def leave(self) -> None:
        """Say that time is real again: the program, on a screen that has this clock, doesn't go by it."""
        self._library.lockstep_leave(self._control)

    def place(self, hub: Path, home: Path) -> None:
        """Have templates of the program call the socket ``hub``, and say where its HOME is."""
        self._library.lockstep_place(self._control, os.fsencode(hub), os.fsencode(home))

    def show_on(self, path: str) -> None:
        """Have the program find its X server at the socket ``path``, whatever its DISPLAY says."""
        self._library.lockstep_screen(self._control, os.fsencode(path))

    def all_threads(self) -> list[Thread]:
        found: list[Thread] = []
        pid, tid = c_int(), c_int()
        for slot in itertools.count():
            phase = self._library.lockstep_slot(self._control, slot, ctypes.byref(pid), ctypes.byref(tid))
            if phase < 0:
                return found
            if phase:
                found.append(Thread(slot, Phase(phase), pid.value, tid.value))
        raise AssertionError

    def keep(self) -> KeptClock:
        page = ctypes.create_string_buffer(self._library.lockstep_size())
        self._library.lockstep_keep(self._control, page)
        return KeptClock(page.raw, self._rest_ns)

    def fork(self, threads: Sequence[Thread], server: int) -> bool:
        """Have these threads, one of each process, and the X server begin to fork templates; False: it has ended."""
        slots = (c_int * len(threads))(*(thread.slot for thread in threads))
        return bool(self._library.lockstep_fork(self._control, slots, len(threads), server))

    def have_forked(self, patience_s: float) -> bool:
        """Return whether those threads wait again in time."""
        return bool(self._library.lockstep_forked(self._control, round(patience_s * NS)))

    def related(self, kept: KeptClock, family: Sequence[Kin]) -> KeptClock:
        """Return ``kept`` with who is whose child; raise NoClock if they are too many."""
        page = ctypes.create_string_buffer(kept.page, len(kept.page))
        flat = [
            value for kin in family for value in (1 + (kin.status is not None), kin.parent, kin.pid, kin.status or 0)
        ]
        if not self._library.lockstep_relate(page, (c_int * len(flat))(*flat), len(family)):
            raise NoClock(f"{len(family)} processes are too many")
        return KeptClock(page.raw, kept.rest_ns)

    def put_back(self, kept: KeptClock) -> None:
        """Be as the clock was then. No process of the program runs."""
        with self._lock:
            self._library.lockstep_put_back(self._control, kept.page)
        self._rest_ns = kept.rest_ns

    def close(self) -> None:
        """Give back the page. A program that still waits then waits for ever. May be called repeatedly."""
        with self._lock:
            if self._control is not None:
                self._library.lockstep_close(self._control)
                self._control = None
                self.page.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _epoch_ns(seed: int) -> int:
    return (EPOCH_S + seed % SEEDS_S) * NS


@cache
def library() -> Any:
    try:
        library = ctypes.CDLL(str(LIBRARY), use_errno=True)
    except OSError as error:
        raise NoClock(f"the preloaded clock is missing: {error}; with a C compiler, install the server") from error
    library.lockstep_open.argtypes = [c_char_p, c_int64, c_int64, c_uint64]
    library.lockstep_open.restype = c_void_p
    library.lockstep_close.argtypes = library.lockstep_threads.argtypes = library.lockstep_elapsed.argtypes = [c_void_p]
    library.lockstep_elapsed.restype = c_int64
    library.lockstep_count.argtypes = [c_void_p]
    library.lockstep_asked.argtypes = [c_void_p, c_int, c_char_p, c_size_t]
    library.lockstep_asked.restype = c_int64
    library.lockstep_watch.argtypes = [c_void_p, c_int]
    library.lockstep_turns.argtypes = [c_void_p, c_char_p, c_size_t]
    library.lockstep_turns.restype = c_size_t
    library.lockstep_changes.argtypes = [c_void_p, c_int64, c_int64, c_int, c_void_p, c_void_p]
    library.lockstep_rgb.argtypes = [c_void_p, c_int64, c_int, c_int, c_void_p]
    library.lockstep_seed.argtypes = [c_void_p, c_uint64]
    library.lockstep_date.argtypes = [c_void_p, c_int64]
    library.lockstep_leave.argtypes = [c_void_p]
    library.lockstep_place.argtypes = [c_void_p, c_char_p, c_char_p]
    library.lockstep_screen.argtypes = [c_void_p, c_char_p]
    library.lockstep_slot.argtypes = [c_void_p, c_int, c_void_p, c_void_p]
    library.lockstep_fork.argtypes = [c_void_p, c_void_p, c_int, c_int]
    library.lockstep_forked.argtypes = [c_void_p, c_int64]
    library.lockstep_size.restype = c_size_t
    library.lockstep_keep.argtypes = library.lockstep_put_back.argtypes = [c_void_p, c_void_p]
    library.lockstep_relate.argtypes = [c_void_p, c_void_p, c_int]
    library.lockstep_sound.argtypes = [c_void_p, c_void_p]
    library.lockstep_sound.restype = c_size_t
    library.lockstep_advance.argtypes = [c_void_p, c_int64, c_int64]
    return library


@cache
def can_fix_addresses() -> bool:
    """Return whether programs may have the same addresses each time; Docker's seccomp profile refuses that."""
    return subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False).returncode == 0


def _has_library(pid: int) -> bool:
    try:
        maps = Path(f"/proc/{pid}/maps").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    except OSError:
        return False
    # Those of a process that has just ended are empty.
    return not maps or str(LIBRARY) in maps
