"""For programs that know their rewards: a window, keys, paced frames, the metadata block, reports to the daemon.

A program that a remote runs is started with ``DISPLAY``, ``XAUTHORITY`` and ``PLURIVERSE_SOCKET`` set. It opens a
``Window``, takes keys from a ``Keyboard``, paces its frames with a ``Pacer``, paints a ``MetadataBlock``, and speaks
with the daemon through a ``Reporter``. A ``Program`` is the loop around these; one with a loop of its own calls
``wait_for_input``, or selects on the ``fileno()`` of the keyboard and of the reporter. Nothing here starts a thread.
"""

from __future__ import annotations

from pluriverse_server.task import Look, PageRequest, PageResponse, Task

from .block import BlockWindow, MetadataBlock
from .connection import NoDisplay, XError
from .keys import PROBE_KEYSYM, Keyboard, KeyEdge, KeyLatch
from .lockstep import Kept, Seen, Steps
from .outcome import Outcome
from .pacer import Pacer
from .program import Program, run_program, wait_for_input
from .reporter import DaemonGone, NoDaemon, Reporter
from .stepped_episode import SteppedEpisode
from .window import Band, Region, Window

__all__ = [
    "PROBE_KEYSYM",
    "Band",
    "BlockWindow",
    "DaemonGone",
    "Kept",
    "KeyEdge",
    "KeyLatch",
    "Keyboard",
    "Look",
    "MetadataBlock",
    "NoDaemon",
    "NoDisplay",
    "Outcome",
    "Pacer",
    "PageRequest",
    "PageResponse",
    "Program",
    "Region",
    "Reporter",
    "Seen",
    "SteppedEpisode",
    "Steps",
    "Task",
    "Window",
    "XError",
    "run_program",
    "wait_for_input",
]
