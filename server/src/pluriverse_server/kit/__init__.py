"""For programs that know their rewards: a window, keys, paced frames, the metadata block, reports to the daemon.

A program that a remote runs is started with ``DISPLAY``, ``XAUTHORITY`` and ``PLURIVERSE_SOCKET`` set. It opens a
``Window``, takes keys from a ``Keyboard``, paces its frames with a ``Pacer``, paints a ``MetadataBlock``, and speaks
with the daemon through a ``Reporter``. Nothing here starts a thread or owns a loop: the program calls
``wait_for_input``, or selects on the ``fileno()`` of the keyboard and of the reporter itself.
"""

from __future__ import annotations

from .block import MetadataBlock
from .connection import NoDisplay, XError
from .keys import PROBE_KEYSYM, Keyboard, KeyEdge, KeyLatch
from .outcome import Outcome
from .pacer import Pacer
from .region import Band, Region
from .reporter import DaemonGone, NoDaemon, Reporter
from .waiting import wait_for_input
from .window import Window

news = wait_for_input  # the name that programs written for 0.1 know

__all__ = [
    "PROBE_KEYSYM",
    "Band",
    "DaemonGone",
    "KeyEdge",
    "KeyLatch",
    "Keyboard",
    "MetadataBlock",
    "NoDaemon",
    "NoDisplay",
    "Outcome",
    "Pacer",
    "Region",
    "Reporter",
    "Window",
    "XError",
    "news",
    "wait_for_input",
]
