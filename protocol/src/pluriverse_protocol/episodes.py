"""The episode machine as data: states, events, and the steps that follow. ``pluriverse_server.episode`` runs it."""

from __future__ import annotations

from enum import Enum
from typing import Final


class State(Enum):
    """The state of the environment; the value is ``env_state`` on the wire."""

    IDLE = None
    RESETTING = "resetting"
    RUNNING = "running"


class Event(Enum):
    RESET = "a reset asks for a new episode"
    JOIN = "a reset asks for no more than the episode under way"
    READY = "the program is ready"
    REWARD = "the program earned a reward"
    DONE = "the program says that the episode is over"
    TIME_LIMIT = "the episode's time is up"
    PROGRAM_LOST = "the program died, hung or was never ready"


class Step(Enum):
    SEND_REWARD = "send the reward"
    END = "send the last reward, done, with the old episode's id"
    BEGIN = "next episode id; describe resetting; ask the program to begin"
    RETRY = "start the program again for the same episode"
    RUN = "describe running; send the last text and observation that came before"
    DISCARD = "nothing: it belongs to no running episode"


TRANSITIONS: Final[dict[tuple[State, Event], tuple[State, tuple[Step, ...]]]] = {
    (State.IDLE, Event.RESET): (State.RESETTING, (Step.BEGIN,)),
    (State.RESETTING, Event.RESET): (State.RESETTING, (Step.BEGIN,)),
    (State.RESETTING, Event.JOIN): (State.RESETTING, ()),
    (State.RESETTING, Event.READY): (State.RUNNING, (Step.RUN,)),
    (State.RESETTING, Event.REWARD): (State.RESETTING, (Step.DISCARD,)),
    (State.RESETTING, Event.DONE): (State.RESETTING, (Step.DISCARD,)),
    (State.RESETTING, Event.PROGRAM_LOST): (State.RESETTING, (Step.RETRY,)),
    (State.RUNNING, Event.RESET): (State.RESETTING, (Step.END, Step.BEGIN)),
    (State.RUNNING, Event.READY): (State.RUNNING, (Step.DISCARD,)),
    (State.RUNNING, Event.REWARD): (State.RUNNING, (Step.SEND_REWARD,)),
    (State.RUNNING, Event.DONE): (State.RESETTING, (Step.END, Step.BEGIN)),
    (State.RUNNING, Event.TIME_LIMIT): (State.RESETTING, (Step.END, Step.BEGIN)),
    (State.RUNNING, Event.PROGRAM_LOST): (State.RESETTING, (Step.END, Step.BEGIN)),
}
