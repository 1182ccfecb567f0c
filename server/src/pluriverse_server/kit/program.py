"""The loop of a program that plays episodes as the daemon asks: keys from the screen, requests, frames by the clock."""

from __future__ import annotations

import contextlib
import select
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from pluriverse_protocol.reports import Delivered, Request, Reset, Stop, Submit, Watched

from .block import MetadataBlock
from .connection import NoDisplay
from .keys import PROBE_KEYSYM, Keyboard, KeyEdge, KeyLatch
from .lockstep import Lockstep
from .reporter import DaemonGone, NoDaemon, Reporter
from .slots import MakeEpisode, Slots
from .window import Window


def wait_for_input(
    keyboard: Keyboard, reporter: Reporter, timeout_s: float | None
) -> tuple[list[KeyEdge], list[Request]]:
    """Return the key edges and requests that came, once there are any or ``timeout_s`` have passed; None: for ever.

    Handle the edges first: they were there before the requests were read, so a key that came before a reset is the old
    episode's.

    Raises:
        DaemonGone: the daemon closed the connection.
        NoDisplay: the X server is gone.
    """
    edges, requests, _ = _wait(keyboard, reporter, (), timeout_s)
    return edges, requests


def _wait(
    keyboard: Keyboard, reporter: Reporter, others: Sequence[Any], timeout_s: float | None
) -> tuple[list[KeyEdge], list[Request], list[Any]]:
    waiting = keyboard.waiting
    readable, _, _ = select.select((keyboard, reporter, *others), (), (), 0.0 if waiting else timeout_s)
    edges = keyboard.events() if waiting or keyboard in readable else []
    return edges, reporter.requests() if reporter in readable else [], readable


class Program(ABC):
    """Plays one episode after another. A subclass defines how one begins, and what is due when."""

    def __init__(
        self, reporter: Reporter, window: Window, block: MetadataBlock, slots: MakeEpisode | None = None
    ) -> None:
        """``slots`` begins episodes of the slots beside the program's own environment; None: it has none."""
        self.reporter = reporter
        self._block = block
        self._keyboard = Keyboard(window)
        self.latch = KeyLatch(self._keyboard.held_at_start)
        self.lockstep = Lockstep(None if slots is None else Slots(slots, reporter.report))

    def run(self) -> None:
        """Play until the daemon asks to stop or hangs up."""
        with contextlib.suppress(DaemonGone):
            while self._turn():
                pass

    @abstractmethod
    def reset(self, request: Reset) -> None:
        """Show an episode's first frame, ``drop_keys``, report that it is ready, and ``lockstep.begin`` it."""

    @abstractmethod
    def idle_s(self) -> float | None:
        """Return the seconds until something is due, which may be past; None if nothing is."""

    @abstractmethod
    def attend(self) -> None:
        """Do what is due."""

    def press(self, keysym: int) -> None:  # noqa: B027 - most keys are asked of the latch
        """A key went down; the latch knows it already."""

    def delivered(self, sent_at: float) -> None:  # noqa: B027 - for programs with Sync environments
        """A step's reward was sent at ``sent_at``, UNIX seconds: a later clock is to be painted soon."""

    def submit(self) -> None:  # noqa: B027 - for programs whose spaces have submit
        """The agent says that it is done: the episode is to end. In lockstep its steps have a ``SubmitEvent``."""

    def drop_keys(self) -> None:
        """Forget what was pressed while there was no picture to answer; a key that is still down counts as held."""
        for edge in self._keyboard.events():
            self._note(edge)
        self.latch.forget_presses()

    def _turn(self) -> bool:
        idle_s = self.idle_s()
        timeout_s = None if idle_s is None else max(0.0, idle_s)
        edges, requests, readable = _wait(self._keyboard, self.reporter, self.lockstep.waits_on, timeout_s)
        for edge in edges:
            self._note(edge)
            if edge.down:
                self.press(edge.keysym)
        for request in requests:
            match request:
                case Stop():
                    return False
                case Reset():
                    self.lockstep.asked(request)
                    self.reset(request)
                case Delivered(_, sent_at):
                    self.delivered(sent_at)
                case Submit():
                    self.submit()
                case Watched(watched):
                    self.lockstep.watched = watched
                case _:
                    pass
        self.lockstep.attend(readable)
        self.attend()
        return True

    def _note(self, edge: KeyEdge) -> None:
        self.latch.apply(edge.keysym, down=edge.down)
        if edge.down and edge.keysym == PROBE_KEYSYM:
            self._block.saw_probe(edge.at)


def run_program(name: str, make: Callable[[Reporter], Program], *failures: type[Exception]) -> int:
    """Run the program that ``make`` makes; return its exit status: 0 when asked to stop, disconnected or terminated.

    ``failures``: what ends it with status 1 and a message, beside the loss of the daemon and the display at its start.
    """
    signal.signal(signal.SIGTERM, lambda signum, frame: sys.exit(0))
    try:
        with contextlib.closing(Reporter.from_environment()) as reporter:
            make(reporter).run()
    except (NoDaemon, NoDisplay, *failures) as error:
        sys.stderr.write(f"{name}: {error}\n")
        return 1
    return 0
