"""Lets a program's time pass in steps: it stands still between them, and each time does the same.

``PreloadedClock`` is exact: a library in the program (native/lockstep) gives it its clock, and knows when all of it
waits. What that can't be preloaded into, such as a static program, has a ``FrozenClock``: it stands still, no more.
"""

from .clock import PAGE_VARIABLE as PAGE_VARIABLE
from .clock import XSERVER_HUB_VARIABLE as XSERVER_HUB_VARIABLE
from .clock import XSERVER_LIBRARY as XSERVER_LIBRARY
from .clock import Advance as Advance
from .clock import KeptClock as KeptClock
from .clock import Kin as Kin
from .clock import NoClock as NoClock
from .clock import Phase as Phase
from .clock import PreloadedClock as PreloadedClock
from .clock import Thread as Thread
from .colours import take_changes as take_changes
from .colours import to_rgb as to_rgb
from .frozen import FrozenClock as FrozenClock
