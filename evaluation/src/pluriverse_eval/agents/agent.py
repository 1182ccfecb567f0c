"""What an agent is: it plays one episode after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast, get_args

from pluriverse.adapters.computer import Act
from pluriverse.adapters.pictures import Pixels
from pluriverse.errors import PluriverseError

from pluriverse_eval.play import Play
from pluriverse_eval.suite import Task

_ACTS: Final = get_args(Act)


class AgentFailed(PluriverseError):
    """The agent can't go on with this episode; the others are played all the same."""


class Agent(Protocol):
    """Plays episodes, one after the other."""

    def play(self, play: Play) -> None:
        """Play until the episode is over, or the agent has nothing more to do.

        Raises:
            AgentFailed: it can't go on.
        """
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Hold:
    """An action in the environment's own space, for so many frames."""

    action: Any
    frames: int


def hold(action: Any, frames: int = 1) -> Hold:
    """Return an action in the environment's own space that lasts so many frames."""
    return Hold(action, frames)


@dataclass(frozen=True, slots=True)
class Seen:
    picture: Pixels
    """The environment's part of the screen, uint8 (height, width, 3), RGB."""
    text: str
    """The environment's latest text, such as an instruction."""
    reward: float
    """What was earned since the last decision."""
    ms: float
    """The game time since the episode began, in milliseconds."""
    first: bool
    """Whether an episode begins."""
    task: Task
    play: Play
    """The computer: its ``actions``, ``view``, and whatever else it can be asked."""


Decide = Callable[[Seen], Any]


def loop(play: Play, decide: Decide) -> None:
    """Let ``decide`` play: show it what is seen, do what it returns, and again.

    It returns an act of ``pluriverse.adapters.computer`` or several, an action in the environment's own space for one
    frame, one with ``hold`` for several, or None: let a frame pass.

    Raises:
        ActionError: what it returned can't be done.
        RemoteFailed: the remote broke.
    """
    first = True
    while not play.over:
        picture, status = play.pixels(), play.standing()
        do(play, decide(Seen(picture, status.text, status.reward, play.ms, first, play.task, play)))
        first = False


def do(play: Play, decided: Any) -> None:
    """Do what was decided, as ``loop`` has it."""
    if decided is None:
        play.send([])
    elif isinstance(decided, Hold):
        play.act(decided.action, decided.frames)
    elif isinstance(decided, _ACTS):
        play.do(cast("Act", decided))
    elif _are_acts(decided):
        for act in decided:
            if not play.over:
                play.do(act)
    else:
        play.act(decided)


def _are_acts(decided: Any) -> bool:
    if not isinstance(decided, list | tuple) or not decided:
        return False
    return all(isinstance(act, _ACTS) for act in cast("Sequence[Any]", decided))
